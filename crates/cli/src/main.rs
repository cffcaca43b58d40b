//! The one binary of Tidegate: the command line, the daemon and the shim.

mod agent_wait;
mod answer_wait;
mod args;
mod attach;
mod client;
mod completing;
mod context;
mod demo;
mod doctor;
mod ending;
mod error;
#[cfg(feature = "failpoints")]
mod faults;
mod grammar;
mod home;
mod host;
mod input;
mod inside;
mod launcher_files;
mod logs;
mod mcp;
mod output;
mod providers;
mod read;
mod render;
mod repair;
mod service_unit;
mod trust;
mod verbs;
mod work;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(tell_bug));
    shielded(begin)
}

/// The exit code of `work`. The engine of a daemon runs on this thread too: its panic is our bug,
/// not code 101.
fn shielded(work: fn() -> ExitCode) -> ExitCode {
    std::panic::catch_unwind(work).unwrap_or_else(|_| tidegate_protocol::ExitCode::Bug.into())
}

fn begin() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let background = background_home(&arguments);
    if background.is_some() {
        // Before anything of ours is open.
        tidegate_daemon::close_inherited_descriptors();
    }
    #[cfg(feature = "failpoints")]
    if let Err(problem) = faults::configure() {
        output::talk(problem);
        return tidegate_protocol::ExitCode::Usage.into();
    }
    // A shim is small and has one thread: it never builds the command line.
    if let [_, verb, job_dir] = arguments.as_slice()
        && verb == "shim"
    {
        return tidegate_daemon::shim::main(job_dir.as_ref());
    }
    if completing::is_asked(&arguments) {
        return completing::answer(arguments);
    }
    // Neither does a daemon in the background, which would hold its pages for as long as it lives.
    let exit = background.map_or_else(|| args::run(arguments), args::run_in_background);
    ExitCode::from(exit.code())
}

/// The home of a daemon that was started as `client::start` does it.
fn background_home(arguments: &[OsString]) -> Option<PathBuf> {
    match arguments {
        [_, flag, home, rest @ ..]
            if flag == "--home" && rest == ["daemon", "run", "--detached"] =>
        {
            Some(home.into())
        }
        _ => None,
    }
}

/// Tells a panic in one line.
fn tell_bug(panic: &std::panic::PanicHookInfo<'_>) {
    let said = panic.payload_as_str().unwrap_or("a panic without a message").replace('\n', " ");
    let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    output::talk(format_args!("error: BUG: {said}{}", place.unwrap_or_default()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_ends_as_our_bug() {
        let code = |work| format!("{:?}", shielded(work));
        assert_eq!(code(|| panic!("harbour closed")), format!("{:?}", ExitCode::from(70)));
        assert_eq!(code(|| ExitCode::from(3)), format!("{:?}", ExitCode::from(3)));
    }
}
