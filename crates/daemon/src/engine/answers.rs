//! Requests at work: each is carried out once, answered again by its key, or refused.

use serde_json::Value;
use tidegate_core::ids::RunId;
use tidegate_core::time::Now;
use tidegate_protocol::{ErrorCode, Problem};
use tidegate_store::{CommandRecord, Savepoint, StoreError};

use super::command::{Command, Idempotency};
use super::handle::Request;
use super::live::Stage;
use super::requests::{AtWork, Failed, Outcome};

/// Whether a request frees something, rather than adding work to a full disk.
pub(super) fn is_urgent(request: &Request) -> bool {
    match request.command {
        Command::Cancel { .. }
        | Command::Nudge { .. }
        | Command::PauseLanes { .. }
        // It gives room back.
        | Command::CleanUp { .. }
        | Command::RecordRemoval { .. }
        | Command::EndCleanup { .. }
        | Command::EndRestore { .. }
        | Command::Hold { held: true, .. } => true,
        Command::Submit(_)
        | Command::RetryFeature { .. }
        | Command::RetryRun { .. }
        | Command::Approve { .. }
        | Command::Deny { .. }
        | Command::Hold { held: false, .. }
        | Command::Prioritise { .. }
        | Command::ResumeLanes { .. }
        | Command::Rollback { .. }
        | Command::Restore { .. }
        | Command::StartAgent { .. }
        | Command::RegisterProject { .. }
        | Command::RemoveProject { .. }
        | Command::MoveProject { .. } => false,
    }
}

pub(super) fn storage_full() -> Problem {
    Problem::new(ErrorCode::StorageFull, "the disk of the home is full")
}

/// Carries out a request, or gives the answer that its key has already.
pub(super) fn execute(
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
pub(super) fn take(stage: &mut Stage<'_>, outcome: Outcome, nudges: &mut Vec<RunId>) -> Value {
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

pub(super) fn problem(failed: Failed) -> Problem {
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
