//! One turn: a group of messages, one transaction, then answers and effects.

use std::sync::Arc;

use serde_json::Value;
use tidegate_core::admission::{Caps, grants};
use tidegate_core::ids::{QueueKey, RunId};
use tidegate_core::run::{Input, Run, step};
use tidegate_core::time::{Now, WallMs};
use tidegate_protocol::{ErrorCode, Problem};
use tidegate_store::{CommandRecord, Savepoint, Store, StoreError};
use tokio::sync::oneshot;

use super::command::Idempotency;
use super::dispatch::{Dispatch, Target};
use super::handle::{Answer, Message, Request};
use super::live::{Live, Stage, Staged};
use super::requests::{AtWork, Failed, Outcome};

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

/// An answer that is sent once its group is durable.
struct Waiting {
    reply: oneshot::Sender<Answer>,
    answer: Answer,
}

impl<D: Dispatch> Engine<D> {
    pub(super) fn new(
        store: Store,
        live: Live,
        dispatch: D,
        caps: Caps,
        supervisor: String,
    ) -> Self {
        Self { store, live, dispatch, caps, supervisor, deferred: Vec::new() }
    }

    /// Whether nothing runs and nothing waits for a turn.
    pub fn is_idle(&self) -> bool {
        self.live.is_idle()
    }

    /// Whether reports wait for room on the disk.
    pub fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
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
                Message::Stop { .. } => {}
            }
        }
        let mut waiting = Vec::new();
        let mut nudges = Vec::new();
        let Self { store, live, caps, supervisor, .. } = self;
        let outcome = store.turn(|turn| {
            let mut stage = Stage::new(live);
            for (run, input) in &reports {
                let taken = turn.input(|write| apply(&stage, write, run, input, chance.now()));
                match taken {
                    Ok(Some((before, after))) => stage.set(Some(&before), after),
                    Ok(None) => {}
                    Err(error) => tracing::error!(%run, ?error, "a report was not recorded"),
                }
            }
            for request in requests {
                let now = chance.now();
                let taken = turn.input(|write| execute(&stage, write, &request, now));
                let answer = taken.map(|outcome| take(&mut stage, outcome, &mut nudges));
                waiting.push(Waiting { reply: request.reply, answer: answer.map_err(problem) });
            }
            admit(&mut stage, turn, supervisor, *caps, chance);
            stage.finish()
        });
        match outcome {
            Ok(staged) => {
                self.settle(staged);
                for run in &nudges {
                    self.dispatch.nudge(run);
                }
                for Waiting { reply, answer } in waiting {
                    // A client that went away asks again by its key.
                    let _ = reply.send(answer);
                }
                Ok(())
            }
            Err(error) => self.undone(error, reports, waiting),
        }
    }

    /// Makes a durable group the present, and hands its effects on.
    pub(super) fn settle(&mut self, staged: Staged) {
        let Staged { runs, home, changes } = staged;
        if let Some(home) = home {
            self.live.home = home;
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
    }

    fn undone(
        &mut self,
        error: StoreError,
        reports: Vec<(RunId, Input)>,
        waiting: Vec<Waiting>,
    ) -> Result<(), EngineError> {
        let problem = match &error {
            StoreError::Full => {
                // Ends and cancels must be recorded; the next turn has this room for them.
                let spent = self.store.spend_ballast();
                tracing::error!(?spent, "the disk of the home is full");
                Problem::new(ErrorCode::StorageFull, "the disk of the home is full")
            }
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
        tracing::error!(%error, "a group was undone; its reports are kept");
        self.deferred = reports;
        for Waiting { reply, .. } in waiting {
            let _ = reply.send(Err(problem.clone()));
        }
        Ok(())
    }
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

fn execute(
    stage: &Stage<'_>,
    write: &mut Savepoint<'_>,
    request: &Request,
    now: Now,
) -> Result<Outcome, Failed> {
    let Some(name) = &request.idempotency else {
        return AtWork { stage, write, now }.execute(&request.command);
    };
    let body_hash = hash(&name.body_hash)?;
    if let Some(known) = write.view().recall(&name.actor, &name.key)? {
        return answer_again(name, &known, body_hash);
    }
    let outcome = AtWork { stage, write, now }.execute(&request.command)?;
    write.remember(&CommandRecord {
        actor: name.actor.clone(),
        key: name.key.clone(),
        verb: request.command.verb().to_owned(),
        body_hash,
        response_json: outcome.data.to_string(),
        at: now.wall,
    })?;
    Ok(outcome)
}

fn answer_again(
    name: &Idempotency,
    known: &CommandRecord,
    body_hash: [u8; 32],
) -> Result<Outcome, Failed> {
    if known.body_hash != body_hash {
        let message = format!("the key `{}` was used for another request", name.key);
        return Err(Problem::new(ErrorCode::IdempotencyMismatch, message).into());
    }
    let data: Value = serde_json::from_str(&known.response_json).map_err(|error| {
        Problem::new(ErrorCode::Corrupt, format!("the recorded answer does not read: {error}"))
    })?;
    Ok(Outcome { data, ..Outcome::default() })
}

fn hash(hex: &str) -> Result<[u8; 32], Problem> {
    let bad = || Problem::new(ErrorCode::Internal, "BUG: the body's hash is no SHA-256");
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let digits = hex.get(2 * at..2 * at + 2).ok_or_else(bad)?;
        *byte = u8::from_str_radix(digits, 16).map_err(|_| bad())?;
    }
    Ok(bytes)
}

/// Stages what an input led to, and gives its answer.
fn take(stage: &mut Stage<'_>, outcome: Outcome, nudges: &mut Vec<RunId>) -> Value {
    let Outcome { data, moved, home, nudge } = outcome;
    if let Some((before, after)) = moved {
        stage.set(before.as_ref(), after);
    }
    for event in &home {
        stage.apply_home(event);
    }
    nudges.extend(nudge);
    data
}

fn problem(failed: Failed) -> Problem {
    match failed {
        Failed::Refused(problem) => problem,
        Failed::Store(error) => match error {
            StoreError::Corrupt(corrupt) => Problem::new(ErrorCode::Corrupt, corrupt.to_string()),
            StoreError::Fenced
            | StoreError::Full
            | StoreError::Busy
            | StoreError::Io { .. }
            | StoreError::File { .. }
            | StoreError::Damaged { .. }
            | StoreError::Refused { .. }
            | StoreError::WrongBlob(_)
            | StoreError::Aborted => Problem::new(ErrorCode::Internal, error.to_string()),
        },
    }
}

/// Gives turns, slots, gates and targets until nothing more can be given.
pub(super) fn admit(
    stage: &mut Stage<'_>,
    turn: &mut tidegate_store::Turn<'_>,
    supervisor: &str,
    caps: Caps,
    chance: &mut impl Chance,
) {
    let mut given = 0;
    loop {
        let queues = stage.touched();
        let claims = queues.iter().filter_map(|queue: &QueueKey| stage.turn_of(queue));
        let claim = Input::Claim { supervisor: supervisor.to_owned() };
        let mut inputs: Vec<(RunId, Input)> = claims.map(|run| (run, claim.clone())).collect();
        let granted = grants(stage.running().into_iter(), caps);
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

/// How long answers of commands are kept, in milliseconds.
pub(super) const ANSWERS_KEPT_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// The moment before which answers are forgotten.
pub(super) fn forgotten_before(now: WallMs) -> WallMs {
    WallMs(now.0.saturating_sub(ANSWERS_KEPT_MS))
}
