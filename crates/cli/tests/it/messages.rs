//! Messages of people to agents: typed into terminals, fetched from the inbox, told in the next task,
//! and never said to have come further than is known.

use serde_json::Value;

use crate::plan_stage::{Stage, one_wave};

const TERMINAL: &[(&str, &str)] = &[
    ("agent.sh\\\"\"]", "agent.sh\\\"\", \"{prompt_file}\"]"),
    ("prompt = \"stdin\"", "prompt = \"file\"\nterminal = true"),
];

/// The first message of a run, as the inbox tells it.
fn message(stage: &Stage, run: &str) -> Value {
    stage.home.data(&["inbox", "--all", "--run", run])["messages"][0].clone()
}

#[test]
fn message_to_an_agent_with_a_terminal_is_typed_there_once() {
    let stage = Stage::with("", "true", TERMINAL);
    // Its standard input is the terminal: it reads no task from there.
    std::fs::write(
        stage.home.beside("agent.sh"),
        "echo ready >\"$T/ready\"; read -r line; printf '%s\\n' \"$line\" >a.txt\n",
    )
    .unwrap();
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("ready");
    let sent = stage.home.data(&["send", "a", "The quay has two sides"]);
    assert_eq!((&sent["message"], &sent["delivery"]), (&1.into(), &"queued".into()));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("The quay has two sides\n"));
    let told = message(&stage, &run);
    assert_eq!((&told["delivery"], &told["way"]), (&"written".into(), &"terminal".into()));
    assert_eq!(stage.home.events_of(&run, "message-written").len(), 1);
    let late = stage.home.json(&["send", &format!("{run}/a"), "too late"]);
    assert_eq!(late.error(), "invalid_status_transition");
    stage.close();
}

#[cfg(feature = "failpoints")]
#[test]
fn message_is_typed_once_although_its_daemon_dies_while_it_types() {
    for point in ["typing.before_input", "typing.after_input"] {
        let stage = Stage::with("", "true", TERMINAL);
        std::fs::write(
            stage.home.beside("agent.sh"),
            "echo ready >\"$T/ready\"; read -r line; read _ <\"$T/go\"; stty -icanon min 0 time 2\n\
             printf '%s|%s\\n' \"$line\" \"$(cat)\" >a.txt\n",
        )
        .unwrap();
        let go = stage.bell("go");
        let daemon = stage.home.daemon_with(&[("TIDEGATE_FAIL", &format!("{point}=kill"))]);
        let run = stage.submit(&one_wave(&["a"]));
        stage.home.appears("ready");
        stage.home.run(&["send", "a", "The quay has two sides"]).ends_with(0);
        crate::harness::until(point, || crate::harness::is_gone(daemon.pid()).then_some(()));
        stage.home.start_daemon();
        crate::harness::until("the message", || {
            (message(&stage, &run)["delivery"] == "written").then_some(())
        });
        go.ring();
        stage.ends(&run, "completed");
        let typed = stage.on_target("a.txt");
        assert_eq!(typed.as_deref(), Some("The quay has two sides|\n"), "{point}");
        stage.close();
    }
}

#[test]
fn message_is_accepted_when_its_job_fetches_it_and_consumed_when_it_says_so() {
    let stage = Stage::new(
        r#"
read _ <"$T/sent"
tidegate --json inbox >"$T/inbox"; echo >"$T/fetched"
read _ <"$T/looked"
tidegate inbox --done 1 >/dev/null; echo x >a.txt"#,
        "true",
    );
    let (sent, looked) = (stage.bell("sent"), stage.bell("looked"));
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.until(&run, "an agent at work", |_| stage.starts("a") == 1);
    stage.home.run(&["send", "a", "Mind the tide"]).ends_with(0);
    assert_eq!(message(&stage, &run)["delivery"], "queued", "no terminal, and nobody fetched it");
    sent.ring();
    stage.home.appears("fetched");
    let inbox = std::fs::read_to_string(stage.home.beside("inbox")).unwrap();
    let inbox: Value = serde_json::from_str(&inbox).unwrap();
    assert_eq!(inbox["data"]["messages"][0]["text"], "Mind the tide", "{inbox:#}");
    assert_eq!(message(&stage, &run)["delivery"], "accepted");
    looked.ring();
    stage.ends(&run, "completed");
    assert_eq!(message(&stage, &run)["delivery"], "consumed");
    stage.close();
}

#[test]
fn message_that_no_agent_acted_on_stands_in_the_next_task() {
    let stage = Stage::new(
        r#"
if [ "$TIDEGATE_ATTEMPT" = 1 ]; then read _ <"$T/sent"; exit 1; fi
echo x >a.txt"#,
        "true",
    );
    let sent = stage.bell("sent");
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.until(&run, "an agent at work", |_| stage.starts("a") == 1);
    stage.home.run(&["send", &format!("{}/a", &run[..8]), "Mind the tide"]).ends_with(0);
    sent.ring();
    stage.ends(&run, "completed");
    let prompt = stage.prompt("a", 2);
    assert!(prompt.contains("tells you: Mind the tide"), "{prompt}");
    let told = message(&stage, &run);
    assert_eq!((&told["delivery"], &told["way"]), (&"written".into(), &"task".into()));
    let why = stage.home.data(&["explain", &run, "--feature", "a"]);
    assert!(why.to_string().contains("message 1 of"), "{why:#}");
    stage.close();
}
