//! Agents that ask, people who answer or tell them something, and agents that fetch what they were
//! told.

use tidegate_core::ids::JobId;
use tidegate_core::run::{Conversed, Effect, JobState, Report, Run, TypeOutcome};
use tidegate_daemon::engine::{Command, Wording};

use super::course::World;

impl World {
    /// Looks at what was asked and who works, and says something here and there. Once all is calm,
    /// every question is answered and nobody asks more.
    pub(super) fn talk(&mut self, runs: &[Run]) {
        for run in runs.iter().filter(|run| run.status.cancel().is_none()) {
            for (question, asked) in run.questions.iter().filter(|(_, asked)| asked.is_open()) {
                if self.calm || self.dice.percent(60) {
                    let choice = u32::from(!asked.choices.is_empty());
                    let answer = match choice {
                        0 => Wording::Text("by name".to_owned()),
                        number => Wording::Choice(number),
                    };
                    let (question, actor) = (question.clone(), "person".to_owned());
                    self.meet("an answer of a person");
                    self.order("person", Command::AnswerQuestion { question, answer, actor });
                }
            }
            if !self.calm {
                self.talk_of_agents(run);
            }
        }
    }

    fn talk_of_agents(&mut self, run: &Run) {
        let Some((_, plan)) = run.plan() else { return };
        for (feature, found) in &plan.features {
            let agent = found.state.agent().cloned().filter(|job| runs(run, job));
            if let Some(job) = agent {
                if self.dice.percent(8) {
                    let choices = if self.dice.percent(50) { vec!["a".to_owned()] } else { vec![] };
                    let text = "by name or by number?".to_owned();
                    let waits = self.dice.percent(50);
                    self.meet("a question of an agent");
                    self.order("agent", Command::Ask { job: job.clone(), text, choices, waits });
                }
                let told = run.messages.iter().filter(|(_, one)| one.feature == *feature);
                let told: Vec<u32> = told.map(|(number, _)| *number).collect();
                if !told.is_empty() && self.dice.percent(40) {
                    let acted = self.dice.percent(50);
                    self.order("agent", Command::Receive { job, messages: told, acted });
                }
            }
            if !found.is_terminal() && self.dice.percent(4) {
                let (run, feature) = (run.id.clone(), feature.clone());
                let (text, actor) = ("mind the tide".to_owned(), "person".to_owned());
                self.meet("a message of a person");
                let interrupts = self.dice.percent(30);
                self.order("person", Command::Send { run, feature, text, interrupts, actor });
            }
        }
    }

    /// What comes of telling an agent something.
    pub(super) fn tell_agent(&mut self, effect: &Effect) -> Option<Report> {
        if matches!(effect, Effect::Converse { .. }) {
            return self.converse(effect);
        }
        let Effect::TypeMessage { feature, job, message, .. } = effect else { return None };
        let takes = self.host.main_of(job).is_some();
        let outcome = if takes { TypeOutcome::Written } else { TypeOutcome::Refused };
        let (feature, job) = (feature.clone(), job.clone());
        Some(Report::MessageTyped { feature, message: *message, job, outcome })
    }
}

impl World {
    /// What a conversation tells next: how far a message came, or a permission that is asked.
    fn converse(&mut self, effect: &Effect) -> Option<Report> {
        let Effect::Converse { job, to_say, .. } = effect else { return None };
        self.host.main_of(job)?;
        let message = to_say.messages.last().map(|last| last.message);
        let fact = match (message, self.dice.percent(30)) {
            (Some(message), true) => Conversed::Written(message),
            (Some(message), false) => Conversed::Consumed(message),
            (None, true) if !self.calm => {
                Conversed::Asked { request: "1".to_owned(), text: "may it?".to_owned() }
            }
            (None, _) => Conversed::Withdrawn { request: "1".to_owned() },
        };
        Some(Report::Conversed { job: job.clone(), fact })
    }
}

fn runs(run: &Run, job: &JobId) -> bool {
    run.jobs.get(job).is_some_and(|job| matches!(job.state, JobState::Running(_)))
}
