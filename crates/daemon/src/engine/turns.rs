//! Commands about turns: holds and priorities of runs, pauses of queues. Each may be repeated: the
//! answer says whether it was so already.

use serde_json::{Value, json};
use tidegate_core::home::HomeEvent;
use tidegate_core::ids::RunId;
use tidegate_core::pause::{Pause, Scope};
use tidegate_core::run::{Input, Run};

use super::requests::{AtWork, Failed, Outcome, not_found};

impl AtWork<'_, '_, '_, '_> {
    /// Holds a run, or releases it.
    pub(super) fn hold(
        &mut self,
        id: &RunId,
        held: bool,
        reason: Option<&str>,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let run = self.find(id)?;
        if run.hold.is_some() == held && (held || !run.status.is_terminal()) {
            return Ok(as_it_was(&run));
        }
        let (actor, reason) = (actor.to_owned(), reason.map(str::to_owned));
        let input = if held { Input::Hold { actor, reason } } else { Input::Release { actor } };
        let outcome = self.input(id, &input)?;
        Ok(told(outcome, id))
    }

    /// Changes a run's place among those of its queue.
    pub(super) fn prioritise(
        &mut self,
        id: &RunId,
        priority: i32,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let run = self.find(id)?;
        if run.priority == priority && !run.status.is_terminal() {
            return Ok(as_it_was(&run));
        }
        let outcome = self.input(id, &Input::Prioritise { priority, actor: actor.to_owned() })?;
        Ok(told(outcome, id))
    }

    /// Pauses queues. The first pause of a scope stands: who paused it, and why.
    pub(super) fn pause_lanes(
        &mut self,
        scope: &Scope,
        reason: Option<&str>,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        self.known(scope)?;
        let mut outcome = Outcome::default();
        let known = self.stage.home().pauses.get(scope).cloned();
        let already = known.is_some();
        if !already {
            let reason = reason.map(str::to_owned);
            let pause = Pause { by: actor.to_owned(), at: self.now.wall, reason };
            let event = HomeEvent::LanePaused { scope: scope.clone(), pause };
            self.record(event, &mut outcome)?;
        }
        let live = self.stage.running().into_iter().filter(|run| scope.covers(&run.queue));
        let running: Vec<&str> = live.map(|run| run.id.as_str()).collect();
        outcome.data = json!({
            "scope": scope.name(),
            "project": scope.project.as_ref().map(tidegate_core::ids::ProjectId::as_str),
            "lane": scope.lane.as_ref().map(tidegate_core::ids::LaneName::as_str),
            "paused": true,
            "already": already,
            "running": running,
        });
        Ok(outcome)
    }

    /// Ends the pause of a scope. Queues that another pause covers stay paused: it says so.
    pub(super) fn resume_lanes(&mut self, scope: &Scope, actor: &str) -> Result<Outcome, Failed> {
        self.known(scope)?;
        let mut outcome = Outcome::default();
        let already = !self.stage.home().pauses.contains_key(scope);
        if !already {
            let (actor, at) = (actor.to_owned(), self.now.wall);
            let event = HomeEvent::LaneResumed { scope: scope.clone(), actor, at };
            self.record(event, &mut outcome)?;
        }
        let rest = self.stage.home().pauses.keys().filter(|other| *other != scope);
        let rest: Vec<String> = rest.filter(|other| meets(other, scope)).map(Scope::name).collect();
        outcome.data = json!({
            "scope": scope.name(),
            "project": scope.project.as_ref().map(tidegate_core::ids::ProjectId::as_str),
            "lane": scope.lane.as_ref().map(tidegate_core::ids::LaneName::as_str),
            "paused": false,
            "already": already,
            "stillPaused": rest,
        });
        Ok(outcome)
    }

    fn known(&self, scope: &Scope) -> Result<(), Failed> {
        let Some(project) = &scope.project else { return Ok(()) };
        if self.stage.home().projects.contains_key(project) {
            return Ok(());
        }
        let problem = not_found("project", project.as_str());
        Err(problem.hint("`tidegate project list` has the projects").into())
    }
}

/// Whether a queue could be covered by both.
fn meets(one: &Scope, other: &Scope) -> bool {
    let projects = one.project.is_none() || other.project.is_none() || one.project == other.project;
    let lanes = one.lane.is_none() || other.lane.is_none() || one.lane == other.lane;
    projects && lanes
}

fn as_it_was(run: &Run) -> Outcome {
    Outcome { data: document(run, true), ..Outcome::default() }
}

fn told(mut outcome: Outcome, id: &RunId) -> Outcome {
    if let Some((_, run)) = &outcome.moved {
        debug_assert_eq!(run.id, *id, "BUG: an input moves its own run");
        outcome.data = document(run, false);
    }
    outcome
}

fn document(run: &Run, already: bool) -> Value {
    let live = run.jobs.values().filter(|job| job.state.is_live()).count();
    json!({
        "runId": run.id.as_str(),
        "status": run.status.word(),
        "held": run.hold.is_some(),
        "priority": run.priority,
        "liveJobs": live,
        "already": already,
    })
}
