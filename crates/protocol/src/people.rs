//! What passes between agents and people: questions, answers, messages, and the inbox.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// `POST /questions`, from inside a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskRequest {
    /// What is asked, not empty.
    pub question: String,
    /// Answers that are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether the agent ends its turn for the answer, and is to be started again with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

/// Answer to `POST /questions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskAnswer {
    /// The question.
    pub question_id: String,
    /// Its run.
    pub run_id: String,
    /// The job that asks.
    pub job_id: String,
    /// Its feature, for an agent of one.
    pub feature: Option<String>,
}

/// What an agent said of its own work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaidDoc {
    /// The words.
    pub text: String,
    /// How far it thinks that it is, from 0 to 100.
    pub percent: Option<u8>,
    /// Whether it said that it is done.
    pub done: bool,
    /// When.
    pub at: Timestamp,
}

/// `POST /questions/{id}/answer`: words, or the number of an offered answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerRequest {
    /// The words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The number of an offered answer, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<u32>,
    /// Name of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// `POST /runs/{id}/send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendRequest {
    /// The feature whose agent is meant.
    pub feature: String,
    /// What it says, not empty.
    pub message: String,
    /// Whether the turn that is under way is to be broken off for it, where the agent can.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupt: bool,
    /// Name of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// Answer to `POST /runs/{id}/send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendAnswer {
    /// The run.
    pub run_id: String,
    /// The feature.
    pub feature: String,
    /// The number of the message within the run.
    pub message: u32,
    /// How far it is known to have come: `queued`.
    pub delivery: String,
}

/// `POST /messages/received`, from inside a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReceivedRequest {
    /// The numbers of messages.
    pub messages: Vec<u32>,
    /// Whether the job has acted on them; else it fetched them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acted: bool,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionDoc {
    /// Its id.
    pub question_id: String,
    /// Its run.
    pub run_id: String,
    /// The feature whose agent asks; null for a launcher's.
    pub feature: Option<String>,
    /// The job that asks.
    pub job_id: String,
    /// What it asks.
    pub question: String,
    /// The answers that it offers.
    pub choices: Vec<String>,
    /// When it asked.
    pub asked_at: Timestamp,
    /// `open`, `answered` or `closed`: it needs no answer any more.
    pub state: String,
    /// The answer.
    pub answer: Option<AnswerDoc>,
    /// Why it needs no answer any more.
    pub closed: Option<String>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerDoc {
    /// The words.
    pub text: String,
    /// The number of the offered answer that it is.
    pub choice: Option<u32>,
    /// Who gave it.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// A message to a feature's agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageDoc {
    /// Its number within the run, from 1.
    pub message: u32,
    /// Its run.
    pub run_id: String,
    /// The feature.
    pub feature: String,
    /// What it says.
    pub text: String,
    /// Who sent it.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// How far it is known to have come: `queued`, `written` (a job has its bytes), `accepted` (a job
    /// fetched it), `consumed` (a job says that it acted on it) or `failed` (it came to nobody).
    pub delivery: String,
    /// Where a job has it, for `written`: `task` or `terminal`.
    pub way: Option<String>,
    /// The job that it came to.
    pub job_id: Option<String>,
}

/// What waits for people, or, inside a job, for its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxDoc {
    /// The job whose inbox it is; null for people's.
    pub job_id: Option<String>,
    /// Questions, oldest first.
    pub questions: Vec<QuestionDoc>,
    /// Commits that wait for consent.
    pub approvals: Vec<InboxItem>,
    /// What cannot go on without a person.
    pub blocks: Vec<InboxItem>,
    /// Messages to agents that none is known to have acted on.
    pub messages: Vec<MessageDoc>,
}

/// Something that a person has to decide or to mend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// The run.
    pub run_id: String,
    /// The feature, when it is about one.
    pub feature: Option<String>,
    /// The typed reason, as in `attention[]` of the run document.
    pub reason: String,
    /// A line for people.
    pub message: String,
    /// What to do about it.
    pub unblocks: String,
    /// The exact commit that waits for consent.
    pub commit: Option<String>,
}

impl InboxDoc {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
            && self.approvals.is_empty()
            && self.blocks.is_empty()
            && self.messages.is_empty()
    }
}
