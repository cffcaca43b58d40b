//! Answers of requests: which of them are urgent, what they stage, and how refusals are told.

use serde_json::Value;
use tidegate_core::ids::RunId;
use tidegate_protocol::{ErrorCode, Problem};
use tidegate_store::StoreError;

use super::command::Command;
use super::handle::Request;
use super::live::Stage;
use super::requests::{Failed, Outcome};

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
        | Command::Launch(_)
        | Command::ResumeFeature { .. }
        | Command::RetryFeature { .. }
        | Command::RetryRun { .. }
        | Command::Approve { .. }
        | Command::Deny { .. }
        | Command::Hold { held: false, .. }
        | Command::Prioritise { .. }
        | Command::ResumeLanes { .. }
        | Command::Rollback { .. }
        | Command::Restore { .. }
        | Command::Ask { .. }
        | Command::AnswerQuestion { .. }
        | Command::Send { .. }
        | Command::Receive { .. }
        | Command::StartAgent { .. }
        | Command::RegisterProject { .. }
        | Command::RemoveProject { .. }
        | Command::MoveProject { .. } => false,
    }
}

pub(super) fn storage_full() -> Problem {
    Problem::new(ErrorCode::StorageFull, "the disk of the home is full")
}

/// Stages what an input led to, and gives its answer.
pub(super) fn take(stage: &mut Stage<'_>, outcome: Outcome, nudges: &mut Vec<RunId>) -> Value {
    let Outcome { data, moved, home, nudge, awaits: _, told, background: _, about: _ } = outcome;
    if let Some((before, after)) = moved {
        stage.set(before.as_ref(), after);
    }
    for event in &home {
        stage.apply_home(event);
    }
    if let Some((awaits, answer)) = told {
        stage.tell(awaits, answer);
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
