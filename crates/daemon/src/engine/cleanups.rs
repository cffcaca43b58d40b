//! Clean-ups in the log: asked for, each removal before it is done, and the end. What undoes one: a worktree put back.

use serde_json::json;
use tidegate_core::cleanup::{CleanupEnd, CleanupScope, Removal, Restoration};
use tidegate_core::command::Awaits;
use tidegate_core::home::HomeEvent;
use tidegate_core::ids::RunId;
use tidegate_protocol::{ErrorCode, Problem};

use super::requests::{AtWork, Failed, Outcome, not_found};

impl AtWork<'_, '_, '_, '_> {
    /// Records that a clean-up is wanted: from here on it is done, whatever dies.
    pub(super) fn clean_up(
        &mut self,
        scope: &CleanupScope,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        if let Some(project) = &scope.project
            && !self.stage.home().projects.contains_key(project)
        {
            let problem = not_found("project", project.as_str());
            return Err(problem.hint("`tidegate project list` has the projects").into());
        }
        if let Some(id) = &scope.run {
            self.has_ended(id, &format!("wait for it, or `tidegate cancel {id}`"))?;
        }
        let mut outcome = Outcome::default();
        let number = self.write.next_seq();
        let (scope, actor, at) = (scope.clone(), actor.to_owned(), self.now.wall);
        self.record(HomeEvent::CleanupAsked { number, scope, actor, at }, &mut outcome)?;
        outcome.data = json!({ "cleanup": number });
        Ok(outcome.until(Awaits::Cleanup(number)))
    }

    /// Records a removal before it is done.
    pub(super) fn record_removal(
        &mut self,
        number: u64,
        removal: &Removal,
    ) -> Result<Outcome, Failed> {
        self.is_open(number)?;
        let mut outcome = Outcome::default();
        let removal = Box::new(removal.clone());
        self.record(HomeEvent::RemovalProved { number, removal }, &mut outcome)?;
        Ok(outcome)
    }

    /// Records the end of a clean-up.
    pub(super) fn end_cleanup(&mut self, number: u64, end: &CleanupEnd) -> Result<Outcome, Failed> {
        self.is_open(number)?;
        let mut outcome = Outcome::default();
        self.record(HomeEvent::CleanupEnded { number, end: end.clone() }, &mut outcome)?;
        let kept = end.kept.len() as u64 + end.kept_more;
        let data = json!({ "cleanup": number, "kept": kept });
        outcome.told = Some((Awaits::Cleanup(number), Ok(data)));
        Ok(outcome)
    }

    fn has_ended(&self, id: &RunId, hint: &str) -> Result<(), Failed> {
        if self.find(id)?.status.is_terminal() {
            return Ok(());
        }
        let message = format!("run {id} has not ended");
        Err(Problem::new(ErrorCode::InvalidStatusTransition, message).hint(hint).into())
    }

    /// Records that a worktree of an ended run is to be put back.
    pub(super) fn restore(
        &mut self,
        restoration: &Restoration,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let Restoration { run, feature, .. } = restoration;
        self.has_ended(run, "`tidegate rollback` puts back the worktree of a running one")?;
        let mut outcome = Outcome::default();
        let number = self.write.next_seq();
        outcome.data = json!({
            "restore": number,
            "runId": run.as_str(),
            "feature": feature.as_str(),
            "snapshot": restoration.snapshot,
        });
        let (restoration, actor, at) = (restoration.clone(), actor.to_owned(), self.now.wall);
        self.record(HomeEvent::RestoreAsked { number, restoration, actor, at }, &mut outcome)?;
        Ok(outcome.until(Awaits::Restore(number)))
    }

    /// Records the end of that.
    pub(super) fn end_restore(
        &mut self,
        number: u64,
        failure: Option<&String>,
    ) -> Result<Outcome, Failed> {
        if !self.stage.home().restorations.contains_key(&number) {
            return Err(not_found("restore that has not ended", &number.to_string()).into());
        }
        let mut outcome = Outcome::default();
        self.record(HomeEvent::RestoreEnded { number, failure: failure.cloned() }, &mut outcome)?;
        let answer = match failure {
            None => Ok(json!({ "restore": number })),
            Some(why) => Err(Problem::new(ErrorCode::Io, why.as_str())),
        };
        outcome.told = Some((Awaits::Restore(number), answer));
        Ok(outcome)
    }

    fn is_open(&self, number: u64) -> Result<(), Failed> {
        if self.stage.home().cleanups.contains_key(&number) {
            return Ok(());
        }
        Err(not_found("clean-up that has not ended", &number.to_string()).into())
    }
}
