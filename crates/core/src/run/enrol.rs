//! Features that join a plan run that is under way: they belong to its present wave, and are what
//! they would be had its plan named them.

use std::collections::BTreeMap;

use super::barrier::Barrier;
use super::event::Event;
use super::feature::Feature;
use super::input::Rejected;
use super::state::{Run, Work};
use super::step::Draft;
use crate::ids::{AgentName, FeatureId, GateName};
use crate::plan::{AgentSpec, FeatureSpec, GateSpec, WaveSpec};

/// Features, and what they name that the run's plan has not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Added {
    /// The features.
    pub features: BTreeMap<FeatureId, FeatureSpec>,
    /// Agents that they name.
    pub agents: BTreeMap<AgentName, AgentSpec>,
    /// Gates that they name, and all that these need.
    pub gates: BTreeMap<GateName, GateSpec>,
}

impl Run {
    /// A feature that is there stays as it is, and so do agents and gates.
    pub(super) fn apply_added(&mut self, wave: u32, added: &Added) {
        let Work::Plan { spec, state } = &mut self.work else { return };
        for (name, agent) in &added.agents {
            spec.agents.entry(name.clone()).or_insert_with(|| agent.clone());
        }
        for (name, gate) in &added.gates {
            spec.gates.entry(name.clone()).or_insert_with(|| gate.clone());
        }
        if !spec.waves.iter().any(|one| one.number == wave) {
            let name = String::new();
            spec.waves.push(WaveSpec { number: wave, name, features: Vec::new() });
        }
        for (id, feature) in &added.features {
            if spec.features.contains_key(id) {
                continue;
            }
            spec.features.insert(id.clone(), feature.clone());
            state.features.insert(id.clone(), Feature::default());
            if let Some(wave) = spec.waves.iter_mut().find(|one| one.number == wave) {
                wave.features.push(id.clone());
            }
        }
    }
}

impl Draft {
    /// Takes features into the wave that is open, or into the last one.
    pub(super) fn add_features(&mut self, added: &Added, actor: &str) -> Result<(), Rejected> {
        self.require_going_on()?;
        let (spec, plan) = self.run.plan().ok_or(Rejected::Unknown("plan"))?;
        if added.features.is_empty() {
            return Err(Rejected::Unknown("feature"));
        }
        if added.features.keys().any(|id| spec.features.contains_key(id)) {
            return Err(Rejected::Already("a feature of the run"));
        }
        let last = spec.waves.last().map_or(1, |wave| wave.number);
        let wave = Barrier::of(spec, plan).open().unwrap_or(last);
        let (added, actor) = (Box::new(added.clone()), actor.to_owned());
        self.emit(Event::FeaturesAdded { wave, added, actor });
        Ok(())
    }
}
