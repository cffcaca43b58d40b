//! What a shim knows of its job, and the moves that signals and time cause.

use std::fs::File;

use tidegate_core::exit::Identity;

use super::input::Input;
use super::server::ControlServer;
use super::slot::ExitSlot;
use super::streams::Streams;
use super::terminal::Terminal;
use crate::cgroup::Cgroup;
use crate::clock;
use crate::control::{Phase, Status};
use crate::jobdir::JobDir;
use crate::record::{Spec, StartedRecord, Usage};
use crate::sys::pidfd::PidFd;
use crate::sys::signals::SignalFd;
use crate::sys::wait::{self, Reaped};
use crate::tree::Claim;

/// The main process.
pub(crate) struct Child {
    pub(crate) identity: Identity,
    pub(crate) pidfd: PidFd,
}

/// How the main process ended.
#[derive(Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) status: wait::Status,
    pub(crate) usage: Usage,
    pub(crate) wall_ms: u64,
    pub(crate) mono_ms: u64,
}

/// Why the shim itself ends the job.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    Stop {
        actor: String,
    },
    Timeout,
    /// The job directory was removed: nobody can learn of the job any more.
    Removed,
}

/// How far the job is; times on the monotonic clock in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Running,
    Stopping {
        kill_at: u64,
    },
    Draining {
        until: u64,
    },
    /// Killing until the tree is empty; `pass` looks were taken, the next is due at `next`.
    Ending {
        pass: u32,
        next: u64,
    },
    Recording {
        next: u64,
    },
    Recorded,
}

/// What a launch made.
pub(crate) struct Parts {
    pub(crate) lock: File,
    pub(crate) dir: JobDir,
    pub(crate) spec: Spec,
    pub(crate) own: Identity,
    pub(crate) child: Child,
    pub(crate) signals: SignalFd,
    pub(crate) slot: ExitSlot,
    pub(crate) streams: Streams,
    pub(crate) control: ControlServer,
    pub(crate) cgroup: Option<Cgroup>,
    pub(crate) input: Option<Input>,
    pub(crate) terminal: Option<Box<Terminal>>,
}

/// All of one running shim.
pub(crate) struct Shim {
    /// Held for life: the kernel lets it go when the process ends.
    pub(crate) lock: File,
    pub(crate) dir: JobDir,
    pub(crate) spec: Spec,
    pub(crate) own: Identity,
    pub(crate) child: Child,
    pub(crate) signals: SignalFd,
    pub(crate) slot: ExitSlot,
    pub(crate) streams: Streams,
    pub(crate) control: ControlServer,
    pub(crate) input: Option<Input>,
    /// Only for a job that has one: it is by far the largest part.
    pub(crate) terminal: Option<Box<Terminal>>,
    pub(crate) stage: Stage,
    pub(crate) cause: Option<Cause>,
    pub(crate) ended: Option<Ended>,
    pub(crate) has_children: bool,
    pub(crate) started_wall_ms: u64,
    pub(crate) started_mono_ms: u64,
    pub(crate) deadline_ms: Option<u64>,
    /// When those that outlive a stopped main process were last asked to end.
    pub(crate) asked_ms: u64,
    /// Highest fencing token seen.
    pub(crate) token: (u64, u64),
    pub(crate) claim: Claim,
    pub(crate) spared: Vec<String>,
    pub(crate) exec_failed: Option<String>,
    pub(crate) out_of_memory: bool,
    pub(crate) swept: Vec<u32>,
    pub(crate) requires_human: Vec<String>,
}

impl Shim {
    /// The state right after the release.
    pub(crate) fn new(parts: Parts, started: &StartedRecord) -> Self {
        let Parts { lock, dir, spec, own, child, signals, slot, streams, control, cgroup, .. } =
            parts;
        let (input, terminal) = (parts.input, parts.terminal);
        let session =
            rustix::process::getsid(None).is_ok_and(|session| session == rustix::process::getpid());
        let claim = Claim {
            subreaper: Some(own.pid),
            session: session.then_some(own.pid),
            roots: Vec::new(),
            tags: vec![spec.run_tag.clone()],
            cgroup,
            since_ticks: own.start_ticks,
            spared: Vec::new(),
        };
        let now = clock::mono_ms();
        Self {
            lock,
            dir,
            own,
            child,
            signals,
            slot,
            streams,
            control,
            input,
            terminal,
            stage: Stage::Running,
            cause: None,
            ended: None,
            has_children: true,
            started_wall_ms: started.at_wall_ms,
            started_mono_ms: now,
            asked_ms: now,
            deadline_ms: spec.limits.timeout_ms.map(|limit| now.saturating_add(limit)),
            token: (spec.generation, spec.epoch),
            spec,
            claim,
            spared: Vec::new(),
            exec_failed: None,
            out_of_memory: false,
            swept: Vec::new(),
            requires_human: Vec::new(),
        }
    }

    /// Reaps everything that has ended, and takes note when the main process is among it.
    pub(crate) fn reap(&mut self) {
        loop {
            match wait::reap_one() {
                Ok(Reaped::Child { pid, status, usage }) => {
                    if pid == self.child.identity.pid && self.ended.is_none() {
                        let (wall_ms, mono_ms) = (clock::wall_ms(), clock::mono_ms());
                        self.ended = Some(Ended { status, usage, wall_ms, mono_ms });
                    }
                }
                Ok(Reaped::NoneReady) => {
                    self.has_children = true;
                    break;
                }
                Err(_) => break,
                Ok(Reaped::NoChildren) => {
                    self.has_children = false;
                    break;
                }
            }
        }
    }

    /// Starts ending the job: TERM to every process, KILL to those that are left after `grace_ms`.
    /// False when the main process has ended before.
    pub(crate) fn stop(&mut self, cause: Cause, grace_ms: u64) -> bool {
        self.reap();
        let now = clock::mono_ms();
        let kill_at = now.saturating_add(grace_ms);
        match self.stage {
            Stage::Running if self.ended.is_none() => {
                self.cause = Some(cause);
                self.stage = Stage::Stopping { kill_at };
                self.terminate_group();
                self.terminate_others();
                true
            }
            Stage::Stopping { kill_at: before } => {
                self.stage = Stage::Stopping { kill_at: kill_at.min(before) };
                true
            }
            Stage::Draining { until } if self.cause.is_some() => {
                self.stage = Stage::Draining { until: kill_at.min(until) };
                true
            }
            // Someone is in a hurry: grandchildren get no more time, the outcome stays.
            Stage::Running | Stage::Draining { .. } => {
                self.stage = Stage::Draining { until: now };
                self.cause.is_some()
            }
            Stage::Ending { .. } | Stage::Recording { .. } | Stage::Recorded => {
                self.cause.is_some()
            }
        }
    }

    /// The state for those who ask.
    pub(crate) fn status(&self) -> Status {
        Status {
            job: self.spec.job.clone(),
            attempt: self.spec.attempt,
            nonce: self.spec.nonce.clone(),
            shim: self.own.clone(),
            child: self.child.identity.clone(),
            phase: match self.stage {
                Stage::Running => Phase::Running,
                Stage::Stopping { .. } => Phase::Stopping,
                Stage::Draining { .. } => Phase::Draining,
                Stage::Ending { .. } => Phase::Ending,
                Stage::Recording { .. } | Stage::Recorded => Phase::Recording,
            },
            bytes: self.streams.bytes(),
            requires_human: self.requires_human.clone(),
            terminal: self.terminal.as_ref().map(|terminal| terminal.status()),
            input: self.input.as_ref().map(Input::status),
        }
    }
}
