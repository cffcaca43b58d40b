//! What `doctor` looks at. Each check says what it found; none repairs anything.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tidegate_daemon::Git;
use tidegate_daemon::adapters::HelperExec;
use tidegate_daemon::identity;
use tidegate_daemon::ids::JobId;
use tidegate_daemon::verify;
use tidegate_daemon::views::{Viewer, open_problem};
use tidegate_protocol::ErrorCode;

use crate::home::Home;
use crate::read;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    /// What.
    pub(crate) name: &'static str,
    /// Whether it is as it should be.
    pub(crate) ok: bool,
    /// Whether Tidegate works all the same.
    pub(crate) warning: bool,
    /// What was found.
    pub(crate) text: String,
}

impl Check {
    fn good(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, ok: true, warning: false, text: text.into() }
    }

    fn wrong(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, ok: false, warning: false, text: text.into() }
    }

    fn odd(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, ok: false, warning: true, text: text.into() }
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_sound(&self) -> bool {
        self.ok || self.warning
    }
}

/// Looks at the machine and the home; with `verify` at every event of the store.
pub(crate) fn checks(home: &Home, verify: bool) -> Vec<Check> {
    let mut found = vec![git(), kernel(), place(home.path()), mode(home.path()), daemon(home)];
    if verify {
        found.push(store(home));
    }
    found.push(jobs(home));
    found
}

/// The program that all of git's work is done by, of a version that can do it.
fn git() -> Check {
    let git = Git::new(Arc::new(HelperExec));
    match git.version() {
        Ok(version) => Check::good("git", version.to_string()),
        Err(why) => Check::wrong("git", why.to_string()),
    }
}

/// Proof of identity needs pidfs inodes; without them start times have to do.
fn kernel() -> Check {
    match identity::own() {
        Ok(own) if own.pidfs_inode == 0 => {
            Check::odd("kernel", "no pidfs: identities are proved by start time alone")
        }
        Ok(_) => Check::good("kernel", "pidfd with pidfs"),
        Err(why) => Check::wrong("kernel", format!("no pidfd: {why}")),
    }
}

/// File systems over a network have locks that do not hold.
fn place(home: &Path) -> Check {
    const NETWORK: [(i64, &str); 5] = [
        (0x6969, "NFS"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB2"),
        (0x0102_1997, "9p"),
        (0x00c3_6400, "Ceph"),
    ];
    let existing = home.ancestors().find(|path| path.exists()).unwrap_or(home);
    match rustix::fs::statfs(existing) {
        Ok(found) => {
            let kind = found.f_type;
            match NETWORK.iter().find(|(magic, _)| *magic == kind) {
                Some((_, name)) => Check::wrong(
                    "place",
                    format!("{} is on {name}: a home needs a local file system", home.display()),
                ),
                None => Check::good("place", home.display().to_string()),
            }
        }
        Err(error) => Check::wrong("place", format!("{}: {error}", existing.display())),
    }
}

fn mode(home: &Path) -> Check {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(home) {
        Ok(meta) if meta.permissions().mode().trailing_zeros() >= 6 => {
            Check::good("mode", "private")
        }
        Ok(_) => Check::odd("mode", format!("others may look into {}", home.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::good("mode", "the home is not made yet")
        }
        Err(error) => Check::wrong("mode", error.to_string()),
    }
}

fn daemon(home: &Home) -> Check {
    match read::daemon(home) {
        Ok(document) if !document.running => Check::good("daemon", "not running"),
        Ok(document) => {
            let pid = document.pid.map(|pid| pid.to_string()).unwrap_or_default();
            let client = &document.client_version;
            match document.version.filter(|version| version != client) {
                Some(version) => Check::odd(
                    "daemon",
                    format!("pid {pid} is version {version}, this is {client}: restart it"),
                ),
                None => Check::good("daemon", format!("running, pid {pid}")),
            }
        }
        Err(error) => Check::wrong("daemon", error.message()),
    }
}

/// Every job directory belongs to a job that the store knows; others are left from a store that
/// went back in time, and something of them may be alive.
fn jobs(home: &Home) -> Check {
    let unknown = match unknown_jobs(home.path()) {
        Ok(unknown) => unknown,
        Err(why) => return Check::wrong("jobs", why),
    };
    if unknown.is_empty() {
        return Check::good("jobs", "all known to the store");
    }
    let count = unknown.len();
    let first: Vec<String> = unknown.into_iter().take(5).collect();
    Check::wrong(
        "jobs",
        format!(
            "{count} unknown to the store, such as {}: look at their directories in {}, and end \
             their shims, before you remove them",
            first.join(", "),
            home.path().join("jobs").display()
        ),
    )
}

fn unknown_jobs(home: &Path) -> Result<Vec<String>, String> {
    let entries = match std::fs::read_dir(home.join("jobs")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let mut viewer = Viewer::open(home).map_err(|problem| problem.to_string())?;
    let mut unknown = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let place = match JobId::parse(&name) {
            Ok(job) => viewer.job_place(&job).map_err(|problem| problem.to_string())?,
            Err(_) => None,
        };
        if place.is_none() {
            unknown.push(name);
        }
    }
    unknown.sort();
    Ok(unknown)
}

/// Every chain, and every row against the replay of its events. A home without a store is sound.
fn store(home: &Home) -> Check {
    let report = match verify(home.path()) {
        Ok(report) => report,
        Err(error) => {
            let problem = open_problem(&error);
            return match problem.code {
                ErrorCode::NoStore => Check::good("store", "there is none yet"),
                _ => Check::wrong("store", problem.message),
            };
        }
    };
    match report.broken.first() {
        None => {
            Check::good("store", format!("{} runs, {} events: all fit", report.runs, report.events))
        }
        Some(first) => {
            let run = first.run.as_ref().map_or("the home".to_owned(), ToString::to_string);
            let place = first.seq.map(|seq| format!(", event {seq}")).unwrap_or_default();
            let more = report.broken.len() - 1;
            Check::wrong("store", format!("{run}{place}: {} (and {more} more)", first.why))
        }
    }
}
