//! Clean-ups in the log: asked for, each removal before it is done, and the end.

use serde_json::json;
use tidegate_core::cleanup::{CleanupEnd, CleanupScope, Removal};
use tidegate_core::home::HomeEvent;
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
            let run = self.find(id)?;
            if !run.status.is_terminal() {
                let message = format!("run {id} has not ended");
                let hint = format!("wait for it, or `tidegate cancel {id}`");
                return Err(Problem::new(ErrorCode::InvalidStatusTransition, message)
                    .hint(hint)
                    .into());
            }
        }
        let mut outcome = Outcome::default();
        let number = self.write.next_seq();
        let (scope, actor, at) = (scope.clone(), actor.to_owned(), self.now.wall);
        self.record(HomeEvent::CleanupAsked { number, scope, actor, at }, &mut outcome)?;
        outcome.data = json!({ "cleanup": number });
        Ok(outcome)
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
        Ok(outcome)
    }

    fn is_open(&self, number: u64) -> Result<(), Failed> {
        if self.stage.home().cleanups.contains_key(&number) {
            return Ok(());
        }
        Err(not_found("clean-up that has not ended", &number.to_string()).into())
    }
}
