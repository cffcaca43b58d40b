//! What a launcher's files and agents lead to.

use super::event::Event;
use super::input::{Ingested, Rejected};
use super::state::Purpose;
use super::step::Draft;
use crate::ids::AgentId;
use crate::launcher::{AgentDisposition, AgentEnd};

impl Draft {
    pub(super) fn ingested(&mut self, ingested: &Ingested) -> Result<(), Rejected> {
        let (_, launcher) = self.run.launcher().ok_or(Rejected::Unknown("launcher"))?;
        if launcher.settled.is_some() {
            return Err(Rejected::Late("the run's result is recorded"));
        }
        self.ingest(ingested);
        self.decide_fate();
        Ok(())
    }

    /// Records what is new in a launcher's files; each fact once.
    pub(super) fn ingest(&mut self, ingested: &Ingested) {
        for (agent, registered) in &ingested.registered {
            let Some((_, launcher)) = self.run.launcher() else { return };
            let known = launcher.registered.get(agent);
            // A later registration of the same id is another life of that agent.
            if known.is_none_or(|known| known.process != registered.process) {
                let (agent, registered) = (agent.clone(), registered.clone());
                self.emit(Event::AgentRegistered { agent, registered });
            }
        }
        for (agent, end) in &ingested.ends {
            self.record_end(agent, end);
        }
        let Some((_, launcher)) = self.run.launcher() else { return };
        if let Some(journal) = &ingested.journal
            && launcher.journal.as_ref() != Some(journal)
        {
            self.emit(Event::Progress { journal: journal.clone() });
        }
        if !self.launcher_is_alive() {
            self.record_the_gone(&ingested.alive);
        }
    }

    /// A launcher that is gone cannot report the ends of its agents: the kernel's word counts.
    fn record_the_gone(&mut self, alive: &[AgentId]) {
        let Some((_, launcher)) = self.run.launcher() else { return };
        let gone = launcher
            .registered
            .iter()
            .filter(|(id, agent)| agent.end.is_none() && !alive.contains(id));
        let gone: Vec<AgentId> = gone.map(|(id, _)| id.clone()).collect();
        for agent in gone {
            let end = AgentEnd {
                code: None,
                disposition: AgentDisposition::Terminated,
                at: self.now.wall,
            };
            self.emit(Event::AgentExited { agent, end });
        }
    }

    fn record_end(&mut self, agent: &AgentId, end: &AgentEnd) {
        let Some((_, launcher)) = self.run.launcher() else { return };
        if launcher.registered.get(agent).is_some_and(|agent| agent.end.is_none()) {
            self.emit(Event::AgentExited { agent: agent.clone(), end: end.clone() });
        }
    }

    pub(super) fn agents_swept(&mut self, remaining: &[AgentId]) -> Result<(), Rejected> {
        let (_, launcher) = self.run.launcher().ok_or(Rejected::Unknown("launcher"))?;
        if launcher.settled.is_none() || launcher.swept {
            return Err(Rejected::Late("no sweep is going on"));
        }
        self.emit(Event::AgentsSwept { remaining: remaining.to_vec() });
        Ok(())
    }

    /// Agents of the launcher that may be alive: registered without an end, or jobs of ours.
    pub(super) fn living_agents(&self) -> Vec<AgentId> {
        let Some((_, launcher)) = self.run.launcher() else { return Vec::new() };
        let registered = launcher.registered.iter().filter(|(_, agent)| agent.end.is_none());
        let mut living: Vec<AgentId> = registered.map(|(id, _)| id.clone()).collect();
        for job in self.run.jobs.values().filter(|job| job.state.is_live()) {
            match &job.purpose {
                Purpose::LauncherAgent { agent, .. } => living.push(agent.clone()),
                Purpose::Launcher { .. } | Purpose::Agent { .. } | Purpose::Gate { .. } => {}
            }
        }
        living
    }
}
