//! The runs that have not ended, in memory: rebuilt from the log at start, renewed after each
//! durable group. It holds nothing that the store does not.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::home::{Home, HomeEvent};
use tidegate_core::ids::{QueueKey, RunId};
use tidegate_core::run::{Run, Status};

use super::dispatch::Changes;

/// Runs that have not ended, their queues, and the home's facts.
#[derive(Debug, Default)]
pub(super) struct Live {
    runs: BTreeMap<RunId, Run>,
    queues: BTreeMap<QueueKey, Queue>,
    /// Queues held because a run of theirs is corrupt.
    held: BTreeSet<QueueKey>,
    pub(super) home: Home,
}

/// The runs of one queue that have not ended.
#[derive(Debug, Default)]
struct Queue {
    pending: BTreeSet<RunId>,
    active: BTreeSet<RunId>,
}

impl Live {
    /// Takes a run as it is now; one that has ended is forgotten.
    pub(super) fn put(&mut self, run: Run) {
        let queue = self.queues.entry(run.queue.clone()).or_default();
        queue.pending.remove(&run.id);
        queue.active.remove(&run.id);
        match run.status {
            Status::Pending => {
                queue.pending.insert(run.id.clone());
            }
            Status::Running { .. } => {
                queue.active.insert(run.id.clone());
            }
            Status::Completed { .. } | Status::Failed { .. } | Status::Cancelled { .. } => {
                if queue.pending.is_empty() && queue.active.is_empty() {
                    self.queues.remove(&run.queue);
                }
                self.runs.remove(&run.id);
                return;
            }
        }
        self.runs.insert(run.id.clone(), run);
    }

    /// Lets no run of `queue` start until a person has looked.
    pub(super) fn hold(&mut self, queue: QueueKey) {
        self.held.insert(queue);
    }

    /// The run, when it has not ended.
    pub(super) fn get(&self, id: &RunId) -> Option<&Run> {
        self.runs.get(id)
    }

    /// All runs that have not ended, in the order of their submits.
    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values()
    }

    /// All queues that have a run.
    pub(super) fn queues(&self) -> impl Iterator<Item = &QueueKey> {
        self.queues.keys()
    }

    /// Whether nothing runs and nothing waits for a turn that could come.
    pub(super) fn is_idle(&self) -> bool {
        self.runs
            .values()
            .all(|run| self.held.contains(&run.queue) && matches!(run.status, Status::Pending))
    }
}

/// What a group has changed so far, over the state before it.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    live: &'a Live,
    runs: BTreeMap<RunId, Run>,
    home: Option<Home>,
    all_touched: bool,
    pub(super) changes: Changes,
}

/// What is left of a stage once its group is durable.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) runs: BTreeMap<RunId, Run>,
    pub(super) home: Option<Home>,
    pub(super) changes: Changes,
}

impl<'a> Stage<'a> {
    pub(super) fn new(live: &'a Live) -> Self {
        Self {
            live,
            runs: BTreeMap::new(),
            home: None,
            all_touched: false,
            changes: Changes::default(),
        }
    }

    /// The run as this group has it so far. One that ended within the group is still here.
    pub(super) fn get(&self, id: &RunId) -> Option<&Run> {
        self.runs.get(id).or_else(|| self.live.get(id))
    }

    /// Takes a run as an input of the group left it.
    pub(super) fn set(&mut self, before: Option<&Run>, after: Run) {
        self.changes.note(before, &after);
        self.runs.insert(after.id.clone(), after);
    }

    /// The home's facts as this group has them so far.
    pub(super) fn home(&self) -> &Home {
        self.home.as_ref().unwrap_or(&self.live.home)
    }

    /// Takes a fact of the home.
    pub(super) fn apply_home(&mut self, event: &HomeEvent) {
        self.home.get_or_insert_with(|| self.live.home.clone()).apply(event);
    }

    /// The queues whose runs changed in this group.
    pub(super) fn touched(&self) -> BTreeSet<QueueKey> {
        let staged = self.runs.values().map(|run| run.queue.clone());
        let known = self.live.queues().filter(|_| self.all_touched).cloned();
        staged.chain(known).collect()
    }

    /// Has every queue looked at, as at a start.
    pub(super) fn touch_all(&mut self) {
        self.all_touched = true;
    }

    /// The run whose turn has come in `queue`, if any.
    pub(super) fn turn_of(&self, queue: &QueueKey) -> Option<RunId> {
        if self.live.held.contains(queue) {
            return None;
        }
        let empty = Queue::default();
        let known = self.live.queues.get(queue).unwrap_or(&empty);
        let is = |id: &RunId, wanted: fn(&Status) -> bool| {
            self.get(id).is_some_and(|run| wanted(&run.status))
        };
        let running: fn(&Status) -> bool = |status| matches!(status, Status::Running { .. });
        let pending: fn(&Status) -> bool = |status| matches!(status, Status::Pending);
        let staged = self.runs.values().filter(|run| run.queue == *queue).map(|run| &run.id);
        if known.active.iter().chain(staged.clone()).any(|id| is(id, running)) {
            return None;
        }
        let first_known = known.pending.iter().find(|id| is(id, pending));
        let first_staged = staged.filter(|id| is(id, pending)).min();
        first_known.into_iter().chain(first_staged).min().cloned()
    }

    /// The running runs, in the order of their submits.
    pub(super) fn running(&self) -> Vec<&Run> {
        let known = self.live.runs().filter(|run| !self.runs.contains_key(&run.id));
        let mut running: Vec<&Run> = known
            .chain(self.runs.values())
            .filter(|run| matches!(run.status, Status::Running { .. }))
            .collect();
        running.sort_by(|a, b| a.id.cmp(&b.id));
        running
    }

    /// Takes the stage apart, once its group is durable.
    pub(super) fn finish(self) -> Staged {
        Staged { runs: self.runs, home: self.home, changes: self.changes }
    }
}

impl Stage<'_> {
    /// A run of `project` that has not ended.
    pub(super) fn open_run_of(&self, project: &tidegate_core::ids::ProjectId) -> Option<RunId> {
        let known = self.live.runs().filter(|run| !self.runs.contains_key(&run.id));
        known
            .chain(self.runs.values())
            .find(|run| run.queue.project == *project && !run.status.is_terminal())
            .map(|run| run.id.clone())
    }
}
