//! Features that are launched: they join the lane's active run, or make a run in its background.

use serde_json::{Value, json};
use tidegate_core::ids::{FeatureId, QueueKey, RunId};
use tidegate_core::run::{Added, Input, Run, Work};
use tidegate_protocol::{ErrorCode, Problem};

use super::command::{Launch, LaunchWay};
use super::open::OpenBackground;
use super::requests::{AtWork, Failed, Outcome};

impl AtWork<'_, '_, '_, '_> {
    /// Has features built.
    pub(super) fn launch(&mut self, launch: &Launch) -> Result<Outcome, Failed> {
        let mut outcome = Outcome::default();
        let project = self.register(&launch.place, &mut outcome)?;
        let queue = QueueKey { project, lane: launch.lane.clone(), adhoc: None };
        let active = self.stage.active_of(&queue).cloned();
        let moved = || {
            let message = "the lane has changed since it was looked at";
            Err(Problem::new(ErrorCode::VersionConflict, message).into())
        };
        let done = match (&active, &launch.way) {
            (Some(run), _) if run.plan().is_none() => {
                let message = format!("run {} of the lane is a launcher's: it takes none", run.id);
                return Err(Problem::new(ErrorCode::RunAlreadyActive, message)
                    .hint("wait for its end, or name another lane")
                    .with("run_id", run.id.as_str())
                    .into());
            }
            (Some(active), LaunchWay::Join { run, added, blobs }) if active.id == *run => {
                for (id, bytes) in blobs {
                    self.write.put_blob(id, bytes)?;
                }
                self.join(active, added, launch)?
            }
            (None, LaunchWay::Start(submit)) => {
                let background = self.stage.background_of(&queue);
                if let Some((background, run)) = background {
                    beside(background, run, launch)?
                } else {
                    of_start(self.submit(submit)?, launch)
                }
            }
            (Some(_) | None, LaunchWay::Join { .. } | LaunchWay::Start(_) | LaunchWay::Nowhere) => {
                return moved();
            }
        };
        outcome.home.extend(done.home);
        Ok(Outcome { home: outcome.home, ..done })
    }

    /// Those that the run has already are left as they are, when they are the same.
    fn join(&mut self, run: &Run, added: &Added, launch: &Launch) -> Result<Outcome, Failed> {
        let Work::Plan { spec, .. } = &run.work else { return Ok(Outcome::default()) };
        let has = |id: &&FeatureId| spec.features.contains_key(*id);
        let known: Vec<&FeatureId> = added.features.keys().filter(has).collect();
        let others =
            known.iter().filter(|id| spec.features[**id].prompt != added.features[**id].prompt);
        let others: Vec<&str> = others.map(|id| id.as_str()).collect();
        if !others.is_empty() {
            let message = format!("run {} has other features of these names", run.id);
            return Err(Problem::new(ErrorCode::CollisionDetected, message)
                .hint("give them other ids")
                .with("feature_ids", others)
                .with("run_id", run.id.as_str())
                .into());
        }
        let mut fresh = added.clone();
        fresh.features.retain(|id, _| !spec.features.contains_key(id));
        let enrolled: Vec<&str> = fresh.features.keys().map(FeatureId::as_str).collect();
        let data = json!({
            "mode": "active_run_enrollment",
            "request": "add_features",
            "run_id": run.id.as_str(),
            "runId": run.id.as_str(),
            "owner": run.supervisor,
            "feature_ids": ids(&launch.features),
            "requested_features": ids(&launch.features),
            "enrolled": enrolled,
            "already_enrolled": known.iter().map(|id| id.as_str()).collect::<Vec<_>>(),
            "handoff_started": true,
            "handoff_target": "active_run",
            "started": !enrolled.is_empty(),
            "already_running": enrolled.is_empty(),
        });
        if fresh.features.is_empty() {
            return Ok(Outcome { data, about: Some(run.id.clone()), ..Outcome::default() });
        }
        let (added, actor) = (Box::new(fresh), launch.actor.clone());
        let outcome = self.input(&run.id, &Input::AddFeatures { added, actor })?;
        Ok(Outcome { data, ..outcome })
    }
}

fn ids(features: &[FeatureId]) -> Vec<&str> {
    features.iter().map(FeatureId::as_str).collect()
}

/// Other work is under way in the background of the lane, or the very same.
fn beside(background: &OpenBackground, run: &Run, launch: &Launch) -> Result<Outcome, Failed> {
    let same = background.verb == "launch.submit" && background.features == ids(&launch.features);
    if !same {
        return Err(busy(background).into());
    }
    let data = started(&run.id, launch, true);
    Ok(Outcome { data, about: Some(run.id.clone()), ..Outcome::default() })
}

/// The refusal while other work is under way in the background of the lane.
pub(super) fn busy(background: &OpenBackground) -> Problem {
    let message = format!("{} works in the background of the lane", background.verb);
    Problem::new(ErrorCode::RuntimeBusy, message)
        .with("active_command", background.verb.as_str())
        .with("active_request_id", background.id.as_str())
        .with("active_feature_id", background.feature.as_ref().map(FeatureId::as_str))
        .with("active_run_id", background.run.as_str())
}

fn of_start(outcome: Outcome, launch: &Launch) -> Outcome {
    let run = outcome.moved.as_ref().map(|(_, run)| run.id.clone());
    let data = run.map_or(Value::Null, |run| started(&run, launch, false));
    Outcome { data, background: true, ..outcome }
}

fn started(run: &RunId, launch: &Launch, already: bool) -> Value {
    json!({
        "mode": "runtime_start",
        "run_id": run.as_str(),
        "runId": run.as_str(),
        "feature_id": launch.features.first().map(FeatureId::as_str),
        "feature_ids": ids(&launch.features),
        "requested_features": ids(&launch.features),
        "request_status": "started",
        "handoff_started": true,
        "handoff_target": "runtime",
        "started": !already,
        "already_running": already,
    })
}
