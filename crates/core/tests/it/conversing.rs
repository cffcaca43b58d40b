//! Agents that are talked with by a protocol: what is to be said to one, and what it tells.

use tidegate_core::ids::AgentName;
use tidegate_core::manifest::Protocol;
use tidegate_core::run::{
    Closing, Conversed, Delivery, Effect, Fate, Input, Report, Run, ToSay, Way, Work, step,
};

use crate::crew::one;
use crate::fixture::{NOW, cancel, exited, kinds, newest, take};
use crate::people::{answer, at_work, delivery, ends, fate, question, send, types};
use crate::tape::Tape;

/// What a conversation tells, in a bad world: it may make no sense.
pub(crate) fn conversed(tape: &mut Tape, effect: &Effect) -> Report {
    let Effect::Converse { job, .. } = effect else { panic!("{effect:?}") };
    let message = u32::try_from(tape.below(3)).unwrap() + 1;
    let request = || format!("q-{message}");
    let fact = match tape.below(5) {
        0 => Conversed::Asked { request: request(), text: "may it?".to_owned() },
        1 => Conversed::Withdrawn { request: request() },
        2 => Conversed::Written(message),
        3 => Conversed::Accepted(message),
        _ => Conversed::Consumed(message),
    };
    Report::Conversed { job: job.clone(), fact }
}

/// A builder at work that is talked with by its protocol.
fn in_conversation() -> Run {
    let mut run = at_work(&one(&[]));
    if let Work::Plan { spec, .. } = &mut run.work {
        let agent = spec.agents.get_mut(&AgentName::new("scribe").unwrap()).unwrap();
        (agent.terminal, agent.manifest.protocol) = (false, Protocol::ClaudeStream);
    }
    run
}

fn to_say(run: &Run) -> (String, ToSay) {
    let mut open = run.outstanding().into_iter();
    let found = open.find_map(|(key, effect)| match effect {
        Effect::Converse { to_say, .. } => Some((key.0, to_say)),
        _ => None,
    });
    found.unwrap()
}

fn tells(run: &mut Run, fact: Conversed) -> Vec<&'static str> {
    let report = Input::Report(Report::Conversed { job: newest(run), fact });
    kinds(&take(run, &report))
}

fn asks_permission() -> Conversed {
    Conversed::Asked { request: "p-1".to_owned(), text: "May it use Bash?".to_owned() }
}

#[test]
fn conversation_is_told_every_message_under_a_key_of_its_own() {
    let mut run = in_conversation();
    assert_eq!(to_say(&run), ("talk:1:0".to_owned(), ToSay::default()));
    take(&mut run, &send("one"));
    assert!(types(&run).is_empty(), "it has no terminal");
    let (key, said) = to_say(&run);
    assert_eq!((key.as_str(), said.messages[0].text.as_str()), ("talk:1:1", "one"));
    assert_eq!(tells(&mut run, Conversed::Written(1)), ["message-written"]);
    let late = Input::Report(Report::Conversed { job: newest(&run), fact: Conversed::Written(1) });
    assert!(step(&run, &late, NOW).is_err(), "it is known");
    assert_eq!(delivery(&run, 1), Delivery::Written { job: newest(&run), way: Way::Conversation });
    assert_eq!(tells(&mut run, Conversed::Accepted(1)), ["message-accepted"]);
    assert_eq!(tells(&mut run, Conversed::Consumed(1)), ["message-consumed"]);
    assert_eq!(to_say(&run), (key, said), "what a key names never changes");
    take(&mut run, &cancel());
    assert!(!run.outstanding().keys().any(|key| key.0.starts_with("talk:")));
}

#[test]
fn permission_is_asked_once_answered_once_and_needs_nobody_after_its_job() {
    let mut run = in_conversation();
    assert_eq!(tells(&mut run, asks_permission()), ["question-asked"]);
    let again = Input::Report(Report::Conversed { job: newest(&run), fact: asks_permission() });
    assert!(step(&run, &again, NOW).is_err(), "it has asked that");
    let mut ended = run.clone();
    assert_eq!(ends(&mut ended, exited(1)).last(), Some(&"attempt-failed"), "it waits for nobody");
    assert_eq!(fate(&ended, 1), Fate::Closed(Closing::Ended));
    let mut withdrawn = run.clone();
    let fact = Conversed::Withdrawn { request: "p-1".to_owned() };
    assert_eq!(tells(&mut withdrawn, fact), ["question-withdrawn"]);
    assert!(step(&withdrawn, &answer(question(&withdrawn, 1), "allow"), NOW).is_err());
    let (id, actor) = (question(&run, 1), "ann".to_owned());
    let text = "allow".to_owned();
    take(&mut run, &Input::AnswerQuestion { question: id, text, choice: Some(1), actor });
    let (key, said) = to_say(&run);
    assert_eq!((key.as_str(), said.replies[0].allowed), ("talk:1:1", true));
}

#[test]
fn agent_that_waits_for_a_permission_is_not_stalled() {
    let mut run = in_conversation();
    let silent =
        |run: &Run| Input::Report(Report::JobSilent { job: newest(run), silent_ms: 900_000 });
    assert!(step(&run, &silent(&run), NOW).is_ok());
    tells(&mut run, asks_permission());
    let why = step(&run, &silent(&run), NOW).unwrap_err().to_string();
    assert!(why.contains("person"), "{why}");
    let no = answer(question(&run, 1), "no");
    take(&mut run, &no);
    assert!(step(&run, &silent(&run), NOW).is_ok());
}
