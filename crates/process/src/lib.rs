//! The shim, spawning, identity, signals, output and adoption: everything that touches processes.
//!
//! # For the daemon
//!
//! 1. [`JobDir::create`], then [`JobDir::write_spec`]: three fsyncs in all, and the attempt is
//!    durable.
//! 2. [`Watcher::watch_dir`], then [`Spawner::spawn`], then [`Watcher::watch_process`] for the
//!    shim: from now on [`Changed`] says when to look.
//! 3. [`observe::observe`] says what the directory says; `tidegate_core::verdict` what follows.
//! 4. [`ControlClient::stop`] asks a living shim to end its job; [`JobDir::withdraw`] keeps one
//!    that has not started from ever starting; [`Sweep::lost_shim`] ends what a dead one left.
//!
//! Readers use [`observe`] and [`output::OutputReader`] only: neither writes anything.
//!
//! # For the shim
//!
//! [`shim::main`] is all of `tidegate shim <jobdir>`. It must run before any thread exists.
//!
//! # Rules that hold everywhere here
//!
//! - Lock held = shim alive. No pid, time or heartbeat says so.
//! - Every signal goes through a pidfd whose identity was checked after it was opened.
//! - A record is whole or absent; one that reads badly or has another nonce is suspicious, never a
//!   success.
//! - Only the private module `sys` holds `unsafe`.

pub mod activity;
pub mod census;
mod cgroup;
mod clock;
pub mod control;
pub mod helper;
pub mod identity;
pub mod inputs;
pub mod jobdir;
pub mod kernel;
pub mod lock;
pub mod observe;
pub mod output;
pub mod peer;
mod procfs;
pub mod record;
pub mod shim;
pub mod spawner;
pub mod stalled;
pub mod sweep;
mod sys;
mod tree;
pub mod watcher;

pub use control::{ControlClient, ControlError};
pub use inputs::Inputs;
pub use jobdir::{JobDir, JobDirError, Withdrawal};
pub use lock::{HomeLock, LockError, LockNote, LockProbe};
pub use record::{
    AgentRecord, ExitRecord, Limits, OutputMode, ReasonRecord, Spec, StartedRecord, Stdin, Text,
};
pub use spawner::{ShimEnded, ShimProgram, SpawnError, Spawned, Spawner};
pub use sweep::{Sweep, SweepError, Swept};
pub use tree::RUN_TAG;
pub use watcher::{Changed, OutputHints, Watcher, What};

/// Closes the descriptors that a process was started with, but for the first three: what a shell
/// held open must not live as long as a daemon. To be called first thing in `main`.
pub fn close_inherited_descriptors() {
    sys::fork::close_inherited();
}
