//! Samples of the facts about questions and messages.

use tidegate_core::ids::{FeatureId, QuestionId};
use tidegate_core::run::{
    Answer, Closing, Delivery, Event, Fate, Message, Question, Talk, Typed, Way,
};
use tidegate_core::time::WallMs;

use super::parts::{feature, job, run_id};

fn question(feature: Option<FeatureId>, fate: Fate) -> Question {
    let waits = feature.is_none();
    let choices = vec!["left".to_owned(), "right".to_owned()];
    Question {
        feature,
        job: job(2),
        text: "where to?".into(),
        choices,
        waits,
        request: None,
        at: WallMs(4),
        fate,
    }
}

fn answer(choice: Option<u32>) -> Answer {
    Answer { text: "left".into(), choice, by: "user".into(), at: WallMs(5) }
}

/// Questions with each fate.
pub(crate) fn questions() -> Vec<Question> {
    let closings = [Closing::WentOn, Closing::Restarted, Closing::Ended];
    let fates = [Fate::Open, Fate::Answered(answer(None)), Fate::Answered(answer(Some(1)))];
    let fates = fates.into_iter().chain(closings.map(Fate::Closed));
    fates.map(|fate| question(Some(feature("berths")), fate)).collect()
}

/// Messages with each delivery.
pub(crate) fn messages() -> Vec<Message> {
    let deliveries = [
        Delivery::Queued,
        Delivery::Written { job: job(2), way: Way::Task },
        Delivery::Written { job: job(2), way: Way::Terminal },
        Delivery::Written { job: job(2), way: Way::Conversation },
        Delivery::Accepted { job: job(2) },
        Delivery::Consumed { job: job(2) },
        Delivery::Failed,
    ];
    let message = |delivery| Message {
        feature: feature("berths"),
        text: "mind the tide".into(),
        interrupts: false,
        by: "user".into(),
        at: WallMs(6),
        told: Some(job(2)),
        typed: Some(Typed { job: job(2), taken: true }),
        delivery,
    };
    deliveries.map(message).into()
}

pub(super) fn events() -> Vec<Event> {
    let f = || feature("berths");
    let id = || QuestionId::new(run_id(), 1);
    let of = |feature| Talk::Asked { question: id(), asked: question(feature, Fate::Open) };
    let answered =
        |feature, choice| Talk::Answered { question: id(), feature, answer: answer(choice) };
    let talks = vec![
        of(Some(f())),
        of(None),
        answered(Some(f()), Some(1)),
        answered(None, None),
        Talk::MessageSent {
            feature: f(),
            message: 1,
            text: "mind the tide".into(),
            interrupts: false,
            by: "user".into(),
            at: WallMs(6),
        },
        Talk::Asked {
            question: id(),
            asked: Question { request: Some("q-1".into()), ..question(Some(f()), Fate::Open) },
        },
        Talk::Withdrawn { question: id(), feature: f() },
        Talk::MessageSent {
            feature: f(),
            message: 2,
            text: "now".into(),
            interrupts: true,
            by: "user".into(),
            at: WallMs(6),
        },
        Talk::MessageWritten { feature: f(), message: 2, job: job(2), way: Way::Conversation },
        Talk::MessageWritten { feature: f(), message: 1, job: job(2), way: Way::Task },
        Talk::MessageWritten { feature: f(), message: 1, job: job(2), way: Way::Terminal },
        Talk::MessageRefused { feature: f(), message: 1, job: job(2) },
        Talk::MessageAccepted { feature: f(), message: 1, job: job(2) },
        Talk::MessageConsumed { feature: f(), message: 1, job: job(2) },
        Talk::MessageFailed { feature: f(), message: 1 },
    ];
    talks.into_iter().map(Event::Talk).collect()
}
