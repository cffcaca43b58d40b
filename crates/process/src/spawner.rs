//! Starts shims, detached, from one permanent thread, and reaps them.
//!
//! It knows nothing of what a shim does: its exit code is passed on, the job's end is in the files.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};

use fail::fail_point;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use tidegate_core::exit::Identity;

use crate::identity;
use crate::sys::pidfd::PidFd;

/// How a shim is started.
#[derive(Debug, Clone)]
pub struct ShimProgram {
    /// The program; `/proc/self/exe` works after an upgrade replaced the file.
    pub program: PathBuf,
    /// Arguments before the job directory.
    pub arguments: Vec<OsString>,
    /// The shim's whole environment. Not the job's, which is in its spec.
    pub env: Vec<(OsString, OsString)>,
}

impl Default for ShimProgram {
    fn default() -> Self {
        let arguments = vec!["shim".into()];
        Self { program: "/proc/self/exe".into(), arguments, env: Vec::new() }
    }
}

/// A shim that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawned {
    /// Its pid.
    pub pid: u32,
    /// Its identity; `None` when it has ended already.
    pub identity: Option<Identity>,
}

/// A shim that ended, for the log. Shims of an earlier daemon are not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShimEnded {
    /// Its job directory.
    pub job_dir: PathBuf,
    /// Its pid.
    pub pid: u32,
    /// Its exit code, see [`crate::shim::ShimExit`]; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// Why a shim was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The operating system refused (processes, descriptors or memory have run out, or the program
    /// is gone): try again later.
    #[error("start a shim for {}: {source}", job_dir.display())]
    Io {
        /// For which job.
        job_dir: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The spawner's thread has ended.
    #[error("the spawner has ended")]
    Ended,
}

struct Request {
    job_dir: PathBuf,
    reply: Sender<io::Result<Spawned>>,
}

/// The handle of the spawner thread. Dropping it ends the thread; the shims go on.
#[derive(Debug)]
pub struct Spawner {
    requests: Sender<Request>,
    wake: OwnedFd,
}

impl Spawner {
    /// Starts the thread. `ended` hears of every shim that ends.
    ///
    /// # Errors
    /// When the thread or its descriptor cannot be made.
    pub fn start(program: ShimProgram, ended: Sender<ShimEnded>) -> io::Result<Self> {
        let (requests, incoming) = mpsc::channel();
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let woken = wake.try_clone()?;
        let thread = std::thread::Builder::new().name("spawner".into());
        thread.spawn(move || serve(&program, &incoming, &woken, &ended))?;
        Ok(Self { requests, wake })
    }

    /// Starts a shim for an absolute job directory. Returns as soon as its program runs.
    ///
    /// # Errors
    /// [`SpawnError`].
    pub fn spawn(&self, job_dir: &Path) -> Result<Spawned, SpawnError> {
        let (reply, answer) = mpsc::channel();
        let request = Request { job_dir: job_dir.to_owned(), reply };
        self.requests.send(request).map_err(|_| SpawnError::Ended)?;
        self.wake();
        let outcome = answer.recv().map_err(|_| SpawnError::Ended)?;
        outcome.map_err(|source| SpawnError::Io { job_dir: job_dir.to_owned(), source })
    }

    fn wake(&self) {
        // A full counter wakes as well.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        let (closed, _) = mpsc::channel();
        self.requests = closed;
        self.wake();
    }
}

struct Living {
    job_dir: PathBuf,
    child: Child,
    pidfd: PidFd,
}

fn serve(
    program: &ShimProgram,
    incoming: &Receiver<Request>,
    woken: &OwnedFd,
    ended: &Sender<ShimEnded>,
) {
    let mut living: Vec<Living> = Vec::new();
    loop {
        loop {
            match incoming.try_recv() {
                Ok(request) => {
                    let outcome = start(program, &request.job_dir, &mut living);
                    let _ = request.reply.send(outcome);
                }
                Err(mpsc::TryRecvError::Empty) => break,
                Err(mpsc::TryRecvError::Disconnected) => return,
            }
        }
        living.retain_mut(|shim| reap(shim, ended));
        let fds =
            std::iter::once(woken.as_fd()).chain(living.iter().map(|shim| shim.pidfd.as_fd()));
        let mut fds: Vec<_> = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let _ = poll(&mut fds, None);
        let _ = rustix::io::read(woken, &mut [0_u8; 8]);
    }
}

fn start(program: &ShimProgram, job_dir: &Path, living: &mut Vec<Living>) -> io::Result<Spawned> {
    fail_point!("spawner.before_spawn", |_| Err(io::Error::from_raw_os_error(libc::EAGAIN)));
    let mut child = Command::new(&program.program)
        .arg0("tidegate")
        .args(&program.arguments)
        .arg(job_dir)
        .env_clear()
        .envs(program.env.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    fail_point!("spawner.after_spawn");
    let pid = child.id();
    match PidFd::open(pid) {
        Ok(pidfd) => living.push(Living { job_dir: job_dir.to_owned(), child, pidfd }),
        Err(error) => {
            // Without a descriptor it would never be reaped. Nothing of the job runs yet, or its
            // shim vanished: both are found in the files.
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
    }
    Ok(Spawned { pid, identity: identity::of(pid)? })
}

/// Reaps a shim that has ended and tells of it; true while it lives.
fn reap(shim: &mut Living, ended: &Sender<ShimEnded>) -> bool {
    let Ok(status) = shim.child.try_wait() else { return false };
    let Some(status) = status else { return true };
    let _ = ended.send(ShimEnded {
        job_dir: shim.job_dir.clone(),
        pid: shim.child.id(),
        code: status.code(),
        signal: status.signal(),
    });
    false
}
