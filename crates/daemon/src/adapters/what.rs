//! Pieces of git work: which there are, what each reports, and what is done when one fails.

use std::time::Duration;

use tidegate_core::ids::{FeatureId, JobId, Oid};
use tidegate_core::run::{
    CaptureOutcome, CommitOutcome, ConflictOutcome, InspectOutcome, MergeOutcome, Merged, Report,
    RollbackOutcome, UpdateOutcome, WorktreeOutcome,
};
use tidegate_git::GitError;

use super::features::Work;

/// How often a passing trouble of git is met by another try before a person is asked.
const TRIES_MAX: u32 = 6;
/// How often a refusal of git is met by another try: a collection of garbage at the same moment
/// takes folders away under git's hands, and all work here can be repeated.
pub(super) const TRIES_OF_A_REFUSAL: u32 = 3;

/// How long it is waited between two looks at what a piece of work waits for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The longest such wait for a remote, which doubles from look to look.
const LOOK_EVERY_MAX: Duration = Duration::from_mins(2);

/// How long until the next look at what a piece of work waits for, after so many of them.
pub(super) fn next_look(what: &What, looks: u32) -> Duration {
    match what {
        What::AwaitRemote => (LOOK_EVERY * 2_u32.saturating_pow(looks.min(10))).min(LOOK_EVERY_MAX),
        What::AwaitClean { .. }
        | What::AwaitRepo
        | What::Prepare { .. }
        | What::PrepareConflict
        | What::Commit { .. }
        | What::Capture { .. }
        | What::Rollback { .. }
        | What::Inspect { .. }
        | What::Merge { .. }
        | What::Update { .. } => LOOK_EVERY,
    }
}

/// What to do after a piece of work that failed.
#[expect(clippy::large_enum_variant, reason = "taken apart at once")]
pub(super) enum Failure {
    /// It is worth another try after this long.
    Again(Duration),
    /// It is told to the engine.
    Report(Report),
}

/// Whether a refusal may be of the moment rather than of the repository.
pub(super) fn may_pass(error: &GitError) -> bool {
    match error {
        GitError::Refused { .. } | GitError::Io { .. } | GitError::Unparsable { .. } => true,
        GitError::NotARepository { .. }
        | GitError::NoProgram
        | GitError::TooOld { .. }
        | GitError::LockBusy { .. }
        | GitError::Held { .. }
        | GitError::Missing { .. }
        | GitError::RefBlocked { .. }
        | GitError::BranchInUse { .. }
        | GitError::Diverged { .. }
        | GitError::ForeignWorktree { .. }
        | GitError::SubmoduleNotReady { .. }
        | GitError::LfsFailed { .. }
        | GitError::Killed { .. }
        | GitError::Timeout { .. } => false,
    }
}

/// Sorts a failure by what is to be done about it.
pub(super) fn sort(feature: &FeatureId, what: &What, error: &GitError, tries: u32) -> Failure {
    let again = Failure::Again(Duration::from_millis(100_u64 << tries.min(5)));
    match (error, what) {
        // Whether the target was moved before must be found out, however long that takes.
        (
            GitError::Held { .. },
            What::Update { .. }
            | What::Inspect { .. }
            | What::AwaitClean { .. }
            | What::AwaitRepo
            | What::AwaitRemote,
        ) => again,
        (
            GitError::Held { by },
            What::Prepare { .. } | What::PrepareConflict | What::Commit { .. } | What::Merge { .. },
        ) => Failure::Report(Report::RepoHeld { feature: feature.clone(), by: by.to_string() }),
        (error, _) if error.is_retryable() && tries < TRIES_MAX => again,
        (error, _) if may_pass(error) && tries < TRIES_OF_A_REFUSAL => again,
        (error, what) => Failure::Report(failed(feature, what, error.to_string())),
    }
}

/// The report of a piece of work that a person must look at.
fn failed(feature: &FeatureId, what: &What, detail: String) -> Report {
    let feature = feature.clone();
    match what {
        What::Prepare { .. } => {
            Report::Worktree { feature, outcome: WorktreeOutcome::Failed { detail } }
        }
        What::PrepareConflict => {
            Report::Conflict { feature, outcome: ConflictOutcome::Failed { detail } }
        }
        What::Commit { job, .. } => {
            let outcome = CommitOutcome::Failed { detail };
            Report::Commit { feature, job: job.clone(), outcome }
        }
        // What is not captured is still in the worktree.
        What::Capture { job, .. } => {
            let outcome = CaptureOutcome::Skipped { why: detail };
            Report::Captured { feature, job: job.clone(), outcome }
        }
        What::Rollback { to, .. } => {
            let outcome = RollbackOutcome::Failed { detail };
            Report::RolledBack { feature, to: *to, outcome }
        }
        What::Inspect { commit, .. } => {
            let outcome = InspectOutcome::Failed { detail };
            Report::Inspected { feature, commit: commit.clone(), outcome }
        }
        What::Merge { .. } => Report::Merge { feature, outcome: MergeOutcome::Failed { detail } },
        What::Update { merged } => {
            let outcome = UpdateOutcome::Failed { detail };
            Report::Update { feature, commit: merged.commit.clone(), outcome }
        }
        // Trying the landing again tells what is the matter.
        What::AwaitClean { .. } => Report::TargetClean { feature },
        What::AwaitRepo => Report::RepoFree { feature },
        What::AwaitRemote => Report::RemoteBack { feature },
    }
}

/// Which piece of work.
#[derive(Debug, Clone)]
pub(super) enum What {
    Prepare { base: Option<Oid>, sync: Option<Oid>, discard: Option<String> },
    PrepareConflict,
    Commit { job: JobId, base: Oid, conflict: Option<Vec<String>> },
    Capture { job: JobId, base: Oid },
    Rollback { to: u32, base: Oid },
    Inspect { base: Oid, commit: Oid },
    Merge { commit: Oid, reverts: bool },
    Update { merged: Merged },
    AwaitClean { commit: Oid },
    AwaitRepo,
    AwaitRemote,
}

impl Work {
    /// Does one piece of work. `Ok(None)`: nothing to report yet, look again later.
    pub(super) fn run(&self, what: &What) -> Result<Option<Report>, GitError> {
        let feature = self.feature.clone();
        Ok(Some(match what {
            What::Prepare { base, sync, discard } => {
                let outcome = self.prepare(base.as_ref(), sync.as_ref(), discard.as_deref())?;
                Report::Worktree { feature, outcome }
            }
            What::PrepareConflict => {
                Report::Conflict { feature, outcome: self.prepare_conflict()? }
            }
            What::Commit { job, base, conflict } => Report::Commit {
                feature,
                job: job.clone(),
                outcome: self.commit(base, conflict.as_deref())?,
            },
            What::Capture { job, base } => {
                Report::Captured { feature, job: job.clone(), outcome: self.capture(job, base)? }
            }
            What::Rollback { to, base } => {
                Report::RolledBack { feature, to: *to, outcome: self.roll_back(*to, base)? }
            }
            What::Inspect { base, commit } => Report::Inspected {
                feature,
                commit: commit.clone(),
                outcome: self.inspect(base, commit)?,
            },
            What::Merge { commit, reverts } => {
                Report::Merge { feature, outcome: self.merge(commit, *reverts)? }
            }
            What::Update { merged } => Report::Update {
                feature,
                commit: merged.commit.clone(),
                outcome: self.update(merged)?,
            },
            What::AwaitClean { commit } => match self.in_the_way(commit)? {
                None => Report::TargetClean { feature },
                Some((paths, why)) if self.is_told(&paths, &why) => return Ok(None),
                Some((paths, why)) => Report::TargetDirty { feature, paths, why },
            },
            What::AwaitRepo => {
                self.repos.serve(&self.target)?;
                Report::RepoFree { feature }
            }
            What::AwaitRemote if self.remote_is_silent()? => return Ok(None),
            What::AwaitRemote => Report::RemoteBack { feature },
        }))
    }
}
