//! Snapshots of the played worktrees, and going back to one.

use tidegate_core::ids::FeatureId;
use tidegate_core::run::{CaptureOutcome, Captured, Effect, Report, RollbackOutcome};
use tidegate_daemon::engine::Target;

use super::course::World;

impl World {
    /// Does a piece of work about snapshots.
    pub(super) fn capture_work(
        &mut self,
        target: &Target,
        effect: &Effect,
        refused: Option<String>,
    ) -> Option<Report> {
        match effect {
            Effect::WatchWorktree { feature, job, .. } | Effect::Capture { feature, job, .. } => {
                let outcome = match refused {
                    Some(why) => CaptureOutcome::Skipped { why },
                    None => self.capture(target, feature),
                };
                Some(Report::Captured { feature: feature.clone(), job: job.clone(), outcome })
            }
            Effect::Rollback { feature, to, .. } => {
                let outcome = match refused {
                    Some(detail) => RollbackOutcome::Failed { detail },
                    None => self.roll_back(target, feature, *to),
                };
                Some(Report::RolledBack { feature: feature.clone(), to: *to, outcome })
            }
            _ => None,
        }
    }

    /// A number for each state of a branch and its worktree; the last one says it all as long as
    /// nothing changes.
    fn capture(&mut self, target: &Target, feature: &FeatureId) -> CaptureOutcome {
        let Some(repo) = self.repos.get_mut(&target.place.common_dir) else {
            return CaptureOutcome::Skipped { why: "there is no worktree".to_owned() };
        };
        let name = (target.run.id.clone(), feature.clone());
        let Some(branch) = repo.branches.get(&name).cloned() else {
            return CaptureOutcome::Skipped { why: "there is no worktree".to_owned() };
        };
        let commit = branch.tip.clone();
        let all = repo.snapshots.entry(name).or_default();
        if all.last() == Some(&branch) {
            return CaptureOutcome::Skipped { why: "nothing has changed".to_owned() };
        }
        all.push(branch);
        let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
        CaptureOutcome::Taken(Captured { number, commit, files: 1, left_out: 0, cost_ms: 1 })
    }

    fn roll_back(&mut self, target: &Target, feature: &FeatureId, to: u32) -> RollbackOutcome {
        let captured = match self.capture(target, feature) {
            CaptureOutcome::Taken(captured) => Some(captured),
            CaptureOutcome::Skipped { .. } => None,
        };
        let missing = || RollbackOutcome::Failed { detail: "no such snapshot".to_owned() };
        let Some(repo) = self.repos.get_mut(&target.place.common_dir) else { return missing() };
        let name = (target.run.id.clone(), feature.clone());
        let at = usize::try_from(to).unwrap_or(0);
        let snapshot = repo.snapshots.get(&name).and_then(|all| all.get(at.checked_sub(1)?));
        let Some(snapshot) = snapshot.cloned() else { return missing() };
        repo.branches.insert(name, snapshot);
        self.meet("a rollback");
        RollbackOutcome::Done { captured }
    }
}
