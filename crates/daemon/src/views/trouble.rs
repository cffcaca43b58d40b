//! How failures of the store are told to clients.

use tidegate_protocol::{ErrorCode, Problem};
use tidegate_store::{Corrupt, OpenError, StoreError};

/// Why the store could not be opened, for a client.
pub fn open_problem(error: &OpenError) -> Problem {
    let message = error.to_string();
    match error {
        OpenError::NoStore { .. } => Problem::new(ErrorCode::NoStore, message),
        OpenError::Unprepared { .. } => Problem::new(ErrorCode::StoreNeedsMigration, message)
            .hint("`tidegate daemon start` prepares it"),
        OpenError::NeedsMigration { .. } => Problem::new(ErrorCode::StoreNeedsMigration, message)
            .hint("`tidegate daemon restart` migrates it"),
        OpenError::StoreNewer { .. } => Problem::new(ErrorCode::StoreNewer, message)
            .hint("use the newer `tidegate`, then `tidegate daemon restart`"),
        OpenError::Damaged { .. } => Problem::new(ErrorCode::Corrupt, message)
            .hint("`tidegate doctor --restore` puts the newest backup in its place"),
        OpenError::NotOurs { .. } => Problem::new(ErrorCode::Corrupt, message),
        OpenError::NetworkFileSystem { .. } => Problem::new(ErrorCode::InvalidInput, message),
        OpenError::SqliteTooOld { .. } | OpenError::Pragma { .. } => Problem::internal(message),
        OpenError::File { .. } => Problem::new(ErrorCode::Io, message),
        OpenError::Store(error) => store_problem(error),
    }
}

/// Why the store could not be read, for a client.
pub fn store_problem(error: &StoreError) -> Problem {
    let message = error.to_string();
    match error {
        StoreError::Corrupt(corrupt) => corrupt_problem(corrupt),
        StoreError::Damaged { .. } => Problem::new(ErrorCode::Corrupt, message)
            .hint("`tidegate doctor --restore` puts the newest backup in its place"),
        StoreError::WrongBlob(_) => Problem::new(ErrorCode::Corrupt, message),
        StoreError::Full => Problem::new(ErrorCode::StorageFull, message),
        StoreError::Busy => Problem::new(ErrorCode::Busy, message),
        StoreError::Fenced => Problem::new(ErrorCode::DaemonStopping, message),
        StoreError::Io { .. } | StoreError::File { .. } => Problem::new(ErrorCode::Io, message),
        StoreError::Refused { .. } | StoreError::Aborted => Problem::internal(message),
    }
}

/// What does not read back, for a client.
pub fn corrupt_problem(corrupt: &Corrupt) -> Problem {
    let problem = Problem::new(ErrorCode::Corrupt, corrupt.to_string())
        .hint("`tidegate doctor --verify` names the first broken entry");
    match &corrupt.run {
        Some(run) => problem.with("runId", run.as_str()),
        None => problem,
    }
}
