//! Real agents, driven by the product from end to end: their own programs of pinned versions, with a
//! model that plays a script on loopback, in folders of their own, with a key that is none.

mod crew;
mod pinned;
mod settings;
mod slow;

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{end, is_gone, until};
use crate::model::{Act, Script, Trouble};
use crate::plan_stage::Stage;
use crew::Crew;

const TEXT: &str = "moored\n";

/// A file is written, then the turn ends.
fn writes() -> Script {
    Script::new(&[Act::Write { path: "quay.txt", text: TEXT }, Act::Say("The file is there.")])
}

/// The work of one attempt has landed, and no attempt failed.
fn landed(crew: &Crew) {
    let document = crew.ends("completed");
    assert_eq!(crew.stage.on_target("quay.txt").as_deref(), Some(TEXT), "{document:#}");
    assert_eq!(crew.count("attempt-failed"), 0, "{}", crew.stage.story(&crew.run));
}

fn edits_and_lands(name: &str) {
    Crew::with(name, writes(), |crew| {
        let document = crew.ends("completed");
        landed(&crew);
        let asked = crew.model.asked();
        assert_eq!(asked.len(), 2);
        assert!(asked[0].holds("Do the work.") && asked[1].results().len() == 1);
        let used = &Crew::feature(&document)["usage"];
        assert!(name == "copilot" || used["output"].as_u64() >= Some(68), "{used}");
        crew.close();
    });
}

fn rate_limited_then_lands(name: &str) {
    Crew::with(name, writes().but(0, 1, Trouble::Rate(1)), |crew| {
        landed(&crew);
        assert_eq!(crew.model.asked().len(), 3);
        crew.close();
    });
}

fn server_error_then_lands(name: &str) {
    Crew::with(name, writes().but(0, 1, Trouble::Server), |crew| {
        landed(&crew);
        assert_eq!(crew.model.asked().len(), 3);
        crew.close();
    });
}

fn killed_in_mid_turn_goes_on_in_the_same_conversation(name: &str) {
    // The result holds a word that the call does not.
    let tool = "echo moored > quay.txt && echo 1 >> $T/calls && echo berth-''42";
    let script = Script::new(&[Act::Run(tool), Act::Say("The file is there.")]);
    Crew::with(name, script.but(1, 1, Trouble::Hang), |crew| {
        crew.at_question(2);
        crew.until_history_holds("berth-42");
        let agents = crew.processes();
        assert!(!agents.is_empty(), "no process of the agent");
        agents.into_iter().for_each(end);
        crew.ends("completed");
        assert_eq!(crew.stage.on_target("quay.txt").as_deref(), Some(TEXT));
        let asked = crew.model.asked();
        assert_eq!(crew.stage.home.lines("calls"), 1, "the finished tool was called again");
        let last = asked.last().unwrap();
        let kept = last.results();
        let is_whole = |result: &String| result.contains("berth-42");
        assert!(!kept.is_empty() && kept.iter().all(is_whole), "{kept:?}");
        assert!(last.holds("Do the work.") && last.holds("You were interrupted"), "{last:?}");
        let begun = crew.stage.home.events_of(&crew.run, "session-begun");
        let first = &begun[0]["conversation"]["id"];
        assert!(begun.iter().all(|begun| begun["conversation"]["id"] == *first), "{begun:?}");
        crew.close();
    });
}

fn refused_login_asks_once(name: &str) {
    Crew::with(name, writes().but(0, usize::MAX, Trouble::Auth), |crew| {
        let document = crew.stage.needs_person(&crew.run);
        let blocked = &Crew::feature(&document)["blocked"]["reason"];
        assert_eq!(blocked, "auth", "{document:#}");
        assert_eq!(document["attention"].as_array().unwrap().len(), 1);
        crew.model.mend();
        crew.stage.home.run(&["retry", &crew.run, "--feature", "quay"]).ends_with(0);
        crew.ends("completed");
        assert_eq!(crew.stage.on_target("quay.txt").as_deref(), Some(TEXT));
        crew.close();
    });
}

fn usage_limit_parks_and_counts_no_attempt(name: &str) {
    if name.starts_with("codex") {
        return parks_until_the_minute_that_is_told(name);
    }
    if ["opencode", "gemini", "qwen", "copilot"].contains(&name) {
        return sits_a_usage_limit_of_seconds_out(name);
    }
    // Claude Code sits a wait of seconds out once by itself.
    let times = if name.starts_with("claude") { 2 } else { 1 };
    Crew::with(name, writes().but(0, times, Trouble::Usage(3)), |crew| {
        crew.ends("completed");
        let limits = crew.stage.home.events_of(&crew.run, "limited");
        assert_eq!(limits.len(), 1, "{}", crew.stage.story(&crew.run));
        assert_eq!(limits[0]["limit"]["class"], "usage_limit", "{limits:?}");
        landed(&crew);
        crew.close();
    });
}

fn sits_a_usage_limit_of_seconds_out(name: &str) {
    Crew::with(name, writes().but(0, 1, Trouble::Usage(3)), |crew| {
        landed(&crew);
        assert_eq!(crew.model.asked().len(), 3);
        crew.close();
    });
}

/// A time of reset without seconds: the test does not wait for it.
fn parks_until_the_minute_that_is_told(name: &str) {
    Crew::with(name, writes().but(0, 1, Trouble::Usage(3)), |crew| {
        let parked = |_: &_| crew.count("limited") == 1;
        let document = crew.stage.home.until(&crew.run, "parked", parked);
        let limit = &crew.stage.home.events_of(&crew.run, "limited")[0]["limit"];
        assert_eq!((&limit["class"], &limit["told"]), (&json!("usage_limit"), &json!(true)));
        // The rest of that minute, and half a minute over which those that wait are spread.
        assert!(limit["ms"].as_u64() <= Some(95_000), "{limit}");
        assert_eq!(crew.count("attempt-failed"), 0, "{document:#}");
        crew.stage.home.run(&["cancel", &crew.run]).ends_with(0);
        crew.ends("cancelled");
        crew.close();
    });
}

/// The turn ends with the question, half of the work is there; the same conversation goes on with what
/// a person answers.
fn asks_a_person_and_goes_on_with_the_answer(name: &str) {
    let question = r#"{"question":"Which quay?","choices":["the old one"]}"#;
    let asks = match name {
        // It has no tools of ours: its shell has the verb.
        "pi" => Act::Run("tidegate ask 'Which quay?' --choice 'the old one'"),
        _ => Act::Call { tool: "ask_human", input: question },
    };
    let waits = Act::Await { say: "I wait for the answer.", until: "the left one" };
    let done = Act::Write { path: "quay.txt", text: TEXT };
    let half = Act::Write { path: "half.txt", text: "half\n" };
    let said =
        Act::Call { tool: "report_progress", input: r#"{"message":"halfway","percent":50}"# };
    let acts = match name {
        "pi" => vec![asks, waits, done, Act::Say("The file is there.")],
        _ => vec![half, said, asks, waits, done, Act::Say("The file is there.")],
    };
    Crew::with(name, Script::new(&acts), |crew| {
        let document = crew.stage.needs_person(&crew.run);
        crew.stage.until_feature(&crew.run, "quay", "blocked");
        assert_eq!(document["attention"][0]["reason"], "input", "{document:#}");
        if name != "pi" {
            let document = crew.stage.home.status(&crew.run);
            let said = &Crew::feature(&document)["said"];
            assert_eq!((&said["text"], &said["percent"]), (&json!("halfway"), &json!(50)));
        }
        let inbox = crew.stage.home.data(&["inbox"]);
        let asked = &inbox["questions"][0];
        assert_eq!(
            (&asked["question"], &asked["choices"][0]),
            (&json!("Which quay?"), &json!("the old one"))
        );
        let id = asked["questionId"].as_str().unwrap();
        crew.stage.home.run(&["answer", id, "the left one"]).ends_with(0);
        landed(&crew);
        let half = if name == "pi" { None } else { Some("half\n") };
        assert_eq!(crew.stage.on_target("half.txt").as_deref(), half);
        let begun = crew.stage.home.events_of(&crew.run, "session-begun");
        let resumed = begun.last().unwrap();
        assert_eq!(resumed["conversation"]["resumed"], true, "{begun:?}");
        let asked = crew.model.asked();
        let last = asked.last().unwrap();
        assert!(last.holds("I wait for the answer.") && last.holds("answered: the left one"));
        crew.close();
    });
}

fn cancelled_in_a_tool_leaves_nothing_alive(name: &str) {
    let tool = "echo $$ > $T/tool.new && mv $T/tool.new $T/tool; sleep 1000";
    Crew::with(name, Script::new(&[Act::Run(tool), Act::Say("Never said.")]), |crew| {
        let tool = crew.stage.home.pid("tool");
        assert!(!crew.processes().is_empty() && !is_gone(tool));
        crew.stage.home.run(&["cancel", &crew.run]).ends_with(0);
        let document = crew.ends("cancelled");
        assert_eq!(Crew::feature(&document)["state"], json!("cancelled"), "{document:#}");
        until("the end of the tool", || is_gone(tool).then_some(()));
        assert_eq!(Stage::left(&crew.run), [0; 0]);
        crew.close();
    });
}

/// Tests, one for each agent and case, and what the table of the documentation says of them.
macro_rules! agents {
    ($($name:ident { $($case:ident: $note:literal,)* })*) => {
        $(mod $name {
            $(#[test]
            fn $case() {
                super::$case(stringify!($name));
            })*
        })*

        const SHOWN: &[(&str, &[(&str, &str)])] =
            &[$((stringify!($name), &[$((stringify!($case), $note)),*])),*];
    };
}

/// Asks before it uses a tool; half of the answer is given while no daemon lives.
fn asks_a_permission_and_does_what_a_person_allows(name: &str) {
    let allowed = Act::Run("echo moored > quay.txt");
    let denied = Act::Run("echo x > shoal.txt");
    let script = Script::new(&[allowed, denied, Act::Say("The file is there.")]);
    Crew::asked(name, "permissions = \"asked\"\n", script, |crew| {
        let first = crew.question();
        assert!(first["question"].as_str().unwrap().contains("quay.txt"), "{first:#}");
        let id = |asked: &Value| asked["questionId"].as_str().unwrap().to_owned();
        end(crew.stage.home.daemon().unwrap());
        crew.stage.home.run(&["answer", &id(&first), "--choice", "1"]).ends_with(0);
        let second = until("the second question", || {
            crew.inbox().into_iter().find(|asked| asked["questionId"] != first["questionId"])
        });
        assert_eq!(crew.stage.home.status(&crew.run)["attention"][0]["reason"], "input");
        crew.stage.home.run(&["answer", &id(&second), "Not that one"]).ends_with(0);
        landed(&crew);
        assert_eq!(crew.stage.on_target("shoal.txt"), None);
        assert_eq!(crew.count("question-asked"), 2, "{}", crew.stage.story(&crew.run));
        assert_eq!(crew.count("job-started"), 3, "it, its gate and that of the merge");
        crew.close();
    });
}

/// A message is taken into the turn that is under way, with a receipt for each step.
fn is_told_something_while_it_works(name: &str) {
    let tool =
        "echo $$ > $T/tool.new && mv $T/tool.new $T/tool; read _ < $T/go; echo moored > quay.txt";
    let script = Script::new(&[Act::Run(tool), Act::Say("The file is there.")]);
    Crew::with(name, script, |crew| {
        let go = crew.stage.bell("go");
        crew.stage.home.pid("tool");
        crew.stage.home.run(&["send", "quay", "Mind the tide."]).ends_with(0);
        crew.stage.home.until(&crew.run, "written", |_| crew.count("message-written") == 1);
        go.ring();
        landed(&crew);
        assert_eq!(crew.count("message-accepted") + crew.count("message-consumed"), 2);
        let asked = crew.model.asked();
        assert!(asked.last().unwrap().holds("Mind the tide."), "{asked:?}");
        let written = &crew.stage.home.events_of(&crew.run, "message-written")[0];
        assert_eq!(written["way"], "conversation", "{written:#}");
        crew.close();
    });
}

/// The turn is broken off, and the next one begins with what a person said.
fn is_interrupted_and_told_what_to_do_instead(name: &str) {
    let tool = "echo $$ > $T/tool.new && mv $T/tool.new $T/tool; sleep 1000";
    let instead = Act::Write { path: "quay.txt", text: TEXT };
    let script = Script::new(&[Act::Run(tool), instead, Act::Say("The file is there.")]);
    Crew::with(name, script, |crew| {
        let tool = crew.stage.home.pid("tool");
        crew.stage.home.run(&["send", "quay", "--interrupt", "The left one."]).ends_with(0);
        until("the end of the tool", || is_gone(tool).then_some(()));
        landed(&crew);
        let asked = crew.model.asked();
        assert!(asked.last().unwrap().holds("The left one."), "{asked:?}");
        assert_eq!(crew.count("message-consumed"), 1, "{}", crew.stage.story(&crew.run));
        crew.close();
    });
}

agents! {
    claude {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "yes; with a key, it tells a time of reset only where the error's text does",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes; what a tool gave in the last moment before may be lost to it",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
        asks_a_person_and_goes_on_with_the_answer: "yes, by a tool",
    }
    claude_stream {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "as `claude`",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "as `claude`",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
        asks_a_person_and_goes_on_with_the_answer: "yes, by a tool",
        asks_a_permission_and_does_what_a_person_allows: "yes",
        is_told_something_while_it_works: "yes",
        is_interrupted_and_told_what_to_do_instead: "yes",
    }
    codex {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "yes; it tells the minute of a reset, not the second",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
        asks_a_person_and_goes_on_with_the_answer: "yes, by a tool",
    }
    codex_app_server {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "as `codex`",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
        asks_a_person_and_goes_on_with_the_answer: "yes, by a tool",
        asks_a_permission_and_does_what_a_person_allows: "yes",
        is_told_something_while_it_works: "yes",
        is_interrupted_and_told_what_to_do_instead: "yes",
    }
    pi {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "yes, with a time of reset where the error's text has one",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
        asks_a_person_and_goes_on_with_the_answer: "yes, by `tidegate ask` in its shell",
    }
}

/// The table of `docs/agents.md`: a row for each case.
fn table() -> String {
    let mut lines = vec!["| |".to_owned(), "|---|".to_owned()];
    let all = || SHOWN.iter().chain(slow::SHOWN);
    for (name, _) in all() {
        let _ = write!(lines[0], " `{name}` |");
        lines[1].push_str("---|");
    }
    // The most talkative agent has all cases; the first has those of every one.
    let (every, most) = (SHOWN[0].1, SHOWN.iter().max_by_key(|(_, cases)| cases.len()).unwrap().1);
    for (case, _) in most {
        let without = if every.iter().any(|(of, _)| of == case) { "not tried" } else { "no" };
        let mut line = format!("| {} |", case.replace('_', " "));
        for (_, cases) in all() {
            let found = cases.iter().find(|(of, _)| of == case);
            let _ = write!(line, " {} |", found.map_or(without, |(_, note)| note));
        }
        lines.push(line);
    }
    lines.join("\n")
}

#[test]
fn table_of_the_documentation_is_that_of_the_tests() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.contains(&table()), "docs/agents.md is to hold:\n{}", table());
}
