//! The rows of what agents ask people and of what people tell agents.

use tidegate_core::ids::QuestionId;
use tidegate_core::run::{Message, Question, Run};

/// A question of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// Its id.
    pub id: QuestionId,
    /// What is known of it.
    pub question: Question,
}

/// A message to an agent of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number within the run, from 1.
    pub number: u32,
    /// What is known of it.
    pub message: Message,
}

/// The questions of a run by number.
pub(crate) fn questions_of(run: &Run) -> Vec<QuestionRow> {
    let row = |(id, question): (&QuestionId, &Question)| QuestionRow {
        id: id.clone(),
        question: question.clone(),
    };
    run.questions.iter().map(row).collect()
}

/// The messages of a run by number.
pub(crate) fn messages_of(run: &Run) -> Vec<MessageRow> {
    let row = |(number, message): (&u32, &Message)| MessageRow {
        number: *number,
        message: message.clone(),
    };
    run.messages.iter().map(row).collect()
}
