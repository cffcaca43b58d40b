//! Runs a short helper program (such as git) that dies with the daemon.
//!
//! The kernel kills a helper when the thread that started it ends, so all are started by one
//! permanent thread; the caller's thread feeds and drains it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fail::fail_point;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal};
use rustix::time::Timespec;

use crate::sys::deathsig;
use crate::sys::pidfd::PidFd;

/// How long output is read after the program itself has ended, while others hold its pipes.
const DRAIN: Duration = Duration::from_millis(200);

/// A program to run.
#[derive(Debug, Clone)]
pub struct Helper {
    /// Program, looked up on the `PATH` of `env`, and arguments.
    pub argv: Vec<OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Standard input, then end of file.
    pub stdin: Vec<u8>,
    /// Read instead of `stdin`, from where it stands.
    pub source: Option<Arc<File>>,
    /// Where standard output goes instead of into the record, from where it stands.
    pub sink: Option<Arc<File>>,
    /// Its group is killed after this long.
    pub timeout: Duration,
}

/// What a helper left.
#[derive(Debug, Clone)]
pub struct HelperOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Whether it was killed because its time was over.
    pub timed_out: bool,
}

/// Why a helper did not run.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// It could not be started.
    #[error("start `{}`: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It could not be watched.
    #[error("watch `{}`: {source}", program.display())]
    Watch {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Runs `helper` to its end. May be called from any thread.
///
/// # Errors
/// [`HelperError`]. A helper that fails by itself, or is killed for its time, is not an error.
pub fn run(helper: &Helper) -> Result<HelperOutput, HelperError> {
    let program = PathBuf::from(helper.argv.first().cloned().unwrap_or_default());
    let mut child =
        start(helper).map_err(|source| HelperError::Start { program: program.clone(), source })?;
    attend(&mut child, helper).map_err(|source| {
        // Never leave it behind: not reaped yet, its pid is its own.
        kill_group(&child);
        let _ = child.wait();
        HelperError::Watch { program, source }
    })
}

type Started = io::Result<Child>;
type Order = (Command, Sender<Started>);

fn start(helper: &Helper) -> io::Result<Child> {
    static STARTER: OnceLock<Mutex<Sender<Order>>> = OnceLock::new();
    let Some(program) = helper.argv.first() else {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    };
    let mut command = Command::new(program);
    command
        .args(&helper.argv[1..])
        .env_clear()
        .envs(helper.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&helper.cwd)
        .process_group(0)
        .stdin(end(helper.source.as_deref())?)
        .stdout(end(helper.sink.as_deref())?)
        .stderr(Stdio::piped());
    deathsig::die_with_parent(&mut command);
    let starter = STARTER.get_or_init(|| Mutex::new(start_thread()));
    let (reply, answer) = mpsc::channel();
    let order = (command, reply);
    let gone = || io::Error::other("the thread that starts helpers is gone");
    starter.lock().unwrap_or_else(PoisonError::into_inner).send(order).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

/// A pipe, or the file in its place.
fn end(file: Option<&File>) -> io::Result<Stdio> {
    file.map_or_else(|| Ok(Stdio::piped()), |file| Ok(file.try_clone()?.into()))
}

fn start_thread() -> Sender<Order> {
    let (orders, incoming) = mpsc::channel::<Order>();
    let serve = move || {
        for (mut command, reply) in incoming {
            fail_point!("helper.before_spawn");
            let child = command.spawn();
            fail_point!("helper.after_spawn");
            let _ = reply.send(child);
        }
    };
    // When no thread can be had the channel closes, and every caller is told so.
    let _ = std::thread::Builder::new().name("helpers".into()).spawn(serve);
    orders
}

/// Feeds and drains a helper until it has ended.
fn attend(child: &mut Child, helper: &Helper) -> io::Result<HelperOutput> {
    let pidfd = PidFd::open(child.id())?;
    let mut pipes = Pipes::take(child, &helper.stdin)?;
    let mut until = Instant::now() + helper.timeout;
    let mut timed_out = false;
    let mut ended: Option<ExitStatus> = None;
    loop {
        pipes.turn();
        if ended.is_none() {
            ended = child.try_wait()?;
            if ended.is_some() {
                // What it wrote last lies in the pipes, however long this thread was kept from looking.
                pipes.turn();
                until = Instant::now() + DRAIN;
            }
        }
        let over = Instant::now() >= until;
        match ended {
            Some(status) if over || pipes.are_closed() => {
                let Pipes { stdout, stderr, .. } = pipes;
                let (stdout, stderr) = (stdout.bytes, stderr.bytes);
                return Ok(HelperOutput { status, stdout, stderr, timed_out });
            }
            None if over && !timed_out => {
                timed_out = true;
                kill_group(child);
            }
            Some(_) | None => {}
        }
        let waits = if ended.is_none() && timed_out { None } else { Some(until) };
        pipes.wait(ended.is_none().then_some(&pidfd), waits);
    }
}

/// Kills the helper's group. The helper was not reaped yet, so the group's number is its own.
fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

/// The three pipes of a helper.
struct Pipes<'a> {
    stdin: Option<ChildStdin>,
    rest: &'a [u8],
    stdout: Drained<ChildStdout>,
    stderr: Drained<ChildStderr>,
}

/// A pipe that is read to its end.
struct Drained<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
}

impl<P: Read + AsFd> Drained<P> {
    fn take(pipe: Option<P>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, bytes: Vec::new() })
    }

    fn turn(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read_to_end(&mut self.bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.pipe = None,
        }
    }
}

impl<'a> Pipes<'a> {
    fn take(child: &mut Child, input: &'a [u8]) -> io::Result<Self> {
        let stdin = child.stdin.take();
        if let Some(pipe) = &stdin {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let stdout = Drained::take(child.stdout.take())?;
        let stderr = Drained::take(child.stderr.take())?;
        Ok(Self { stdin, rest: input, stdout, stderr })
    }

    /// Writes and reads what goes without waiting.
    fn turn(&mut self) {
        while let Some(pipe) = &mut self.stdin {
            if self.rest.is_empty() {
                self.stdin = None;
                break;
            }
            match pipe.write(self.rest) {
                Ok(count) => self.rest = &self.rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // It does not want the rest.
                Err(_) => self.stdin = None,
            }
        }
        self.stdout.turn();
        self.stderr.turn();
    }

    fn are_closed(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    fn wait(&self, process: Option<&PidFd>, until: Option<Instant>) {
        let mut fds = Vec::with_capacity(4);
        fds.extend(self.stdin.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        fds.extend(self.stdout.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(self.stderr.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(process.map(|pidfd| PollFd::new(pidfd, PollFlags::IN)));
        let timeout = until.map(|until| {
            let rest = until.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(rest.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(rest.subsec_nanos()),
            }
        });
        // An interrupted wait is only a turn taken early.
        let _ = poll(&mut fds, timeout.as_ref());
    }
}
