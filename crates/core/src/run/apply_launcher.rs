//! How a launcher's half of a run evolves by one fact.

use super::event::Event;
use crate::launcher::{Degraded, Launcher, Settled};

impl Launcher {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of launchers are handed here, by a match that lists them all"
    )]
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Progress { journal } => {
                let later = match (journal.wave, self.resumed_wave) {
                    (Some(wave), Some(resumed)) => wave > resumed,
                    (Some(_) | None, Some(_) | None) => false,
                };
                if later {
                    self.resumes_since_progress = 0;
                }
                self.journal = Some(journal.clone());
            }
            Event::AgentRegistered { agent, registered } => {
                self.registered.insert(agent.clone(), registered.clone());
                self.swept = false;
            }
            Event::AgentExited { agent, end } => {
                if let Some(registered) = self.registered.get_mut(agent) {
                    registered.end = Some(end.clone());
                }
            }
            Event::AgentsAdopted { end, agents } => {
                self.degraded = Some(Degraded { end: end.clone(), agents: agents.clone() });
            }
            Event::Resuming { wave } => {
                self.resumes += 1;
                self.resumes_since_progress += 1;
                self.resumed_wave = Some(*wave);
                self.active_wave = Some(*wave);
                self.degraded = None;
            }
            Event::StatusReconciled { settled } | Event::FailedBeforeStatus { settled, .. } => {
                self.settle(settled);
            }
            Event::AgentsSwept { .. } => self.swept = true,
            _ => {}
        }
    }

    fn settle(&mut self, settled: &Settled) {
        self.active_wave = settled.wave;
        self.degraded = None;
        self.settled = Some(settled.clone());
    }
}
