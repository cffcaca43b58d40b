//! The rows of the parts of a run: features, jobs, agents.

use std::collections::BTreeMap;

use tidegate_core::ids::{AgentId, FeatureId, JobId};
use tidegate_core::launcher::Registered;
use tidegate_core::run::{Feature, Job, Run};

/// A feature of a plan run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureRow {
    /// Its id.
    pub id: FeatureId,
    /// Its place in the plan, from 0.
    pub position: u32,
    /// The number of its wave.
    pub wave: u32,
    /// A line for people.
    pub title: String,
    /// Where it stands.
    pub feature: Feature,
}

/// A job of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Its id.
    pub id: JobId,
    /// What it is for and where it stands.
    pub job: Job,
}

/// An agent of a launcher run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// Its id.
    pub id: AgentId,
    /// Its job, when Tidegate started it.
    pub job: Option<JobId>,
    /// What its launcher told of it, when it did.
    pub registered: Option<Registered>,
}

/// The features of a run in the order of its plan.
pub(crate) fn features_of(run: &Run) -> Vec<FeatureRow> {
    let Some((spec, plan)) = run.plan() else { return Vec::new() };
    (0..)
        .zip(spec.in_order())
        .filter_map(|(position, (wave, id))| {
            Some(FeatureRow {
                id: id.clone(),
                position,
                wave,
                title: spec.features.get(id)?.title.clone(),
                feature: plan.features.get(id)?.clone(),
            })
        })
        .collect()
}

/// The jobs of a run by number.
pub(crate) fn jobs_of(run: &Run) -> Vec<JobRow> {
    run.jobs.iter().map(|(id, job)| JobRow { id: id.clone(), job: job.clone() }).collect()
}

/// The agents of a launcher run by id.
pub(crate) fn agents_of(run: &Run) -> Vec<AgentRow> {
    let Some((_, launcher)) = run.launcher() else { return Vec::new() };
    let mut agents: BTreeMap<&AgentId, AgentRow> = BTreeMap::new();
    let blank = |id: &AgentId| AgentRow { id: id.clone(), job: None, registered: None };
    for (id, job) in &launcher.started {
        agents.entry(id).or_insert_with(|| blank(id)).job = Some(job.clone());
    }
    for (id, registered) in &launcher.registered {
        agents.entry(id).or_insert_with(|| blank(id)).registered = Some(registered.clone());
    }
    agents.into_values().collect()
}
