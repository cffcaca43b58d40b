//! The engine's way out: effects to open and to close, after their transition is durable.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::admission::Worktrees;
use tidegate_core::cleanup::{Cleanup, Restoration};
use tidegate_core::home::Place;
use tidegate_core::ids::RunId;
use tidegate_core::run::{Effect, EffectKey, Run};

/// What an effect is about.
#[derive(Debug, Clone)]
pub struct Target {
    /// The run, as it is after the transition.
    pub run: Arc<Run>,
    /// Where its repository is.
    pub place: Place,
}

/// Takes effects. Must not block; every opened effect is answered by exactly one report, by a
/// series of reports while it stays open, or closed.
pub trait Dispatch {
    /// An effect is to be done, or to be probed and then done when it may have been done before.
    fn open(&mut self, target: &Target, key: &EffectKey, effect: Effect);
    /// An effect is no longer wanted; a report about it would come late.
    fn close(&mut self, run: &RunId, key: &EffectKey);
    /// The files of the run's launcher changed.
    fn nudge(&mut self, run: &RunId);
    /// The run has ended: nothing more will be asked for it.
    fn ended(&mut self, run: &Run);
    /// A clean-up of ended runs is to be done, or to be gone on with.
    fn clean_up(&mut self, cleanup: &Cleanup) {
        tracing::debug!(number = cleanup.number, "nobody cleans up here");
    }
    /// A worktree of an ended run is to be put back, or to be gone on with.
    fn restore(&mut self, number: u64, restoration: &Restoration) {
        tracing::debug!(number, ?restoration, "nobody restores here");
    }
    /// Whether nothing new may start now, because something lives that nobody accounts for. Asked
    /// again from time to time while it is so.
    fn holds_admission(&mut self) -> bool {
        false
    }
    /// The worktrees of the home and how many there may be. Asked before each group.
    fn worktrees(&mut self) -> Worktrees {
        Worktrees::default()
    }
}

/// What the inputs of one group opened and closed, in the order that they must be handed on.
#[derive(Debug, Default)]
pub(super) struct Changes {
    closed: Vec<(RunId, EffectKey)>,
    opened: BTreeMap<(RunId, EffectKey), Effect>,
}

impl Changes {
    /// Notes the difference that one input made. An effect that closes and opens again within a
    /// group is handed on as both.
    pub(super) fn note(&mut self, before: Option<&Run>, after: &Run) {
        let old = before.map(Run::outstanding).unwrap_or_default();
        let new = after.outstanding();
        for key in old.keys().filter(|key| !new.contains_key(key)) {
            let name = (after.id.clone(), key.clone());
            if self.opened.remove(&name).is_none() {
                self.closed.push(name);
            }
        }
        for (key, effect) in new.into_iter().filter(|(key, _)| !old.contains_key(key)) {
            self.opened.insert((after.id.clone(), key), effect);
        }
    }

    /// Hands everything on. `find` gives the runs as they are after the group.
    pub(super) fn hand_on(
        self,
        dispatch: &mut impl Dispatch,
        mut find: impl FnMut(&RunId) -> Option<Target>,
    ) {
        fail::fail_point!("daemon.dispatch.before_hand_on");
        for (run, key) in &self.closed {
            dispatch.close(run, key);
        }
        let mut target: Option<Target> = None;
        for ((id, key), effect) in self.opened {
            if target.as_ref().is_none_or(|target| target.run.id != id) {
                target = find(&id);
            }
            if let Some(target) = &target {
                dispatch.open(target, &key, effect);
            }
        }
        fail::fail_point!("daemon.dispatch.after_hand_on");
    }
}
