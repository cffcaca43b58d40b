//! One turn: a group of messages, one transaction, then answers and effects.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::admission::{Caps, Worktrees, grants_within};
use tidegate_core::home::Home;
use tidegate_core::ids::{QueueKey, RunId};
use tidegate_core::limits::COMMANDS_KEPT_MS;
use tidegate_core::run::{Input, Run, step};
use tidegate_core::time::{Now, WallMs};
use tidegate_protocol::{ErrorCode, Problem};
use tidegate_store::{Savepoint, Store, StoreError};

use super::answers::{is_urgent, storage_full};
use super::dispatch::{Dispatch, Target};
use super::handle::{Answer, Message, Request};
use super::live::{Live, Stage, Staged};
use super::record::{conclude, forget, take_request};
use super::requests::Failed;

/// A group that takes longer than this to record is told of.
const SLOW: Duration = Duration::from_millis(150);

/// Where a turn takes clocks and random bits from.
pub trait Chance {
    /// The clocks as they were at the beginning of the turn, and fresh random bits.
    fn now(&mut self) -> Now;
}

/// The engine: owns the store and moves every run.
#[derive(Debug)]
pub struct Engine<D> {
    pub(super) store: Store,
    pub(super) live: Live,
    pub(super) dispatch: D,
    pub(super) caps: Caps,
    /// Names this daemon in the facts that it records.
    pub(super) supervisor: String,
    /// Reports whose group failed for want of room; they are taken again.
    deferred: Vec<(RunId, Input)>,
    /// Whether admission was left out, for want of room or because of a hold: it is made up for.
    pub(super) owes_admission: bool,
    /// Whether the last group was undone: it is said once.
    is_stuck: bool,
    /// Groups that took long to record.
    slow_groups: u64,
    /// How long commands are remembered, in milliseconds.
    kept_ms: u64,
    /// When old ones are forgotten next, on the wall clock.
    forget_at: WallMs,
}

/// Why the engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A newer daemon owns the store.
    #[error("a newer daemon owns the store; this one ends without writing")]
    Replaced,
    /// The store cannot be trusted any more; a restart reads it anew.
    #[error("the store failed: {0}")]
    Store(#[source] StoreError),
}

impl<D: Dispatch> Engine<D> {
    pub(super) fn new(
        store: Store,
        live: Live,
        dispatch: D,
        caps: Caps,
        supervisor: String,
    ) -> Self {
        Self {
            store,
            live,
            dispatch,
            caps,
            supervisor,
            deferred: Vec::new(),
            owes_admission: false,
            is_stuck: false,
            slow_groups: 0,
            kept_ms: COMMANDS_KEPT_MS,
            forget_at: WallMs(0),
        }
    }

    /// Sets how long commands are remembered, in milliseconds.
    pub fn keep_commands(&mut self, kept_ms: u64) {
        self.kept_ms = kept_ms;
    }

    /// Whether nothing runs and nothing waits for a turn.
    pub fn is_idle(&self) -> bool {
        self.live.is_idle()
    }

    /// Whether reports, or runs and features whose turn has come, wait for room on the disk.
    pub fn has_deferred(&self) -> bool {
        !self.deferred.is_empty() || (self.owes_admission && !self.is_idle())
    }

    /// The newest durable event's number.
    pub fn last_seq(&self) -> u64 {
        self.store.view().last_seq().unwrap_or_else(|error| {
            // Followers are only told late; the store itself says so at the next turn.
            tracing::error!(%error, "the newest event's number cannot be read");
            0
        })
    }

    /// The runs that have not ended, in the order of their submits, for tests that look into it.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.live.runs()
    }

    /// The home's facts, for tests that look into it.
    pub fn home(&self) -> &Home {
        &self.live.home
    }

    /// Gives the dispatcher out, for tests that look into it.
    pub fn dispatch(&mut self) -> &mut D {
        &mut self.dispatch
    }

    /// Takes a group of messages: all of them share one commit, each may be refused alone.
    ///
    /// # Errors
    /// [`EngineError`] when the engine must end; nothing of the group is durable then, or nobody
    /// was answered.
    pub fn turn(
        &mut self,
        messages: Vec<Message>,
        chance: &mut impl Chance,
    ) -> Result<(), EngineError> {
        let mut reports: Vec<(RunId, Input)> = std::mem::take(&mut self.deferred);
        let mut requests = Vec::new();
        for message in messages {
            match message {
                Message::Request(request) => requests.push(*request),
                Message::Report { run, key: Some(key), report } => {
                    reports.push((run, Input::Answer { key, report }));
                }
                Message::Report { run, key: None, report } => {
                    reports.push((run, Input::Report(report)));
                }
                Message::Beat(_) | Message::Stop { .. } => {}
            }
        }
        let room =
            Room { held: self.dispatch.holds_admission(), worktrees: self.dispatch.worktrees() };
        let mut space = if self.store.is_short_of_space() { Space::Short } else { Space::Plenty };
        let begun = std::time::Instant::now();
        let mut outcome = self.attempt(&reports, &requests, (space, &room), chance);
        self.note_slowness(begun.elapsed());
        let urgent = !reports.is_empty() || requests.iter().any(is_urgent);
        if let Err(StoreError::Full) = outcome
            && urgent
            && self.store.spend_ballast().is_ok_and(|spent| spent)
        {
            // Ends and cancels are recorded in the space that was kept back for them.
            tracing::error!("the disk of the home is full: nothing new starts");
            space = Space::Short;
            outcome = self.attempt(&reports, &requests, (space, &room), chance);
        }
        match outcome {
            Ok(answers) => {
                self.is_stuck = false;
                self.owes_admission = room.held
                    || space == Space::Short
                    || self.live.lacks_worktrees(self.caps, &room.worktrees);
                for (request, answer) in requests.into_iter().zip(answers) {
                    // A client that went away asks again by its key.
                    let _ = request.reply.send(answer);
                }
                Ok(())
            }
            Err(error) => self.undone(error, reports, requests),
        }
    }

    /// Says when the disk takes long: at the first slow group, and each time that there were twice
    /// as many. Nothing is decided by it.
    fn note_slowness(&mut self, took: Duration) {
        if took < SLOW {
            return;
        }
        self.slow_groups += 1;
        if self.slow_groups.is_power_of_two() {
            let (ms, count) = (took.as_millis(), self.slow_groups);
            tracing::warn!(ms, count, "the disk of the home is slow: a group took long to record");
        }
    }

    /// Records a group, and gives the answers to its requests, in their order.
    fn attempt(
        &mut self,
        reports: &[(RunId, Input)],
        requests: &[Request],
        (space, room): (Space, &Room),
        chance: &mut impl Chance,
    ) -> Result<Vec<Answer>, StoreError> {
        let mut nudges = Vec::new();
        let Self { store, live, caps, supervisor, owes_admission, kept_ms, forget_at, .. } = self;
        let (answers, staged) = store.turn(|turn| {
            let mut stage = Stage::new(live);
            for (run, input) in reports {
                let taken = turn.input(|write| apply(&stage, write, run, input, chance.now()));
                match taken {
                    Ok(Some((before, after))) => stage.set(Some(&before), after),
                    Ok(None) => {}
                    Err(error) => tracing::error!(%run, ?error, "a report was not recorded"),
                }
            }
            let answers = requests.iter().map(|request| {
                if space == Space::Short && !is_urgent(request) {
                    return Err(storage_full());
                }
                take_request(turn, &mut stage, request, chance.now(), &mut nudges)
            });
            let answers: Vec<Answer> = answers.collect();
            if space == Space::Plenty && !room.held {
                if *owes_admission {
                    stage.touch_all();
                }
                admit(&mut stage, turn, supervisor, (*caps, &room.worktrees), chance);
            }
            conclude(&mut stage, turn, chance);
            forget(turn, *kept_ms, forget_at, chance);
            (answers, stage.finish())
        })?;
        self.settle(staged);
        for run in &nudges {
            self.dispatch.nudge(run);
        }
        Ok(answers)
    }

    /// Makes a durable group the present, and hands its effects on.
    pub(super) fn settle(&mut self, staged: Staged) {
        let Staged { runs, home, changes, begun, backgrounds, ended: ended_commands } = staged;
        for command in begun {
            self.live.commands.put(command);
        }
        for background in backgrounds {
            self.live.commands.put_background(background);
        }
        self.live.commands.take_out(&ended_commands);
        let (mut cleanups, mut restorations) = (Vec::new(), Vec::new());
        if let Some(home) = home {
            let known = std::mem::replace(&mut self.live.home, home);
            let now = self.live.home.cleanups.values();
            cleanups.extend(now.filter(|now| !known.cleanups.contains_key(&now.number)).cloned());
            let now = self.live.home.restorations.iter();
            let is_new = |(number, _): &(&u64, _)| !known.restorations.contains_key(number);
            restorations.extend(now.filter(is_new).map(|(number, one)| (*number, one.clone())));
        }
        let mut ended = Vec::new();
        for run in runs.values() {
            if run.status.is_terminal() {
                ended.push(run.clone());
            }
        }
        for run in runs.into_values() {
            self.live.put(run);
        }
        let live = &self.live;
        changes.hand_on(&mut self.dispatch, |id| target(live, id));
        for run in &ended {
            self.dispatch.ended(run);
        }
        for cleanup in &cleanups {
            self.dispatch.clean_up(cleanup);
        }
        for (number, restoration) in &restorations {
            self.dispatch.restore(*number, restoration);
        }
    }

    fn undone(
        &mut self,
        error: StoreError,
        reports: Vec<(RunId, Input)>,
        requests: Vec<Request>,
    ) -> Result<(), EngineError> {
        let problem = match &error {
            StoreError::Full => storage_full(),
            StoreError::Busy => Problem::new(ErrorCode::Busy, "the store is locked"),
            StoreError::Fenced => return Err(EngineError::Replaced),
            StoreError::Io { .. }
            | StoreError::File { .. }
            | StoreError::Damaged { .. }
            | StoreError::Refused { .. }
            | StoreError::Corrupt(_)
            | StoreError::WrongBlob(_)
            | StoreError::Aborted => return Err(EngineError::Store(error)),
        };
        if !self.is_stuck {
            tracing::error!(%error, "groups are undone; their reports are kept and tried again");
        }
        self.is_stuck = true;
        self.deferred = reports;
        for request in requests {
            let _ = request.reply.send(Err(problem.clone()));
        }
        Ok(())
    }
}

/// Whether the disk has room for more than what must not be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    Plenty,
    Short,
}

/// What the world says of room for more work, before a group.
struct Room {
    /// Whether nothing may start at all.
    held: bool,
    worktrees: Worktrees,
}

/// The run and its place, for adapters.
pub(super) fn target(live: &Live, id: &RunId) -> Option<Target> {
    let run = live.get(id)?;
    let place = live.home.projects.get(&run.queue.project)?;
    Some(Target { run: Arc::new(run.clone()), place: place.clone() })
}

/// Moves one run by one input. `Ok(None)` when it was refused or led to nothing.
pub(super) fn apply(
    stage: &Stage<'_>,
    write: &mut Savepoint<'_>,
    id: &RunId,
    input: &Input,
    now: Now,
) -> Result<Option<(Run, Run)>, Failed> {
    let Some(before) = stage.get(id) else {
        tracing::debug!(run = %id, ?input, "about a run that has ended");
        return Ok(None);
    };
    match step(before, input, now) {
        Ok(after) if after.events.is_empty() => Ok(None),
        Ok(after) => {
            write.save(Some(before), &after.run, &after.events, now.wall)?;
            Ok(Some((before.clone(), after.run)))
        }
        Err(refused) => {
            tracing::debug!(run = %id, %refused, ?input, "refused");
            Ok(None)
        }
    }
}

/// Gives turns, slots, gates and targets until nothing more can be given.
pub(super) fn admit(
    stage: &mut Stage<'_>,
    turn: &mut tidegate_store::Turn<'_>,
    supervisor: &str,
    (caps, worktrees): (Caps, &Worktrees),
    chance: &mut impl Chance,
) {
    let mut given = 0;
    loop {
        let queues = stage.touched();
        let claims = queues.iter().filter_map(|queue: &QueueKey| stage.turn_of(queue));
        let claim = Input::Claim { supervisor: supervisor.to_owned() };
        let mut inputs: Vec<(RunId, Input)> = claims.map(|run| (run, claim.clone())).collect();
        let granted =
            grants_within(stage.running().into_iter(), caps, worktrees, chance.now().wall);
        inputs.extend(granted.into_iter().map(|(run, grant)| (run, Input::Grant(grant))));
        if inputs.is_empty() {
            return;
        }
        for (run, input) in inputs {
            let taken = turn.input(|write| apply(stage, write, &run, &input, chance.now()));
            match taken {
                Ok(Some((before, after))) => stage.set(Some(&before), after),
                Ok(None) => {}
                Err(error) => {
                    // The group fails as a whole; what was given so far is undone with it.
                    tracing::error!(%run, ?error, "not admitted");
                    return;
                }
            }
        }
        given += 1;
        if given > 10_000 {
            tracing::error!("BUG: admission does not come to an end");
            return;
        }
    }
}
