//! Features that join a plan run under way, as its people launch them.

use std::collections::BTreeMap;

use tidegate_core::ids::FeatureId;
use tidegate_core::run::{Added, Run};
use tidegate_daemon::engine::{Command, Launch, LaunchWay};
use tidegate_store::blob_id;

use super::course::World;

/// Features that a run has at the most before nobody adds one.
const FEATURES_MAX: usize = 10;

impl World {
    /// Launches a feature like one of a run's own, now and then.
    pub(super) fn launch_more(&mut self, runs: &[Run]) {
        if self.calm {
            return;
        }
        for run in runs {
            let Some((spec, plan)) = run.plan() else { continue };
            let joins = run.queue.adhoc.is_none() && plan.features.len() < FEATURES_MAX;
            if !joins || run.status.is_terminal() || !self.dice.percent(6) {
                continue;
            }
            let known = self.daemon.as_ref().map(|daemon| daemon.engine.home().projects.clone());
            let place = known.unwrap_or_default().remove(&run.queue.project);
            let like = spec.features.values().next().cloned();
            let id = FeatureId::new(format!("j{}", self.dice.below(6)));
            let (Some(place), Some(mut feature), Ok(id)) = (place, like, id) else { continue };
            let prompt = format!("Make {id}.").into_bytes();
            feature.prompt = blob_id(&prompt);
            feature.needs.clear();
            let blobs = vec![(feature.prompt.clone(), prompt)];
            let features = BTreeMap::from([(id.clone(), feature)]);
            let added = Box::new(Added { features, ..Added::default() });
            let way = LaunchWay::Join { run: run.id.clone(), added, blobs };
            let (lane, actor) = (run.queue.lane.clone(), "person".to_owned());
            self.meet("a feature that joins");
            let launch = Launch { place, lane, features: vec![id], actor, way };
            self.order("person", Command::Launch(Box::new(launch)));
        }
    }
}
