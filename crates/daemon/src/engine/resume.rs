//! Going on with one feature: in the run that has it, else in a run in the background of its lane.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tidegate_core::home::Place;
use tidegate_core::ids::{FeatureId, LaneName, QueueKey, RunId};
use tidegate_core::run::{FeatureState, Input, Plan, Run, Work};
use tidegate_protocol::{ErrorCode, Problem};

use super::launch::busy;
use super::requests::{AtWork, Failed, First, Outcome};

impl AtWork<'_, '_, '_, '_> {
    /// Goes on with a feature.
    pub(super) fn resume_feature(
        &mut self,
        place: &Place,
        lane: &LaneName,
        feature: &FeatureId,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let mut outcome = Outcome::default();
        let project = self.register(place, &mut outcome)?;
        let has = |run: &&Run| {
            run.queue.project == project
                && run.plan().is_some_and(|(spec, _)| spec.features.contains_key(feature))
        };
        let active = self.stage.running().into_iter().filter(has);
        // The lane that was named comes first.
        let active = active.max_by_key(|run| run.queue.lane == *lane).cloned();
        let done = if let Some(run) = active {
            self.resume_in(&run, feature, actor)?
        } else {
            let queue = QueueKey { project, lane: lane.clone(), adhoc: None };
            self.resume_beside(queue, feature, actor)?
        };
        outcome.home.extend(done.home);
        Ok(Outcome { home: outcome.home, ..done })
    }

    fn resume_in(
        &mut self,
        run: &Run,
        feature: &FeatureId,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let input = if run.hold.is_some() {
            Some(Input::Release { actor: actor.to_owned() })
        } else if stands_still(run, feature)? {
            Some(Input::RetryFeature { feature: feature.clone(), actor: actor.to_owned() })
        } else {
            None
        };
        let data = json!({
            "mode": "active_run",
            "run_id": run.id.as_str(),
            "runId": run.id.as_str(),
            "feature_id": feature.as_str(),
            "handoff_started": true,
            "handoff_target": "active_run",
            "started": input.is_some(),
            "already_running": input.is_none(),
        });
        match input {
            Some(input) => Ok(Outcome { data, ..self.input(&run.id, &input)? }),
            None => Ok(Outcome { data, about: Some(run.id.clone()), ..Outcome::default() }),
        }
    }

    fn resume_beside(
        &mut self,
        queue: QueueKey,
        feature: &FeatureId,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        if let Some((background, run)) = self.stage.background_of(&queue) {
            let same = background.features.iter().any(|id| id == feature.as_str());
            if !same {
                return Err(busy(background).into());
            }
            let data = started(&run.id, feature, true);
            return Ok(Outcome { data, about: Some(run.id.clone()), ..Outcome::default() });
        }
        let newest = self.write.view().newest_run_with(&queue.project, feature)?;
        let Some(newest) = newest else {
            let message =
                format!("no run of project `{}` has a feature `{feature}`", queue.project);
            return Err(Problem::not_found(message).into());
        };
        let old = self.find(&newest)?;
        if !old.status.is_terminal() {
            // It waits in its queue, and has the feature.
            let data = started(&old.id, feature, true);
            return Ok(Outcome { data, about: Some(old.id.clone()), ..Outcome::default() });
        }
        let Some(work) = only(&old.work, feature) else {
            let message = format!("`{feature}` of run {} has landed", old.id);
            return Err(Problem::new(ErrorCode::InvalidStatusTransition, message).into());
        };
        let (env, parent) = (old.env.clone(), Some(old.id.clone()));
        let run = self.create(First { queue, actor, env, parent, priority: old.priority, work })?;
        let data = started(&run.id, feature, false);
        Ok(Outcome { data, moved: Some((None, run)), background: true, ..Outcome::default() })
    }
}

/// Whether a feature waits for somebody to have it go on.
fn stands_still(run: &Run, id: &FeatureId) -> Result<bool, Problem> {
    let feature = run.plan().and_then(|(_, plan)| plan.features.get(id));
    let Some(feature) = feature else { return Ok(false) };
    match &feature.state {
        FeatureState::Blocked(_) | FeatureState::Failed { .. } => Ok(true),
        FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Landing(_) => Ok(feature.wait.is_some()),
        FeatureState::Landed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => {
            let message = format!("`{id}` of run {} is {}", run.id, feature.state.word());
            Err(Problem::new(ErrorCode::InvalidStatusTransition, message))
        }
    }
}

/// The work of one feature and of what it needs; `None` when it has landed.
fn only(work: &Work, feature: &FeatureId) -> Option<Work> {
    let Work::Plan { spec, state } = work else { return None };
    if state.is_landed(feature) {
        return None;
    }
    let mut wanted = BTreeSet::new();
    let mut open = vec![feature.clone()];
    while let Some(id) = open.pop() {
        let Some(of_spec) = spec.features.get(&id).filter(|_| !state.is_landed(&id)) else {
            continue;
        };
        if wanted.insert(id) {
            open.extend(of_spec.needs.iter().cloned());
        }
    }
    let mut spec = spec.clone();
    spec.features.retain(|id, _| wanted.contains(id));
    for wave in &mut spec.waves {
        wave.features.retain(|id| wanted.contains(id));
    }
    spec.waves.retain(|wave| !wave.features.is_empty());
    for one in spec.features.values_mut() {
        one.needs.retain(|need| wanted.contains(need));
    }
    let state = Plan::new(&spec);
    Some(Work::Plan { spec, state })
}

fn started(run: &RunId, feature: &FeatureId, already: bool) -> Value {
    json!({
        "command": "resume",
        "run_id": run.as_str(),
        "runId": run.as_str(),
        "feature_id": feature.as_str(),
        "feature_ids": [feature.as_str()],
        "handoff_started": true,
        "handoff_target": "runtime",
        "started": !already,
        "already_running": already,
    })
}
