//! What is going to happen, in the order of time.

use std::collections::BTreeMap;

use tidegate_core::ids::{JobId, RunId};
use tidegate_core::run::EffectKey;

use super::client::OrderNo;
use super::daemon::Parcel;
use super::shim::ShimStep;

/// Names an effect in the world.
pub(super) type EffectName = (RunId, EffectKey);

/// One thing that happens at a moment. Daemons and processes are named by numbers that are never
/// used again: what is about one that is gone happens to nobody.
#[derive(Debug, Clone)]
pub(super) enum Happening {
    /// A daemon starts, when there is none.
    StartDaemon,
    /// Something reaches the inbox of a daemon.
    Arrive(u32, Box<Parcel>),
    /// The engine of a daemon takes what is in its inbox.
    Turn(u32),
    /// A daemon that was replaced wakes up.
    Wake,
    /// An adapter looks at a job.
    Look(u32, JobId),
    /// An adapter does a piece of git's work.
    Git(u32, EffectName),
    /// An adapter ends the agents of a settled run.
    Sweep(u32, EffectName),
    /// A shim takes its next step.
    Shim(u32, ShimStep),
    /// A program does the next thing of its script.
    Program(u32),
    /// A job's time is up.
    TimeUp(u32),
    /// A client sends a request, for the first time or again.
    Send(OrderNo),
    /// A person looks at what waits for one.
    Person,
    /// A fault strikes.
    Trouble,
    /// Someone wants the end of a run.
    Cancel(RunId),
    /// Someone else pushes to a target.
    Rival((String, String)),
    /// The checkout of a target gets dirty.
    Soil((String, String)),
    /// The checkouts of a repository get clean, and no other home serves it any more.
    Tidy(String),
    /// From here on no fault strikes.
    Calm,
}

/// What is going to happen. Two things of the same moment happen in the order they were planned.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    planned: BTreeMap<(u64, u64), Happening>,
    count: u64,
}

impl Schedule {
    pub(super) fn at(&mut self, moment: u64, happening: Happening) {
        self.count += 1;
        self.planned.insert((moment, self.count), happening);
    }

    pub(super) fn next(&mut self) -> Option<(u64, Happening)> {
        self.planned.pop_first().map(|((moment, _), happening)| (moment, happening))
    }
}
