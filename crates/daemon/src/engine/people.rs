//! Commands between people and agents: questions and their answers, messages and their receipts.

use serde_json::json;
use tidegate_core::ids::{FeatureId, JobId, QuestionId, RunId};
use tidegate_core::run::{Answer, Input, Question, Run};
use tidegate_protocol::{ErrorCode, Problem, Timestamp};

use super::command::Wording;
use super::requests::{AtWork, Failed, Outcome, not_found};

impl AtWork<'_, '_, '_, '_> {
    /// Records a question of a job.
    pub(super) fn ask(
        &mut self,
        job: &JobId,
        (text, waits): (&str, bool),
        choices: &[String],
    ) -> Result<Outcome, Failed> {
        let run = job.run();
        let (text, choices) = (text.to_owned(), choices.to_vec());
        let mut outcome =
            self.input(run, &Input::Ask { job: job.clone(), text, choices, waits })?;
        let after = outcome.moved.as_ref().map(|(_, after)| after);
        let asked = after.and_then(|after: &Run| after.questions.iter().next_back());
        outcome.data = json!({
            "runId": run.as_str(),
            "jobId": job.to_string(),
            "questionId": asked.map(|(id, _)| id.to_string()),
            "feature": asked.and_then(|(_, asked)| asked.feature.as_ref()).map(FeatureId::as_str),
        });
        Ok(outcome)
    }

    /// Records the answer to a question: the first one wins, and a further one is told of it.
    pub(super) fn answer_question(
        &mut self,
        id: &QuestionId,
        answer: &Wording,
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let before = self.find(id.run())?;
        let missing = || not_found("question", &id.to_string());
        let question = before.questions.get(id).ok_or_else(missing)?;
        if let Some(given) = question.answer() {
            return Err(taken(id, given).into());
        }
        let (text, choice) = worded(id, question, answer)?;
        let (question, actor) = (id.clone(), actor.to_owned());
        let input = Input::AnswerQuestion { question, text: text.clone(), choice, actor };
        let mut outcome = self.input(id.run(), &input)?;
        outcome.data = json!({
            "questionId": id.to_string(),
            "runId": id.run().as_str(),
            "answer": text,
            "choice": choice,
        });
        Ok(outcome)
    }

    /// Records a message to a feature's agent.
    pub(super) fn send(
        &mut self,
        (run, feature): (&RunId, &FeatureId),
        (text, interrupts): (&str, bool),
        actor: &str,
    ) -> Result<Outcome, Failed> {
        let (to, text, actor) = (feature.clone(), text.to_owned(), actor.to_owned());
        let input = Input::Send { feature: to, text, interrupts, actor };
        let mut outcome = self.input(run, &input)?;
        let after = outcome.moved.as_ref().map(|(_, after)| after);
        let sent = after.and_then(|after| after.messages.iter().next_back());
        outcome.data = json!({
            "runId": run.as_str(),
            "feature": feature.as_str(),
            "message": sent.map(|(number, _)| *number),
            "delivery": sent.map(|(_, message)| message.delivery.word()),
        });
        Ok(outcome)
    }

    /// Records what a job says of messages that it was sent. Nothing new is no refusal.
    pub(super) fn receive(
        &mut self,
        job: &JobId,
        messages: &[u32],
        acted: bool,
    ) -> Result<Outcome, Failed> {
        let input = Input::Receive { job: job.clone(), messages: messages.to_vec(), acted };
        let mut outcome = self.input(job.run(), &input)?;
        outcome.data = json!({ "jobId": job.to_string(), "messages": messages });
        Ok(outcome)
    }
}

/// The words of an answer, and the offered one that they are.
fn worded(
    id: &QuestionId,
    question: &Question,
    answer: &Wording,
) -> Result<(String, Option<u32>), Problem> {
    match answer {
        Wording::Text(text) => {
            let found = (1..).zip(&question.choices).find(|(_, choice)| *choice == text);
            Ok((text.clone(), found.map(|(number, _)| number)))
        }
        Wording::Choice(number) => {
            let mut offered = (1..).zip(&question.choices);
            let found = offered.find(|(one, _)| one == number).map(|(_, text)| text.clone());
            let count = question.choices.len();
            let text = found.ok_or_else(|| {
                let message =
                    format!("question {id} offers {count} answers, and no number {number}");
                Problem::invalid_input(message).with("choices", question.choices.clone())
            })?;
            Ok((text, Some(*number)))
        }
    }
}

/// Somebody was faster.
fn taken(id: &QuestionId, given: &Answer) -> Problem {
    let at = Timestamp::from_ms(given.at.0).as_str().to_owned();
    let message = format!("question {id} was answered by {} at {at}: {}", given.by, given.text);
    Problem::new(ErrorCode::InvalidStatusTransition, message)
        .with("questionId", id.to_string())
        .with("answeredBy", given.by.clone())
        .with("answeredAt", at)
        .with("answer", given.text.clone())
}
