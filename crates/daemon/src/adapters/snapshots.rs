//! Snapshots of worktrees: from time to time while an agent works, at the end of each attempt, and
//! before a worktree is put back to one of them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidegate_core::ids::{JobId, Oid, RunId};
use tidegate_core::limits::{SNAPSHOT_EVERY_MS, SNAPSHOT_REST};
use tidegate_core::run::{CaptureOutcome, Captured, EffectKey, JobState, Report, RollbackOutcome};
use tidegate_git as git;
use tidegate_git::{GitError, SnapshotOutcome, Vault};

use super::features::{Work, seconds};

/// How long a snapshot waits for another one that is being taken.
const BUSY: Duration = Duration::from_millis(500);

impl Work {
    fn series(&self) -> String {
        format!("{}/{}", self.target.run.id, self.feature)
    }

    fn snapshot_request(&self, base: &Oid, reason: &str) -> Result<git::SnapshotRequest, GitError> {
        let plan = self.target.run.plan().map(|(_, plan)| plan);
        let feature = plan.and_then(|plan| plan.features.get(&self.feature));
        let worktree = feature.and_then(|feature| feature.worktree.as_ref());
        let missing = || GitError::Missing { what: format!("a worktree of {}", self.feature) };
        Ok(git::SnapshotRequest {
            series: self.series(),
            worktree: PathBuf::from(worktree.ok_or_else(missing)?),
            base: base.clone(),
            branch: self.branch(),
            when_unix_s: seconds(),
            reason: reason.to_owned(),
        })
    }

    fn vault(&self, repo: &git::Repo) -> Result<Vault, GitError> {
        Vault::create(repo, &self.ctx.snapshots(&self.target.run.queue.project))
    }

    /// Takes a snapshot. It writes to the home alone, so the repository need not be served.
    fn take(&self, base: &Oid, reason: &str) -> Result<SnapshotOutcome, GitError> {
        let repo = self.repos.open(&self.target)?;
        let request = self.snapshot_request(base, reason)?;
        self.vault(&repo)?.take(&repo, &request)
    }

    /// Captures what an agent left that has ended.
    pub(super) fn capture(&self, job: &JobId, base: &Oid) -> Result<CaptureOutcome, GitError> {
        Ok(match self.take(base, &format!("job {} has ended", job.number()))? {
            SnapshotOutcome::Taken(snapshot) => CaptureOutcome::Taken(captured(&snapshot)),
            SnapshotOutcome::Unchanged { number, .. } => CaptureOutcome::Skipped {
                why: format!("nothing has changed since snapshot {number}"),
            },
            SnapshotOutcome::NoWorktree => {
                CaptureOutcome::Skipped { why: "the worktree is gone".to_owned() }
            }
        })
    }

    /// Puts the worktree back to a snapshot.
    pub(super) fn roll_back(&self, to: u32, base: &Oid) -> Result<RollbackOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let capture = self.snapshot_request(base, &format!("before a rollback to {to}"))?;
        let request = git::RestoreRequest {
            number: to,
            worktree: git::WorktreeRequest {
                path: capture.worktree.clone(),
                branch: self.branch(),
                base: base.clone(),
                keep_base_as: self.keep("base"),
                sync: None,
                furnishing: self.furnishing(),
                discard: None,
            },
            capture,
            keep_tips_below: self.keep("kept"),
        };
        let outcome = self.vault(&repo)?.restore_worktree(&repo, &request)?;
        Ok(RollbackOutcome::Done {
            captured: match &outcome.captured {
                SnapshotOutcome::Taken(snapshot) => Some(captured(snapshot)),
                SnapshotOutcome::Unchanged { .. } | SnapshotOutcome::NoWorktree => None,
            },
        })
    }
}

fn captured(snapshot: &git::Snapshot) -> Captured {
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Captured {
        number: snapshot.number,
        commit: snapshot.commit.clone(),
        files: count(snapshot.files),
        left_out: count(snapshot.left_out.len()).saturating_add(snapshot.left_out_more),
        cost_ms: u64::try_from(snapshot.cost.as_millis()).unwrap_or(u64::MAX),
    }
}

/// The snapshots of one worktree in which an agent works: each is followed by the next, until
/// nobody wants them any more.
pub(super) struct Watch {
    pub(super) work: Work,
    pub(super) job: JobId,
    pub(super) base: Oid,
    pub(super) name: (RunId, EffectKey),
    pub(super) wanted: Arc<Mutex<BTreeSet<(RunId, EffectKey)>>>,
    /// Held while one is taken: one at a time.
    pub(super) one: Arc<Mutex<()>>,
}

impl Watch {
    /// Plans the first one. An agent that was adopted at work may have written a lot since the
    /// last one.
    pub(super) fn begin(self) {
        let state = self.work.target.run.jobs.get(&self.job).map(|job| &job.state);
        let adopted = state.is_some_and(|state| matches!(state, JobState::Running(_)));
        let wait = if adopted { Duration::ZERO } else { self.every() };
        self.after(wait);
    }

    fn every(&self) -> Duration {
        let plan = self.work.target.run.plan();
        let every = plan.and_then(|(spec, _)| spec.snapshot_every_ms);
        Duration::from_millis(every.unwrap_or(SNAPSHOT_EVERY_MS))
    }

    fn after(self, wait: Duration) {
        let workers = self.work.ctx.workers.clone();
        workers.after(wait, move || self.tick());
    }

    fn is_wanted(&self) -> bool {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.name)
    }

    fn tick(self) {
        if !self.is_wanted() {
            return;
        }
        let one = Arc::clone(&self.one);
        let Ok(_one) = one.try_lock() else { return self.after(BUSY) };
        let cost = match self.work.take(&self.base, &format!("job {} at work", self.job.number())) {
            Ok(SnapshotOutcome::Taken(snapshot)) => {
                let (feature, job) = (self.work.feature.clone(), self.job.clone());
                let outcome = CaptureOutcome::Taken(captured(&snapshot));
                let report = Report::Captured { feature, job, outcome };
                self.work.ctx.answer(&self.name.0, &self.name.1, report);
                snapshot.cost
            }
            Ok(SnapshotOutcome::Unchanged { cost, .. }) => cost,
            // Its end tells, by the job.
            Ok(SnapshotOutcome::NoWorktree) => Duration::ZERO,
            Err(error) => {
                tracing::warn!(effect = %self.name.1, %error, "no snapshot was taken");
                Duration::ZERO
            }
        };
        let wait = self.every().max(cost * SNAPSHOT_REST);
        self.after(wait);
    }
}
