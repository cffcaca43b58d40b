//! The runs that have not ended, in memory: rebuilt from the log at start, renewed after each
//! durable group. It holds nothing that the store does not.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::admission::{Caps, Place, Worktrees, grants};
use tidegate_core::command::{Awaits, CommandId};
use tidegate_core::home::{Home, HomeEvent};
use tidegate_core::ids::{QueueKey, RunId};
use tidegate_core::pause::covering;
use tidegate_core::run::{Grant, Run, Status};
use tidegate_store::CommandRecord;

use super::dispatch::Changes;
use super::handle::Answer;
use super::open::{OpenBackground, OpenCommand, OpenCommands};

/// Runs that have not ended, their queues, and the home's facts.
#[derive(Debug, Default)]
pub(super) struct Live {
    runs: BTreeMap<RunId, Run>,
    /// Those of them that run: few, however many wait.
    running: BTreeSet<RunId>,
    queues: BTreeMap<QueueKey, Queue>,
    /// Queues held because a run of theirs is corrupt.
    held: BTreeSet<QueueKey>,
    pub(super) home: Home,
    /// Commands that have not ended.
    pub(super) commands: OpenCommands,
}

/// The runs of one queue that have not ended.
#[derive(Debug, Default)]
struct Queue {
    /// Those that may begin, by their turns.
    pending: BTreeSet<Place>,
    /// Those that a person holds.
    kept: BTreeSet<RunId>,
    active: BTreeSet<RunId>,
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.kept.is_empty() && self.active.is_empty()
    }
}

impl Live {
    /// Takes a run as it is now; one that has ended is forgotten.
    pub(super) fn put(&mut self, run: Run) {
        self.take_out(&run.id);
        let queue = self.queues.entry(run.queue.clone()).or_default();
        match run.status {
            Status::Pending => {
                match Place::of(&run) {
                    Some(place) => queue.pending.insert(place),
                    None => queue.kept.insert(run.id.clone()),
                };
            }
            Status::Running { .. } => {
                queue.active.insert(run.id.clone());
                self.running.insert(run.id.clone());
            }
            Status::Completed { .. } | Status::Failed { .. } | Status::Cancelled { .. } => {
                if queue.is_empty() {
                    self.queues.remove(&run.queue);
                }
                return;
            }
        }
        self.runs.insert(run.id.clone(), run);
    }

    /// Forgets a run as it was.
    fn take_out(&mut self, id: &RunId) {
        let Some(old) = self.runs.remove(id) else { return };
        self.running.remove(id);
        let Some(queue) = self.queues.get_mut(&old.queue) else { return };
        if let Some(place) = Place::of(&old) {
            queue.pending.remove(&place);
        }
        queue.kept.remove(id);
        queue.active.remove(id);
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

    /// Whether a feature has everything but the place of a worktree: all that may begin was begun
    /// before.
    pub(super) fn lacks_worktrees(&self, caps: Caps, worktrees: &Worktrees) -> bool {
        let is_bounded = worktrees.max.is_some() || worktrees.is_full;
        let running = self.running.iter().filter_map(|id| self.runs.get(id));
        let begins = |(_, grant): &(RunId, Grant)| matches!(grant, Grant::Slot { .. });
        is_bounded && grants(running, caps).iter().any(begins)
    }

    /// Whether nothing runs and nothing waits for a turn that could come without a person.
    pub(super) fn is_idle(&self) -> bool {
        let stands = |(queue, runs): (&QueueKey, &Queue)| {
            runs.pending.is_empty()
                || self.held.contains(queue)
                || covering(&self.home.pauses, queue).is_some()
        };
        let at_work = !self.running.is_empty()
            || !self.home.cleanups.is_empty()
            || !self.home.restorations.is_empty();
        !at_work && self.queues.iter().all(stands)
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
    /// Commands that began in the group and are not done at once.
    begun: Vec<OpenCommand>,
    backgrounds: Vec<OpenBackground>,
    /// Commands, and work in the background, that ended in the group.
    ended: BTreeSet<CommandId>,
    /// What ended in the group beside runs.
    told: Vec<(Awaits, Answer)>,
}

/// What is left of a stage once its group is durable.
#[derive(Debug)]
pub(super) struct Staged {
    pub(super) runs: BTreeMap<RunId, Run>,
    pub(super) home: Option<Home>,
    pub(super) changes: Changes,
    pub(super) begun: Vec<OpenCommand>,
    pub(super) backgrounds: Vec<OpenBackground>,
    pub(super) ended: BTreeSet<CommandId>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(live: &'a Live) -> Self {
        Self {
            live,
            runs: BTreeMap::new(),
            home: None,
            all_touched: false,
            changes: Changes::default(),
            begun: Vec::new(),
            backgrounds: Vec::new(),
            ended: BTreeSet::new(),
            told: Vec::new(),
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
        // Queues whose pause ends have their turn now.
        self.all_touched |= matches!(event, HomeEvent::LaneResumed { .. });
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
        if self.live.held.contains(queue) || covering(&self.home().pauses, queue).is_some() {
            return None;
        }
        let empty = Queue::default();
        let known = self.live.queues.get(queue).unwrap_or(&empty);
        let runs = |id: &RunId| {
            self.get(id).is_some_and(|run| matches!(run.status, Status::Running { .. }))
        };
        let staged = self.runs.values().filter(|run| run.queue == *queue);
        if known.active.iter().any(runs) || staged.clone().any(|run| runs(&run.id)) {
            return None;
        }
        // What the group changed counts as it left it.
        let unchanged = |place: &&Place| !self.runs.contains_key(&place.run);
        let first_known = known.pending.iter().find(unchanged).cloned();
        let first_staged = staged.filter_map(Place::of).min();
        first_known.into_iter().chain(first_staged).min().map(|place| place.run)
    }

    /// The running runs, in the order of their submits.
    pub(super) fn running(&self) -> Vec<&Run> {
        let known = self.live.running.iter().filter(|id| !self.runs.contains_key(*id));
        let mut running: Vec<&Run> = known
            .filter_map(|id| self.live.get(id))
            .chain(self.runs.values())
            .filter(|run| matches!(run.status, Status::Running { .. }))
            .collect();
        running.sort_by(|a, b| a.id.cmp(&b.id));
        running
    }

    /// Takes the stage apart, once its group is durable.
    pub(super) fn finish(self) -> Staged {
        let Self { runs, home, changes, begun, backgrounds, ended, .. } = self;
        Staged { runs, home, changes, begun, backgrounds, ended }
    }

    /// Takes a command that began, when it is not done.
    pub(super) fn begin(&mut self, record: &CommandRecord) {
        self.begun.extend(OpenCommand::of(record));
        self.backgrounds.extend(OpenBackground::of(record));
    }

    /// The run of `queue` that runs.
    pub(super) fn active_of(&self, queue: &QueueKey) -> Option<&Run> {
        self.running().into_iter().find(|run| run.queue == *queue)
    }

    /// The work in the background of `queue` that has not ended, with its run.
    pub(super) fn background_of(&self, queue: &QueueKey) -> Option<(&OpenBackground, &Run)> {
        let all = self.live.commands.backgrounds().chain(&self.backgrounds);
        all.filter_map(|background| Some((background, self.get(&background.run)?)))
            .find(|(_, run)| run.queue == *queue && !run.status.is_terminal())
    }

    /// The work in the background that ended in this group, with its run.
    pub(super) fn ended_backgrounds(&self) -> Vec<(OpenBackground, &Run)> {
        let ended = self.runs.values().filter(|run| run.status.is_terminal());
        let find = |run: &Run| {
            let new = self.backgrounds.iter().find(|background| background.run == run.id);
            new.or_else(|| self.live.commands.background(&run.id)).cloned()
        };
        ended.filter_map(|run| Some((find(run)?, run))).collect()
    }

    /// Takes the end of a command.
    pub(super) fn end(&mut self, command: CommandId) {
        self.ended.insert(command);
    }

    /// Takes the end of something of the home.
    pub(super) fn tell(&mut self, awaits: Awaits, answer: Answer) {
        self.told.push((awaits, answer));
    }

    /// What ended of the home in this group.
    pub(super) fn told(&self, awaits: Awaits) -> Option<Answer> {
        let told = self.told.iter().find(|(what, _)| *what == awaits);
        told.map(|(_, answer)| answer.clone())
    }

    /// The open commands that what changed in this group may have brought to their end.
    pub(super) fn open_of_changed(&self) -> impl Iterator<Item = &OpenCommand> {
        let known = self.runs.keys().flat_map(|run| self.live.commands.of_run(run));
        let others = self.live.commands.others().iter().filter(|_| !self.told.is_empty());
        known.chain(others).chain(&self.begun).filter(|command| !self.ended.contains(&command.id))
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
