//! Requests of operators as records: each is taken once under its key, remembered with what it was
//! answered, refused ones too, and driven to its end by what its work tells.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidegate_core::command::{Awaits, CommandFact, CommandId, CommandStatus};
use tidegate_core::home::HomeEvent;
use tidegate_core::ids::RunId;
use tidegate_core::run::{Run, Status};
use tidegate_core::time::{Now, WallMs};
use tidegate_protocol::{Envelope, ErrorCode, Problem};
use tidegate_store::{Background, CommandEnd, CommandRecord, Savepoint, StoreError, Turn};

use super::answers::{problem, take};
use super::command::{Command, Idempotency};
use super::endings::end_of;
use super::handle::{Answer, Request};
use super::live::Stage;
use super::open::{OpenBackground, OpenCommand};
use super::requests::{AtWork, Failed, Outcome};
use super::turn::Chance;

/// What came of a request at first.
enum Taken {
    /// It has its answer already.
    Again(Answer),
    /// It was carried out.
    Done(Box<Outcome>, Box<CommandRecord>),
}

/// Carries out a request, or gives the answer that its key has already.
pub(super) fn take_request(
    turn: &mut Turn<'_>,
    stage: &mut Stage<'_>,
    request: &Request,
    now: Now,
    nudges: &mut Vec<RunId>,
) -> Answer {
    let Some(name) = &request.idempotency else {
        let direct =
            |write: &mut Savepoint<'_>| AtWork { stage, write, now }.execute(&request.command);
        return turn.input(direct).map(|done| take(stage, done, nudges)).map_err(problem);
    };
    let first = turn.input(|write| first_time(stage, write, &request.command, name, now));
    match first {
        Ok(Taken::Again(answer)) => answer,
        Ok(Taken::Done(outcome, record)) => {
            let answer = take(stage, *outcome, nudges);
            stage.begin(&record);
            Ok(answer)
        }
        Err(Failed::Store(error)) => Err(problem(Failed::Store(error))),
        Err(Failed::Refused(refusal)) => {
            let refusal = *turn
                .input(|write| refuse(write, &request.command, name, &refusal, now))
                .map_err(|error: StoreError| tracing::error!(%error, "a refusal is not recorded"))
                .unwrap_or(Box::new(refusal));
            Err(refusal)
        }
    }
}

fn first_time(
    stage: &Stage<'_>,
    write: &mut Savepoint<'_>,
    command: &Command,
    name: &Idempotency,
    now: Now,
) -> Result<Taken, Failed> {
    let body_hash = hash(&name.body_hash)?;
    let known = write.view().recall(&name.actor, &name.key)?;
    if let Some(known) = &known
        && let Some(answer) = answer_again(name, known, body_hash)?
    {
        return Ok(Taken::Again(answer));
    }
    let mut record = fresh(write, known, command, name, now)?;
    let mut outcome = AtWork { stage, write, now }.execute(command)?;
    if let Some((_, run)) = &outcome.moved {
        record.run = Some(run.id.clone());
    } else if let Some(run) = &outcome.about {
        record.run = Some(run.clone());
    }
    if let Value::Object(data) = &mut outcome.data {
        data.insert("requestId".to_owned(), Value::String(record.id.to_string()));
    }
    record.response_json = envelope(&Ok(outcome.data.clone()));
    record.awaits = outcome.awaits;
    record.background = outcome.background.then_some(Background::Running);
    if outcome.awaits.is_some() {
        record.status = CommandStatus::Processing;
    } else {
        record.status = CommandStatus::Completed;
        record.processed_at = Some(now.wall);
        record.result_json = Some(record.response_json.clone());
    }
    write.append_home(&fact_of(&record, None, now), now.wall)?;
    write.remember(&record)?;
    Ok(Taken::Done(Box::new(outcome), Box::new(record)))
}

/// The record of a command at its beginning; of one that may be tried again, at its next attempt.
fn fresh(
    write: &Savepoint<'_>,
    known: Option<CommandRecord>,
    command: &Command,
    name: &Idempotency,
    now: Now,
) -> Result<CommandRecord, Failed> {
    let (run, feature) = command.about();
    let epoch = write.epoch();
    if let Some(known) = known {
        let attempts = known.attempts.saturating_add(1);
        let (processed_at, result_json) = (None, None);
        return Ok(CommandRecord { epoch, attempts, processed_at, result_json, ..known });
    }
    let seq = write.next_event();
    Ok(CommandRecord {
        seq: i64::try_from(seq).unwrap_or(i64::MAX),
        id: CommandId::from_parts(seq, now.entropy),
        actor: name.actor.clone(),
        key: name.key.clone(),
        body_hash: hash(&name.body_hash)?,
        verb: command.verb().to_owned(),
        run: run.cloned(),
        feature: feature.cloned(),
        args_json: name.args.to_string(),
        status: CommandStatus::Processing,
        requested_at: now.wall,
        processed_at: None,
        epoch,
        attempts: 1,
        response_json: String::new(),
        result_json: None,
        awaits: None,
        background: None,
    })
}

/// Records a refusal, and names its record in it.
fn refuse(
    write: &mut Savepoint<'_>,
    command: &Command,
    name: &Idempotency,
    refusal: &Problem,
    now: Now,
) -> Result<Box<Problem>, StoreError> {
    let refused = |_| StoreError::Aborted;
    let known = write.view().recall(&name.actor, &name.key)?;
    let record = fresh(write, known, command, name, now);
    let mut record = record.map_err(|failed| match failed {
        Failed::Store(error) => error,
        Failed::Refused(problem) => refused(problem),
    })?;
    let refusal = refusal.clone().with("request_id", record.id.as_str());
    record.status = CommandStatus::Failed;
    record.processed_at = Some(now.wall);
    record.response_json = envelope(&Err(refusal.clone()));
    record.result_json = Some(record.response_json.clone());
    record.awaits = None;
    write.append_home(&fact_of(&record, Some(refusal.code), now), now.wall)?;
    write.remember(&record)?;
    Ok(Box::new(refusal))
}

fn fact_of(record: &CommandRecord, code: Option<ErrorCode>, now: Now) -> HomeEvent {
    fact(
        record.status,
        CommandFact {
            request: record.id.clone(),
            command: record.verb.clone(),
            actor: record.actor.clone(),
            run: record.run.clone(),
            feature: record.feature.clone(),
            code: code.map(|code| code.as_str().to_owned()),
            at: now.wall,
        },
    )
}

fn fact(status: CommandStatus, fact: CommandFact) -> HomeEvent {
    match status {
        CommandStatus::Pending | CommandStatus::Processing => {
            HomeEvent::CommandAccepted(Box::new(fact))
        }
        CommandStatus::Completed => HomeEvent::CommandCompleted(Box::new(fact)),
        CommandStatus::Failed => HomeEvent::CommandFailed(Box::new(fact)),
    }
}

fn envelope(answer: &Answer) -> String {
    let envelope = Envelope::from(answer.clone());
    serde_json::to_string(&envelope).unwrap_or_else(|error| {
        // Maps with text keys can always be written.
        tracing::error!(%error, "BUG: an envelope cannot be written");
        json!({ "ok": true, "data": null }).to_string()
    })
}

/// The answer that a key has already; `None` when its command may be tried again.
fn answer_again(
    name: &Idempotency,
    known: &CommandRecord,
    body_hash: [u8; 32],
) -> Result<Option<Answer>, Failed> {
    if known.body_hash != body_hash {
        let message = format!("the key `{}` was used for another request", name.key);
        return Ok(Some(Err(Problem::new(ErrorCode::IdempotencyMismatch, message))));
    }
    let answer: Envelope = serde_json::from_str(&known.response_json).map_err(|error| {
        Problem::new(ErrorCode::Corrupt, format!("the recorded answer does not read: {error}"))
    })?;
    match answer.into_result() {
        // Nothing was done, and it said that the same may succeed later.
        Err(problem) if problem.details.retryable => Ok(None),
        answer => Ok(Some(answer)),
    }
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

/// Ends the commands whose work the group has brought to its end.
pub(super) fn conclude(stage: &mut Stage<'_>, turn: &mut Turn<'_>, chance: &mut impl Chance) {
    conclude_backgrounds(stage, turn, chance);
    for (command, answer) in due(stage) {
        let now = chance.now();
        let ended = turn.input(|write| end(write, &command, &answer, now));
        match ended {
            Ok(()) => stage.end(command.id),
            Err(error) => {
                tracing::error!(request = %command.id, %error, "the end of a command is not recorded");
                return;
            }
        }
    }
}

/// Ends the work in the background whose run the group has brought to its end.
fn conclude_backgrounds(stage: &mut Stage<'_>, turn: &mut Turn<'_>, chance: &mut impl Chance) {
    let ended: Vec<_> = stage.ended_backgrounds().into_iter().map(with_its_end).collect();
    for (background, end) in ended {
        let now = chance.now();
        let recorded = turn.input(|write| end_background(write, &background, &end, now));
        match recorded {
            Ok(()) => stage.end(background.id),
            Err(error) => {
                tracing::error!(request = %background.id, %error, "an end is not recorded");
                return;
            }
        }
    }
}

fn with_its_end(
    (background, run): (OpenBackground, &Run),
) -> (OpenBackground, Result<(), Problem>) {
    let end = match &run.status {
        Status::Pending | Status::Running { .. } | Status::Completed { .. } => Ok(()),
        Status::Failed { detail, .. } => {
            let message = detail.clone().unwrap_or_else(|| "the run failed".to_owned());
            Err(Problem::new(ErrorCode::MergeDisabled, message))
        }
        Status::Cancelled { actor, .. } => {
            let message = format!("the run was cancelled by {actor}");
            Err(Problem::new(ErrorCode::InvalidStatusTransition, message))
        }
    };
    (background, end)
}

fn end_background(
    write: &mut Savepoint<'_>,
    background: &OpenBackground,
    end: &Result<(), Problem>,
    now: Now,
) -> Result<(), StoreError> {
    let told = CommandFact {
        request: background.id.clone(),
        command: background.verb.clone(),
        actor: background.actor.clone(),
        run: Some(background.run.clone()),
        feature: background.feature.clone(),
        code: end.as_ref().err().map(|problem| problem.code.as_str().to_owned()),
        at: now.wall,
    };
    write.append_home(&HomeEvent::BackgroundEnded(Box::new(told)), now.wall)?;
    let at = now.wall;
    let how = match end {
        Ok(()) => Background::Completed { at },
        Err(problem) => {
            let error_json = serde_json::to_string(problem).unwrap_or_else(|_| "{}".to_owned());
            Background::Failed { at, error_json }
        }
    };
    write.end_background(&background.id, &how)
}

/// The commands whose end has come, with what they come to.
fn due(stage: &Stage<'_>) -> Vec<(OpenCommand, Answer)> {
    let mut seen = BTreeSet::new();
    let mut due = Vec::new();
    for command in stage.open_of_changed() {
        let run = command.run.as_ref().and_then(|run| stage.get(run));
        let answer = match command.awaits {
            Awaits::Cleanup(number) => stage.told(Awaits::Cleanup(number)),
            Awaits::Restore(number) => stage.told(Awaits::Restore(number)),
            awaits @ (Awaits::RunEnd | Awaits::Landing | Awaits::Rollback) => {
                run.and_then(|run| end_of(awaits, run, command.feature.as_ref()))
            }
        };
        if let Some(answer) = answer
            && seen.insert(command.id.clone())
        {
            due.push((command.clone(), answer));
        }
    }
    due
}

/// Records the end of a command.
pub(super) fn end(
    write: &mut Savepoint<'_>,
    command: &OpenCommand,
    answer: &Answer,
    now: Now,
) -> Result<(), StoreError> {
    let (status, code) = match answer {
        Ok(_) => (CommandStatus::Completed, None),
        Err(problem) => (CommandStatus::Failed, Some(problem.code.as_str().to_owned())),
    };
    let told = CommandFact {
        request: command.id.clone(),
        command: command.verb.clone(),
        actor: command.actor.clone(),
        run: command.run.clone(),
        feature: command.feature.clone(),
        code,
        at: now.wall,
    };
    write.append_home(&fact(status, told), now.wall)?;
    let (id, result_json) = (command.id.clone(), envelope(answer));
    write.end_command(&CommandEnd { id, status, at: now.wall, result_json })
}

/// How often old commands are looked for, in milliseconds.
const FORGET_EVERY_MS: u64 = 60 * 60 * 1000;

/// Forgets old commands, once in a while.
pub(super) fn forget(
    turn: &mut Turn<'_>,
    kept_ms: u64,
    forget_at: &mut WallMs,
    chance: &mut impl Chance,
) {
    let now = chance.now().wall;
    if now < *forget_at {
        return;
    }
    *forget_at = WallMs(now.0.saturating_add(FORGET_EVERY_MS));
    let before = WallMs(now.0.saturating_sub(kept_ms));
    if let Err(error) = turn.input(|write| write.forget_commands_before(before)) {
        tracing::error!(%error, "old commands are not forgotten");
    }
}
