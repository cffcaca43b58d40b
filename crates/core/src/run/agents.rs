//! What a launcher's files and agents lead to.

use super::event::Event;
use super::input::{Ingested, Rejected};
use super::state::Purpose;
use super::step::Draft;
use crate::ids::AgentId;
use crate::launcher::{AgentDisposition, AgentEnd, AgentProcess, Registered};

impl Draft {
    pub(super) fn ingested(&mut self, ingested: &Ingested) -> Result<(), Rejected> {
        let (_, launcher) = self.run.launcher().ok_or(Rejected::Unknown("launcher"))?;
        if launcher.settled.is_some() || self.run.status.is_terminal() {
            // The result stands; what is told of the agents still refreshes their records.
            self.record_agents(ingested);
            return Ok(());
        }
        self.require_running()?;
        self.ingest(ingested);
        self.decide_fate(&ingested.gone);
        Ok(())
    }

    /// Records what is new in a launcher's files; each fact once.
    pub(super) fn ingest(&mut self, ingested: &Ingested) {
        self.record_agents(ingested);
        let Some((_, launcher)) = self.run.launcher() else { return };
        if let Some(journal) = &ingested.journal
            && launcher.journal.as_ref() != Some(journal)
        {
            self.emit(Event::Progress { journal: journal.clone() });
        }
        if !self.launcher_is_alive() {
            self.record_the_gone(&ingested.gone);
        }
    }

    fn record_agents(&mut self, ingested: &Ingested) {
        for (agent, registered) in &ingested.registered {
            let Some((_, launcher)) = self.run.launcher() else { return };
            let known = launcher.registered.get(agent);
            // A later registration of the same id is another life of that agent.
            let again = |known: &Registered| {
                known.process != registered.process
                    || (known.end.is_some() && known.at != registered.at)
            };
            if known.is_none_or(again) {
                let (agent, registered) = (agent.clone(), registered.clone());
                self.emit(Event::AgentRegistered { agent, registered });
            }
        }
        for (agent, end) in &ingested.ends {
            self.record_end(agent, end);
        }
    }

    /// A launcher that is gone cannot report the ends of its agents: the kernel's word counts. Of
    /// a remote agent the kernel knows nothing, and a heartbeat that is missed is no end.
    fn record_the_gone(&mut self, gone: &[(AgentId, Registered)]) {
        let local = |_: &AgentId, agent: &Registered| agent.process != AgentProcess::Remote;
        for agent in self.open_agents(|id, agent| local(id, agent) && is_told(gone, id, agent)) {
            self.record_terminated(agent);
        }
    }

    fn record_terminated(&mut self, agent: AgentId) {
        let (disposition, at) = (AgentDisposition::Terminated, self.now.wall);
        self.emit(Event::AgentExited { agent, end: AgentEnd { code: None, disposition, at } });
    }

    /// The registered agents without an end that `wanted` picks.
    fn open_agents(&self, wanted: impl Fn(&AgentId, &Registered) -> bool) -> Vec<AgentId> {
        let Some((_, launcher)) = self.run.launcher() else { return Vec::new() };
        let open = launcher.registered.iter().filter(|(id, a)| a.end.is_none() && wanted(id, a));
        open.map(|(id, _)| id.clone()).collect()
    }

    fn record_end(&mut self, agent: &AgentId, end: &AgentEnd) {
        let Some((_, launcher)) = self.run.launcher() else { return };
        if launcher.registered.get(agent).is_some_and(|agent| agent.end.is_none()) {
            self.emit(Event::AgentExited { agent: agent.clone(), end: end.clone() });
        }
    }

    pub(super) fn agents_swept(&mut self, remaining: &[AgentId]) -> Result<(), Rejected> {
        let (_, launcher) = self.run.launcher().ok_or(Rejected::Unknown("launcher"))?;
        if launcher.settled.is_none() || self.run.sweepable_agents().is_empty() {
            return Err(Rejected::Late("no sweep is going on"));
        }
        for (agent, _) in self.run.sweepable_agents() {
            if !remaining.contains(&agent) {
                self.record_terminated(agent);
            }
        }
        self.emit(Event::AgentsSwept { remaining: remaining.to_vec() });
        Ok(())
    }

    /// Agents of the launcher that may be alive: jobs of ours, and registered ones without an end
    /// that were not seen to be `gone` just now.
    pub(super) fn living_agents(&self, gone: &[(AgentId, Registered)]) -> Vec<AgentId> {
        let mut living = self.open_agents(|id, agent| !is_told(gone, id, agent));
        for job in self.run.jobs.values().filter(|job| job.state.is_live()) {
            match &job.purpose {
                Purpose::LauncherAgent { agent, .. } => living.push(agent.clone()),
                Purpose::Launcher { .. }
                | Purpose::Agent { .. }
                | Purpose::Gate { .. }
                | Purpose::Hook { .. } => {}
            }
        }
        living
    }
}

/// Whether `gone` tells of this very life of an agent: the same process, and for one that is known
/// by name alone, no earlier registration.
fn is_told(gone: &[(AgentId, Registered)], id: &AgentId, known: &Registered) -> bool {
    gone.iter().any(|(told, seen)| {
        told == id
            && seen.process == known.process
            && (seen.process != AgentProcess::Remote || seen.at >= known.at)
    })
}
