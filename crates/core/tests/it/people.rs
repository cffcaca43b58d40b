//! Questions and messages, each rule by name, and how a model world draws them.

use tidegate_core::exit::Reason;
use tidegate_core::ids::{AgentName, FeatureId, JobId, QuestionId};
use tidegate_core::plan::{ReviewPolicy, Role};
use tidegate_core::run::{
    Block, Closing, CommitOutcome, Delivery, Effect, Fate, FeatureState, Input, Report,
    ResultOutcome, Run, TypeOutcome, Way, Work, WorkStep, step,
};

use crate::conversing::conversed;
use crate::crew::{end_job, feature, gated, one};
use crate::fixture::{
    NOW, Shape, cancel, capture_all, claim, exit, exited, fid, job_finished, job_started, kinds,
    launcher_run, launcher_spec, newest, plan_run, take,
};
use crate::matrix::{approve, commit, ready, retry, slot, tested};
use crate::tape::Tape;

pub(crate) fn ask(job: JobId) -> Input {
    let choices = vec!["by name".to_owned(), "by number".to_owned()];
    Input::Ask { job, text: "how?".to_owned(), choices, waits: false }
}

pub(crate) fn question(run: &Run, number: u32) -> QuestionId {
    QuestionId::new(run.id.clone(), number)
}

pub(crate) fn answer(question: QuestionId, text: &str) -> Input {
    let (text, actor) = (text.to_owned(), "ann".to_owned());
    Input::AnswerQuestion { question, text, choice: None, actor }
}

pub(crate) fn send(text: &str) -> Input {
    Input::Send {
        feature: fid("a"),
        text: text.to_owned(),
        interrupts: false,
        actor: "ann".to_owned(),
    }
}

pub(crate) fn receive(run: &Run, acted: bool) -> Input {
    Input::Receive { job: newest(run), messages: vec![1], acted }
}

pub(crate) fn was_typed(run: &Run) -> Input {
    let (job, outcome) = (newest(run), TypeOutcome::Written);
    Input::Report(Report::MessageTyped { feature: fid("a"), message: 1, job, outcome })
}

/// What came of telling an agent something, in a bad world.
pub(crate) fn typed(tape: &mut Tape, effect: &Effect) -> Report {
    if matches!(effect, Effect::Converse { .. }) {
        return conversed(tape, effect);
    }
    let Effect::TypeMessage { feature, job, message, .. } = effect else { panic!("{effect:?}") };
    let outcome = if tape.below(4) == 3 { TypeOutcome::Refused } else { TypeOutcome::Written };
    Report::MessageTyped { feature: feature.clone(), message: *message, job: job.clone(), outcome }
}

/// Something that an agent asks or fetches, or a person answers or sends; it may make no sense.
pub(crate) fn talk(tape: &mut Tape, run: &Run, feature: FeatureId) -> Input {
    let job = newest(run);
    let number = u32::try_from(tape.below(3)).unwrap() + 1;
    match tape.below(5) {
        0 | 1 => ask(job),
        2 => answer(question(run, number), "so"),
        3 => Input::Send {
            feature,
            text: "mind".to_owned(),
            interrupts: false,
            actor: "ann".to_owned(),
        },
        _ => Input::Receive { job, messages: vec![number], acted: tape.below(2) == 1 },
    }
}

/// A builder at work, whose terminal people may type into.
pub(crate) fn at_work(shape: &Shape) -> Run {
    let mut run = plan_run(shape);
    if let Work::Plan { spec, .. } = &mut run.work {
        spec.agents.get_mut(&AgentName::new("scribe").unwrap()).unwrap().terminal = true;
    }
    for input in [claim(), slot(), ready()] {
        take(&mut run, &input);
    }
    let started = job_started(newest(&run));
    take(&mut run, &started);
    run
}

fn asking() -> Run {
    let mut run = at_work(&one(&[]));
    let input = ask(newest(&run));
    assert_eq!(kinds(&take(&mut run, &input)), ["question-asked"]);
    run
}

pub(crate) fn fate(run: &Run, number: u32) -> Fate {
    run.questions[&question(run, number)].fate.clone()
}

fn state(run: &Run) -> &FeatureState {
    &feature(run, "a").state
}

fn waits_for_input(run: &Run) -> bool {
    matches!(state(run), FeatureState::Blocked(Block::Input { .. }))
}

pub(crate) fn ends(run: &mut Run, end: tidegate_core::exit::Exit) -> Vec<&'static str> {
    let input = job_finished(newest(run), end);
    let mut told = take(run, &input);
    told.extend(capture_all(run));
    kinds(&told)
}

fn refusal(run: &Run, input: &Input) -> String {
    step(run, input, NOW).unwrap_err().to_string()
}

#[test]
fn agent_that_asks_goes_on_and_its_answer_is_given_once() {
    let mut run = asking();
    assert!(matches!(state(&run), FeatureState::Working { step: WorkStep::Agent(_), .. }));
    let first = question(&run, 1);
    let told = take(&mut run, &answer(first.clone(), "by name"));
    assert_eq!(kinds(&told), ["question-answered"]);
    let Fate::Answered(given) = fate(&run, 1) else { panic!("no answer") };
    assert_eq!((given.text.as_str(), given.by.as_str()), ("by name", "ann"));
    assert!(refusal(&run, &answer(first, "by number")).contains("answered"));
    assert!(refusal(&run, &answer(question(&run, 2), "x")).contains("question"));
}

#[test]
fn agent_that_ends_with_an_open_question_waits_without_a_slot_and_goes_on_with_the_answer() {
    let lost = exit(Reason::LostShim, None);
    let timeout = exit(Reason::Timeout, None);
    for end in [exited(12), exited(5), exited(1), lost, timeout] {
        let mut run = asking();
        let (iteration, failures) = (feature(&run, "a").iteration, feature(&run, "a").failures);
        let told = ends(&mut run, end);
        assert_eq!(told.last(), Some(&"feature-blocked"), "{told:?}");
        assert!(waits_for_input(&run) && !feature(&run, "a").holds_slot());
        let first = question(&run, 1);
        let told = take(&mut run, &answer(first, "by name"));
        assert_eq!(kinds(&told), ["question-answered", "feature-unblocked"]);
        let waiting = FeatureState::Working { role: Role::Builder, step: WorkStep::AwaitingSlot };
        assert_eq!(*state(&run), waiting);
        take(&mut run, &slot());
        let now = (feature(&run, "a").iteration, feature(&run, "a").failures);
        assert_eq!(now, (iteration, failures), "another attempt of the same iteration");
    }
}

#[test]
fn agent_that_ends_well_without_a_commit_waits_and_with_one_goes_on() {
    let mut run = asking();
    ends(&mut run, exited(0));
    let mut nothing = run.clone();
    let input = commit(&nothing, CommitOutcome::NoChange(tested(1)));
    assert_eq!(kinds(&take(&mut nothing, &input)), ["feature-blocked"]);
    assert!(waits_for_input(&nothing));
    let input = commit(&run, CommitOutcome::Commit(tested(10)));
    assert_eq!(kinds(&take(&mut run, &input)), ["committed"]);
    assert_eq!(fate(&run, 1), Fate::Closed(Closing::WentOn));
    let late = refusal(&run, &answer(question(&run, 1), "by name"));
    assert!(late.contains("went on"), "{late}");
}

#[test]
fn builder_that_only_asked_in_a_later_iteration_waits() {
    let mut run = gated(&Shape { review: ReviewPolicy::Person, ..one(&[]) });
    take(&mut run, &crate::crew::deny(crate::fixture::oid(10)));
    take(&mut run, &slot());
    take(&mut run, &ready());
    let input = ask(newest(&run));
    take(&mut run, &input);
    ends(&mut run, exited(0));
    // The branch is beyond its base since the first iteration: this one added nothing.
    let input = commit(&run, CommitOutcome::Commit(tested(10)));
    assert_eq!(kinds(&take(&mut run, &input)), ["feature-blocked"]);
}

#[test]
fn answer_that_is_faster_than_the_end_starts_the_next_attempt_at_once() {
    let mut run = asking();
    let first = question(&run, 1);
    take(&mut run, &answer(first, "by name"));
    let told = ends(&mut run, exited(12));
    let then = ["feature-blocked", "feature-unblocked"];
    assert_eq!(told[told.len() - 2..], then, "{told:?}");
    assert_eq!(feature(&run, "a").failures, 0);
    // An agent that had its answer and fails has failed.
    let mut failed = asking();
    let first = question(&failed, 1);
    take(&mut failed, &answer(first, "by name"));
    assert_eq!(ends(&mut failed, exited(1)).last(), Some(&"attempt-failed"));
}

#[test]
fn agent_that_ends_its_turn_for_an_answer_waits_whatever_it_left() {
    for answered_before in [false, true] {
        let mut run = at_work(&one(&[]));
        let Input::Ask { job, text, choices, .. } = ask(newest(&run)) else {
            panic!("no question")
        };
        take(&mut run, &Input::Ask { job, text, choices, waits: true });
        let first = question(&run, 1);
        if answered_before {
            take(&mut run, &answer(first.clone(), "by name"));
        }
        let told = ends(&mut run, exited(0));
        assert!(
            told.contains(&"feature-blocked") && !told.contains(&"builder-finished"),
            "{told:?}"
        );
        assert_eq!(waits_for_input(&run), !answered_before, "it does not know the answer yet");
        if !answered_before {
            take(&mut run, &answer(first, "by name"));
        }
        let waiting = FeatureState::Working { role: Role::Builder, step: WorkStep::AwaitingSlot };
        assert_eq!((state(&run), feature(&run, "a").failures), (&waiting, 0));
        // The next one asks nothing, and its end counts.
        take(&mut run, &slot());
        take(&mut run, &ready());
        let started = job_started(newest(&run));
        take(&mut run, &started);
        assert!(ends(&mut run, exited(0)).contains(&"builder-finished"));
    }
}

#[test]
fn exit_code_12_without_a_question_is_a_failure() {
    let mut run = at_work(&one(&[]));
    assert_eq!(ends(&mut run, exited(12)).last(), Some(&"attempt-failed"));
}

#[test]
fn planner_that_asks_instead_of_planning_waits() {
    let mut run = at_work(&one(&[Role::Planner]));
    let input = ask(newest(&run));
    take(&mut run, &input);
    ends(&mut run, exited(0));
    let (job, outcome) = (newest(&run), ResultOutcome::Unusable { detail: "none".to_owned() });
    let result = Input::Report(Report::Result { feature: fid("a"), job, outcome });
    assert_eq!(kinds(&take(&mut run, &result)), ["feature-blocked"]);
    let first = question(&run, 1);
    take(&mut run, &answer(first, "so"));
    assert_eq!(state(&run).role(), Some(Role::Planner));
}

#[test]
fn retry_and_cancel_close_what_nobody_answered() {
    let mut run = asking();
    ends(&mut run, exited(12));
    let mut again = run.clone();
    take(&mut again, &retry());
    assert_eq!(fate(&again, 1), Fate::Closed(Closing::Restarted));
    assert_eq!(*state(&again), FeatureState::Queued);
    take(&mut run, &cancel());
    assert_eq!(fate(&run, 1), Fate::Closed(Closing::Ended));
    assert!(run.status.is_terminal());
}

#[test]
fn launcher_asks_for_its_run_and_gates_ask_nothing() {
    let mut run = launcher_run(launcher_spec());
    take(&mut run, &claim());
    let input = ask(newest(&run));
    take(&mut run, &input);
    assert_eq!(run.questions[&question(&run, 1)].feature, None);
    let first = question(&run, 1);
    take(&mut run, &answer(first, "so"));
    let mut run = gated(&one(&[]));
    let gate = newest(&run);
    assert!(step(&run, &ask(gate), NOW).is_err());
    take(&mut run, &crate::matrix::target());
}

#[test]
fn choice_that_was_not_offered_is_refused() {
    let run = asking();
    let choose = |choice| Input::AnswerQuestion {
        question: question(&run, 1),
        text: "x".to_owned(),
        choice: Some(choice),
        actor: "ann".to_owned(),
    };
    assert!(step(&run, &choose(0), NOW).is_err() && step(&run, &choose(3), NOW).is_err());
    step(&run, &choose(2), NOW).unwrap();
}

pub(crate) fn delivery(run: &Run, number: u32) -> Delivery {
    run.messages[&number].delivery.clone()
}

pub(crate) fn types(run: &Run) -> Vec<(u32, u64)> {
    let of = |effect: &Effect| match effect {
        Effect::TypeMessage { message, seq, .. } => Some((*message, *seq)),
        _ => None,
    };
    run.outstanding().values().filter_map(of).collect()
}

#[test]
fn messages_are_typed_in_order_once_each() {
    let mut run = at_work(&one(&[]));
    take(&mut run, &send("one"));
    take(&mut run, &send("two"));
    assert_eq!(types(&run), [(1, 1)], "one after the other");
    let input = was_typed(&run);
    assert_eq!(kinds(&take(&mut run, &input)), ["message-written"]);
    assert_eq!(delivery(&run, 1), Delivery::Written { job: newest(&run), way: Way::Terminal });
    assert!(step(&run, &was_typed(&run), NOW).is_err(), "written once");
    assert_eq!(types(&run), [(2, 2)]);
    let refused = TypeOutcome::Refused;
    let (job, feature) = (newest(&run), fid("a"));
    let report = Report::MessageTyped { feature, message: 2, job, outcome: refused };
    assert_eq!(kinds(&take(&mut run, &Input::Report(report))), ["message-refused"]);
    assert_eq!((delivery(&run, 2), types(&run)), (Delivery::Queued, Vec::new()));
}

#[test]
fn message_is_consumed_only_by_the_word_of_a_job_and_told_to_the_next_one_until_then() {
    let mut run = at_work(&one(&[]));
    take(&mut run, &send("one"));
    let input = receive(&run, false);
    assert_eq!(kinds(&take(&mut run, &input)), ["message-accepted"]);
    let input = receive(&run, false);
    assert!(take(&mut run, &input).is_empty(), "known");
    assert_eq!(delivery(&run, 1), Delivery::Accepted { job: newest(&run) });
    ends(&mut run, exited(1));
    take(&mut run, &ready());
    let next = newest(&run);
    assert_eq!(run.messages_told(&next).count(), 1, "it stands in the next task");
    let told = kinds(&take(&mut run, &job_started(next.clone())));
    assert_eq!(told, ["job-started", "message-written"]);
    assert_eq!(delivery(&run, 1), Delivery::Written { job: next, way: Way::Task });
    let input = receive(&run, true);
    assert_eq!(kinds(&take(&mut run, &input)), ["message-consumed"]);
    ends(&mut run, exited(1));
    assert_eq!(run.messages_told(&newest(&run)).count(), 1, "of the last job");
}

#[test]
fn message_to_a_feature_that_ends_without_another_attempt_fails() {
    let mut run = gated(&Shape { review: ReviewPolicy::Person, ..one(&[]) });
    take(&mut run, &send("too late"));
    take(&mut run, &approve(crate::fixture::oid(10)));
    let told = kinds(&take(&mut run, &cancel()));
    assert!(told.contains(&"message-failed"), "{told:?}");
    assert_eq!(delivery(&run, 1), Delivery::Failed);
    let end = end_of(&run);
    assert!(refusal(&run, &send("more")).contains(end), "{end}");
}

fn end_of(run: &Run) -> &'static str {
    run.status.word()
}

#[test]
fn job_of_another_feature_receives_nothing() {
    let waves = crate::fixture::waves(&[&["a", "b"]]);
    let mut run = at_work(&Shape { waves, ..Shape::default() });
    let other = Input::Send {
        feature: fid("b"),
        text: "for b".to_owned(),
        interrupts: false,
        actor: "ann".to_owned(),
    };
    take(&mut run, &other);
    assert!(take(&mut run.clone(), &receive(&run, true)).is_empty());
    assert_eq!(delivery(&run, 1), Delivery::Queued);
    end_job(&mut run, 1);
}
