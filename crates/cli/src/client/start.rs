//! Starting the daemon of a home when none runs. Several starters converge: one daemon wins the
//! lock, and everybody waits until it answers.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tidegate_protocol::ErrorCode;

use super::command::{Starting, silent, unreachable};
use super::socket::{Presence, presence};
use crate::error::CliError;
use crate::home::Home;
use crate::inside::is_inside_job;
use crate::read;

/// How long a new daemon may take until it answers: recovery of many runs, migrations.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long one question may take.
const ASK_LIMIT: Duration = Duration::from_secs(2);
/// Daemons that somebody kills before they answer, until it is told.
const KILLS_MAX: u32 = 5;
/// How long the lock may look as if it were held by no daemon.
const STRANGER_LIMIT: Duration = Duration::from_secs(1);
/// Pause between two questions.
const PAUSE: Duration = Duration::from_millis(3);

/// Variables of a job that a daemon must not inherit: a sweep of that job would take it along.
const JOB_VARIABLES: &[&str] = &[
    "TIDEGATE_RUN_TAG",
    "TIDEGATE_RUN_ID",
    "TIDEGATE_JOB_DIR",
    "TIDEGATE_SOCKET",
    "TIDEGATE_TOKEN",
    "TIDEGATE_START_WAVE",
    "TIDEGATE_END_WAVE",
    "TIDEGATE_AUTO_NEXT",
    "TIDEGATE_RESUME",
    "TIDEGATE_RESUME_WAVE",
];

/// Variables of a service manager that speak of our own process and of no daemon that it starts.
const SERVICE_VARIABLES: &[&str] = &["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// What a start came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    /// A daemon was started, by us or by another starter at the same moment.
    Now,
    /// One answered already.
    Already,
}

/// Sees to it that a daemon of `home` answers.
///
/// # Errors
/// When none may be started from here, it does not start, or it does not answer.
pub(crate) fn ensure(home: &Home, starting: Starting) -> Result<Started, CliError> {
    match presence(home, ASK_LIMIT) {
        Presence::Answers => return Ok(Started::Already),
        Presence::Silent => return Err(silent(ASK_LIMIT, home)),
        Presence::Absent => {}
    }
    if starting == Starting::Never {
        return Err(unreachable("no daemon runs", home)
            .hint("`tidegate daemon start` starts one; then try again"));
    }
    if is_inside_job(home) {
        return Err(unreachable("no daemon runs, and none may be started inside a job", home)
            .hint("start it outside with `tidegate daemon start`; then try again"));
    }
    wait_until_answering(home, spawn(home)?)?;
    Ok(Started::Now)
}

/// Waits until a daemon answers. `child` is the one that we started.
///
/// # Errors
/// When the child ended badly or the limit passed.
fn wait_until_answering(home: &Home, mut child: Child) -> Result<(), CliError> {
    let begun = Instant::now();
    let mut kills = 0;
    loop {
        let found = presence(home, ASK_LIMIT);
        if found == Presence::Answers {
            return Ok(());
        }
        if let Ok(Some(status)) = child.try_wait() {
            let killed = status.signal().is_some();
            if !status.success() && (!killed || kills == KILLS_MAX) {
                return Err(did_not_start(home, status));
            }
            // It was killed, or it found another daemon. That one is waited for, unless it was
            // dying: a killed process lets go of its lock a moment after its socket.
            if found == Presence::Absent && begun.elapsed() >= STRANGER_LIMIT {
                no_stranger(home)?;
            }
            if found == Presence::Absent && !read::daemon(home)?.running {
                kills += u32::from(killed);
                child = spawn(home)?;
            }
        }
        if begun.elapsed() >= START_LIMIT {
            return Err(match found {
                Presence::Silent | Presence::Answers => silent(START_LIMIT, home),
                Presence::Absent => unreachable("the daemon does not come up", home)
                    .hint(format!("see {}", home.log().display())),
            });
        }
        std::thread::sleep(PAUSE);
    }
}

/// Fails when a process that is no daemon holds the lock: no daemon will ever come up beside it.
fn no_stranger(home: &Home) -> Result<(), CliError> {
    let Some(stranger) = tidegate_daemon::host::stranger(home.path()) else { return Ok(()) };
    let (pid, command) = (stranger.pid, stranger.command);
    let text = format!("process {pid} holds the daemon's lock and is no daemon: {command}");
    Err(unreachable(&text, home).hint(format!("end process {pid}; then try again")))
}

/// Starts `daemon run` in a session of its own, with its output in the home's log.
fn spawn(home: &Home) -> Result<Child, CliError> {
    let failed = |doing: &'static str, path| move |source| CliError::io(doing, path, &source);
    let (path, log_path) = (home.path(), home.log());
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
    builder.create(path).map_err(failed("create the home", path))?;
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(&log_path);
    let log = log.map_err(failed("open", &log_path))?;
    let log_too = log.try_clone().map_err(failed("open", &log_path))?;
    let mut command = Command::new("/proc/self/exe");
    command.arg("--home").arg(path).args(["daemon", "run", "--detached"]);
    for name in JOB_VARIABLES.iter().chain(SERVICE_VARIABLES) {
        command.env_remove(name);
    }
    command.current_dir("/").stdin(Stdio::null()).stdout(log).stderr(log_too);
    fail::fail_point!("cli.daemon.before_spawn");
    let child = command.spawn().map_err(failed("start the daemon of", path))?;
    fail::fail_point!("cli.daemon.after_spawn");
    Ok(child)
}

fn did_not_start(home: &Home, status: std::process::ExitStatus) -> CliError {
    let last = std::fs::read(home.log()).unwrap_or_default();
    let last = String::from_utf8_lossy(&last);
    let said = last.lines().rev().find_map(|line| line.trim().strip_prefix("error: "));
    let text = match said {
        Some(said) => format!("the daemon does not start: {said}"),
        None => format!("the daemon does not start: it ended with {status}"),
    };
    CliError::new(ErrorCode::DaemonUnreachable, text)
        .hint(format!("its log is {}", home.log().display()))
}
