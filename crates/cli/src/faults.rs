//! Fail points from the environment, for builds with the feature `failpoints` only.
//!
//! `TIDEGATE_FAIL="name=action;name=action@N"`: the action is done at the N-th hit of the point in
//! a process (the first without `@N`): `kill` and `stop` signal the process itself, `error` makes
//! a point that can fail fail; `slow` takes a fifth of a second at every hit. `TIDEGATE_FAIL_ONCE=DIR` does each of them once in all processes
//! that share the directory; `error` is then claimed by the first daemon or shim that starts.
//! `TIDEGATE_FAIL_TRACE=FILE` gets the name of every point that is hit, one a line.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// Every fail point of the workspace.
pub(crate) const NAMES: &[&str] = include!(concat!(env!("OUT_DIR"), "/failpoints.rs"));

/// What is done at a fail point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Kill,
    Stop,
    Error,
    Slow,
}

/// One entry of `TIDEGATE_FAIL`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    name: String,
    action: Action,
    at: u64,
}

/// Configures the fail points that the environment names.
///
/// # Errors
/// An entry that is not understood: a test that injects nothing must not pass.
pub(crate) fn configure() -> Result<(), String> {
    let faults = match std::env::var("TIDEGATE_FAIL") {
        Ok(text) => parse(&text)?,
        Err(_) => Vec::new(),
    };
    let once = std::env::var_os("TIDEGATE_FAIL_ONCE").map(PathBuf::from);
    let trace = match std::env::var_os("TIDEGATE_FAIL_TRACE") {
        Some(path) => Some(Arc::from(checked_trace(Path::new(&path))?)),
        None => None,
    };
    if let Some(trace) = &trace {
        for name in NAMES {
            let trace = Arc::clone(trace);
            fail::cfg_callback(*name, move || note(&trace, name))?;
        }
    }
    for fault in faults {
        arm(fault, once.clone(), trace.clone())?;
    }
    Ok(())
}

/// The variables that a process without an environment needs for the same faults.
pub(crate) fn inherited() -> Vec<(OsString, OsString)> {
    let names = ["TIDEGATE_FAIL", "TIDEGATE_FAIL_ONCE", "TIDEGATE_FAIL_TRACE"];
    names.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect()
}

fn parse(text: &str) -> Result<Vec<Fault>, String> {
    let entries = text.split(';').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(parse_one).collect()
}

fn parse_one(entry: &str) -> Result<Fault, String> {
    let bad = |why: &str| format!("TIDEGATE_FAIL: `{entry}`: {why}");
    let (name, action) = entry.split_once('=').ok_or_else(|| bad("is not `name=action`"))?;
    let (action, at) = action.split_once('@').unwrap_or((action, "1"));
    if !NAMES.contains(&name) {
        return Err(bad("there is no such fail point"));
    }
    let action = match action {
        "kill" => Action::Kill,
        "stop" => Action::Stop,
        "error" => Action::Error,
        "slow" => Action::Slow,
        _ => return Err(bad("the action is kill, stop, error or slow")),
    };
    match at.parse() {
        Ok(at) if at > 0 => Ok(Fault { name: name.to_owned(), action, at }),
        Ok(_) | Err(_) => Err(bad("`@N` counts hits from 1")),
    }
}

fn arm(fault: Fault, once: Option<PathBuf>, trace: Option<Arc<Path>>) -> Result<(), String> {
    let Fault { name, action, at } = fault;
    let signal = match action {
        Action::Kill => Signal::KILL,
        Action::Stop => Signal::STOP,
        Action::Slow => return fail::cfg(name, "sleep(200)"),
        Action::Error => {
            // A callback cannot make its own point fail, so the claim is made ahead of the hit.
            if !once.is_none_or(|dir| lives_long() && claim(&dir, &name, action)) {
                return Ok(());
            }
            let skipped = if at > 1 { format!("{}*off->", at - 1) } else { String::new() };
            return fail::cfg(name, &format!("{skipped}1*return->off"));
        }
    };
    let hits = AtomicU64::new(0);
    fail::cfg_callback(name.clone(), move || {
        if let Some(trace) = &trace {
            note(trace, &name);
        }
        let hit = hits.fetch_add(1, Ordering::SeqCst) + 1;
        if hit == at && once.as_ref().is_none_or(|dir| claim(dir, &name, action)) {
            let _ = kill_process(getpid(), signal);
        }
    })
}

/// Whether this process is a daemon or a shim, not a client.
fn lives_long() -> bool {
    std::env::args().skip(1).any(|argument| argument == "daemon" || argument == "shim")
}

/// Takes the right to act; false when another process had it.
fn claim(dir: &Path, name: &str, action: Action) -> bool {
    let marker = dir.join(format!("{name}.{action:?}"));
    OpenOptions::new().write(true).create_new(true).open(marker).is_ok()
}

/// The trace's path, if it can be written.
fn checked_trace(path: &Path) -> Result<&Path, String> {
    let open = OpenOptions::new().append(true).create(true).open(path);
    open.map(|_| path).map_err(|error| format!("TIDEGATE_FAIL_TRACE: {}: {error}", path.display()))
}

/// Opened for every line: a shim closes what it inherits, and its numbers go to other files.
fn note(trace: &Path, name: &str) {
    if let Ok(mut trace) = OpenOptions::new().append(true).open(trace) {
        // One write: lines of several processes do not mix.
        let _ = trace.write_all(format!("{name}\n").as_bytes());
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn fault_of_each_action_is_read() {
        let name = NAMES[0];
        for (word, action) in
            [("kill", Action::Kill), ("stop", Action::Stop), ("error", Action::Error)]
        {
            let text = format!("{name}={word}; {name}={word}@3;");
            let fault = |at| Fault { name: name.to_owned(), action, at };
            assert_eq!(parse(&text).unwrap(), [fault(1), fault(3)]);
        }
    }

    #[test]
    fn fault_that_is_not_understood_is_refused() {
        let name = NAMES[0];
        for text in ["x", "no.such.point=kill", &format!("{name}=die"), &format!("{name}=kill@0")] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn marker_is_claimed_once() {
        let dir = tempfile::tempdir().unwrap();
        assert!(claim(dir.path(), "a.before_b", Action::Kill));
        assert!(!claim(dir.path(), "a.before_b", Action::Kill));
        assert!(claim(dir.path(), "a.before_b", Action::Stop));
    }
}
