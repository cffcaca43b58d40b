//! The facts of what agents and people tell each other.

use super::event::Subject;
use super::message::Way;
use super::question::{Answer, Question};
use crate::ids::{FeatureId, JobId, QuestionId};
use crate::time::WallMs;

/// One fact of what agents and people tell each other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields repeat the words of the variants' documentation")]
pub enum Talk {
    /// An agent or a launcher asked people something.
    Asked { question: QuestionId, asked: Question },
    /// A person answered a question.
    Answered { question: QuestionId, feature: Option<FeatureId>, answer: Answer },
    /// An agent needs the answer to a question no more.
    Withdrawn { question: QuestionId, feature: FeatureId },
    /// A person sent a message to a feature's agent.
    MessageSent {
        feature: FeatureId,
        message: u32,
        text: String,
        interrupts: bool,
        by: String,
        at: WallMs,
    },
    /// A job has the bytes of a message.
    MessageWritten { feature: FeatureId, message: u32, job: JobId, way: Way },
    /// A job's terminal did not take a message; it stays queued.
    MessageRefused { feature: FeatureId, message: u32, job: JobId },
    /// A job fetched a message.
    MessageAccepted { feature: FeatureId, message: u32, job: JobId },
    /// A job says that it has acted on a message.
    MessageConsumed { feature: FeatureId, message: u32, job: JobId },
    /// A message came to nobody.
    MessageFailed { feature: FeatureId, message: u32 },
}

impl Talk {
    /// Whose chain the fact belongs to.
    pub fn subject(&self) -> Subject<'_> {
        match self {
            Self::Asked { asked: Question { feature, .. }, .. }
            | Self::Answered { feature, .. } => {
                feature.as_ref().map_or(Subject::Run, Subject::Feature)
            }
            Self::Withdrawn { feature, .. }
            | Self::MessageSent { feature, .. }
            | Self::MessageWritten { feature, .. }
            | Self::MessageRefused { feature, .. }
            | Self::MessageAccepted { feature, .. }
            | Self::MessageConsumed { feature, .. }
            | Self::MessageFailed { feature, .. } => Subject::Feature(feature),
        }
    }

    /// Its name in the log, the API and `tidegate events`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Asked { .. } => "question-asked",
            Self::Answered { .. } => "question-answered",
            Self::Withdrawn { .. } => "question-withdrawn",
            Self::MessageSent { .. } => "message-sent",
            Self::MessageWritten { .. } => "message-written",
            Self::MessageRefused { .. } => "message-refused",
            Self::MessageAccepted { .. } => "message-accepted",
            Self::MessageConsumed { .. } => "message-consumed",
            Self::MessageFailed { .. } => "message-failed",
        }
    }
}
