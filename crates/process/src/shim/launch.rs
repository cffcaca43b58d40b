//! From an opened job directory to a released main process, at most once per attempt.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use fail::fail_point;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use tidegate_core::exit::Identity;

use super::ShimExit;
use super::child::{self, ChildEnds, ChildStdio, Program};
use super::input::Input;
use super::lock_name;
use super::server::ControlServer;
use super::slot::ExitSlot;
use super::state::{Child, Parts, Shim};
use super::stdio::Stdio;
use super::streams::Streams;
use super::terminal::{Terminal, give_to};
use crate::cgroup::Cgroup;
use crate::jobdir::{JobDir, JobDirError, LOCK, STARTED};
use crate::output::OutputWriter;
use crate::record::{Spec, StartedFile, StartedRecord, VERSION};
use crate::sys::fork::{Forked, fork_alone};
use crate::sys::ofd;
use crate::sys::pidfd::PidFd;
use crate::sys::signals::SignalFd;
use crate::sys::wait;
use crate::{clock, identity};

/// Signals that the shim takes by descriptor. TERM and INT ask for an orderly stop, HUP for
/// nothing; IO says that a name was removed from the job directory.
const SIGNALS: [i32; 5] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGIO];

/// Why nothing was started.
pub(crate) struct Refusal {
    pub(crate) exit: ShimExit,
}

impl Refusal {
    fn storage(_: io::Error) -> Self {
        Self { exit: ShimExit::Storage }
    }

    fn os(_: io::Error) -> Self {
        Self { exit: ShimExit::Refused }
    }
}

impl From<JobDirError> for Refusal {
    fn from(_: JobDirError) -> Self {
        Self { exit: ShimExit::BadSpec }
    }
}

/// Takes the lock and starts the main process.
pub(crate) fn launch(dir: JobDir) -> Result<Shim, Refusal> {
    let lock = take_lock(&dir)?;
    let spec = dir.read_spec()?;
    let program = Program::prepare(&spec).map_err(|_| Refusal { exit: ShimExit::BadSpec })?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Refusal::os(error.into()))?;
    let signals = SignalFd::block(&SIGNALS).map_err(Refusal::os)?;
    let slot = ExitSlot::reserve(&dir).map_err(Refusal::storage)?;
    let writer = OutputWriter::create(&dir, spec.limits).map_err(Refusal::storage)?;
    let control = ControlServer::bind(&dir).map_err(Refusal::storage)?;
    let shim = identity::own().map_err(Refusal::os)?;

    let (ours, theirs) = Stdio::open(&spec).map_err(Refusal::os)?;
    lock_name::watch(&dir);
    let input = ours.input.map(|pipe| Input::create(&dir, pipe)).transpose();
    let input = input.map_err(Refusal::storage)?;
    let group = ours.terminal.as_ref();
    let forked = fork_child(&lock, &dir, theirs, &program, shim.pid).map_err(Refusal::os)?;
    if let Some((pty, _)) = group
        && let Err(error) = give_to(&pty.slave, forked.group)
    {
        abandon(&forked, None);
        return Err(Refusal::os(error));
    }
    let Some(child) = identity::of(forked.pid).map_err(Refusal::os)? else {
        return Err(Refusal { exit: ShimExit::Refused });
    };
    let cgroup = confine(&spec, child.pid);
    let started = record(&spec, &shim, &child, cgroup.as_ref());
    let linked = dir.link_started(&StartedFile::Started(started.clone()), "started.tmp");
    let refusal = match linked {
        Ok(true) => None,
        Ok(false) => Some(Refusal { exit: ShimExit::StartedBefore }),
        Err(error) => Some(Refusal::storage(error)),
    };
    if let Some(refusal) = refusal {
        abandon(&forked, cgroup.as_ref());
        return Err(refusal);
    }
    fail_point!("shim.before_release");
    // Nobody reads when the child was killed meanwhile; then that is how the job ended.
    let _ = rustix::io::write(&forked.release, b"!");
    fail_point!("shim.after_release");
    let streams = Streams::new(ours.output, Some(forked.report), writer);
    let child = Child { identity: child, pidfd: forked.pidfd };
    let terminal = ours.terminal.map(|(pty, size)| Box::new(Terminal::new(pty, size)));
    let own = shim;
    let parts = Parts {
        lock,
        dir,
        spec,
        own,
        child,
        signals,
        slot,
        streams,
        control,
        cgroup,
        input,
        terminal,
    };
    Ok(Shim::new(parts, &started))
}

/// Ends the child that was not released, and leaves no group behind. Should the shim die on the
/// way, the child ends by itself: nobody can release it any more.
fn abandon(child: &ForkedChild, cgroup: Option<&Cgroup>) {
    let _ = child.pidfd.send(libc::SIGKILL);
    let _ = poll(&mut [PollFd::new(&child.pidfd, PollFlags::IN)], None);
    let _ = wait::reap_one();
    if let Some(cgroup) = cgroup {
        cgroup.remove();
    }
}

/// Puts the waiting child into a control group of its own, where we may make one.
fn confine(spec: &Spec, child: u32) -> Option<Cgroup> {
    let cgroup = Cgroup::create(&spec.nonce)?;
    if cgroup.admit(child).is_err() {
        cgroup.remove();
        return None;
    }
    Some(cgroup)
}

fn take_lock(dir: &JobDir) -> Result<File, Refusal> {
    let lock = dir.create_file(LOCK, OFlags::empty()).map_err(Refusal::storage)?;
    fail_point!("shim.before_lock");
    if !ofd::try_lock(lock.as_fd()).map_err(Refusal::os)? {
        return Err(Refusal { exit: ShimExit::LockNotHad });
    }
    fail_point!("shim.after_lock");
    // Only to save the work: the link is what decides.
    if dir.read(STARTED).map_err(Refusal::storage)?.is_some() {
        return Err(Refusal { exit: ShimExit::StartedBefore });
    }
    Ok(lock)
}

/// A child that waits to be released, and the shim's ends of its pipes.
struct ForkedChild {
    pid: u32,
    pidfd: PidFd,
    release: OwnedFd,
    report: OwnedFd,
    group: Pid,
}

fn fork_child(
    lock: &File,
    dir: &JobDir,
    stdio: ChildStdio,
    program: &Program,
    shim: u32,
) -> io::Result<ForkedChild> {
    let (release, release_writer) = pipe_with(PipeFlags::CLOEXEC)?;
    let (report_reader, report) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&report_reader, true)?;
    fail_point!("shim.before_fork", |_| Err(io::Error::from_raw_os_error(libc::EAGAIN)));
    let pid = match fork_alone()? {
        Forked::Parent(pid) => pid,
        Forked::Child => {
            let ends = ChildEnds {
                lock: lock.as_fd(),
                release,
                release_writer: release_writer.as_fd(),
                report,
                stdio,
                shim,
            };
            child::run(&ends, dir, program)
        }
    };
    fail_point!("shim.after_fork");
    // Both sides set the group: whoever comes first. An error means that the child was faster.
    let group = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let group = group.ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
    let _ = rustix::process::setpgid(Some(group), Some(group));
    // Not reaped before the shim says so: its pid cannot be recycled.
    let pidfd = PidFd::open(pid)?;
    Ok(ForkedChild { pid, pidfd, release: release_writer, report: report_reader, group })
}

fn record(
    spec: &Spec,
    shim: &Identity,
    child: &Identity,
    cgroup: Option<&Cgroup>,
) -> StartedRecord {
    StartedRecord {
        v: VERSION,
        job: spec.job.clone(),
        attempt: spec.attempt,
        nonce: spec.nonce.clone(),
        generation: spec.generation,
        epoch: spec.epoch,
        shim: shim.clone(),
        child: child.clone(),
        cgroup: cgroup.map(|cgroup| cgroup.path().into()),
        at_wall_ms: clock::wall_ms(),
        at_mono_ms: clock::mono_ms(),
    }
}
