//! The gates of one commit: side by side, in the order of their needs, tried again, and told.

use serde_json::Value;

use crate::plan_stage::{Stage, feature, one_wave, waves};

/// A stage with these gates beside the usual one, which the merge does not ask for.
fn stage(agent: &str, gates: &str) -> Stage {
    let gates = format!("{gates}\n[review]");
    let words = [
        ("[review]", gates.as_str()),
        // The gates of these tests name the file that the agents write.
        ("policy = \"auto\"", "policy = \"auto\"\nintegrity = \"off\""),
        ("merge_gates = [\"test\"]", "merge_gates = []"),
        ("[limits]", "[limits]\ngate_timeout = \"40s\"\ngrace = \"100ms\""),
    ];
    Stage::with(agent, "true", &words)
}

fn evidence<'a>(document: &'a Value, gate: &str) -> &'a Value {
    let all = feature(document, "a")["evidence"].as_array().unwrap();
    let found = all.iter().find(|one| one["gate"] == gate);
    found.unwrap_or_else(|| panic!("no gate {gate}: {all:#?}"))
}

#[test]
fn gates_without_an_order_overlap() {
    let gates = r#"
[gate.left]
run = 'echo go >"$T/right.bell"; read _ <"$T/left.bell"'
[gate.right]
run = 'read _ <"$T/right.bell"; echo go >"$T/left.bell"'
"#;
    let stage = stage("echo x >a.txt", gates);
    // Without a reader and a writer at once neither of them is opened.
    for bell in ["left.bell", "right.bell"] {
        let path = stage.home.beside(bell);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    let run = stage.submit(&one_wave(&["a; gates = [\"left\", \"right\"]"]));
    let document = stage.ends(&run, "completed");
    for gate in ["left", "right"] {
        let told = evidence(&document, gate);
        assert_eq!((&told["passed"], &told["attempts"]), (&true.into(), &1.into()), "{told:#}");
    }
    stage.close();
}

#[test]
fn gates_run_in_the_order_of_their_needs_and_stop_at_a_failure() {
    let gates = r#"
[gate.fmt]
run = 'echo fmt >>"$T/order"; grep -q neat a.txt'
[gate.lint]
run = 'echo lint >>"$T/order"'
needs = ["fmt"]
[profile.full]
gates = ["lint"]
"#;
    let agent =
        "case $prompt in *\"gate fmt\"*|*\"fmt\"*) echo neat >a.txt ;; *) echo wild >a.txt ;; esac";
    let stage = stage(agent, gates);
    let run = stage.submit(&one_wave(&["a; gates = [\"@full\"]"]));
    let document = stage.ends(&run, "completed");
    let order = std::fs::read_to_string(stage.home.beside("order")).unwrap();
    assert_eq!(order, "fmt\nfmt\nlint\n", "what needs a gate that failed does not begin");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    stage.close();
}

#[test]
fn needs_of_gates_in_a_circle_are_refused_with_file_and_line() {
    let stage = stage("echo x >a.txt", "");
    let circle = "[gate.one]\nrun = \"true\"\nneeds = [\"two\"]\n[gate.two]\nrun = \"true\"\nneeds = [\"one\"]\n[review]";
    stage.config(&[("[review]", circle)]);
    stage.home.repo().write("plan.toml", &waves(&[&["a; gates = [\"one\"]"]]));
    let refused = stage.home.json(&["submit", "plan.toml"]);
    let text = refused.text();
    assert_eq!(refused.code, 1, "{text}");
    assert!(text.contains("need_cycle") && text.contains("tidegate.toml"), "{text}");
    stage.home.close();
}

#[test]
fn gate_that_passes_at_its_second_attempt_is_told_as_flaky() {
    let gates = r#"
[gate.moody]
run = 'test -e "$T/once" || { touch "$T/once"; echo "not today"; exit 3; }'
retries = 2
"#;
    let stage = stage("echo x >a.txt", gates);
    let run = stage.submit(&one_wave(&["a; gates = [\"moody\"]"]));
    let document = stage.ends(&run, "completed");
    let told = evidence(&document, "moody");
    assert_eq!(told["flaky"], true, "{told:#}");
    assert_eq!((&told["attempts"], &told["failures"]), (&2.into(), &1.into()), "{told:#}");
    assert_eq!(feature(&document, "a")["iteration"], 1, "no builder was asked again");
    assert_eq!(stage.moments(&run, "gate-retried", "a").len(), 1);
    let why = stage.home.run(&["explain", &run, "--feature", "a"]);
    assert!(why.text().contains("flaky"), "{}", why.text());
    stage.close();
}

#[test]
fn retries_of_a_gate_are_bounded_and_its_last_failure_is_the_evidence() {
    let gates = "\n[gate.never]\nrun = 'echo \"not ok: never\"; exit 3'\nretries = 1\n";
    let stage = stage("echo $TIDEGATE_ATTEMPT >a.txt", gates);
    let run = stage.submit(&one_wave(&["a; gates = [\"never\"]; max_iterations = 2"]));
    stage.ends(&run, "failed");
    assert_eq!(stage.moments(&run, "gate-retried", "a").len(), 2, "one in each iteration");
    assert_eq!(stage.moments(&run, "gate-failed", "a").len(), 2);
    assert!(stage.prompt("a", 2).contains("not ok: never"));
    stage.close();
}

#[test]
fn failed_gate_waits_for_those_beside_it_before_the_builder_is_told() {
    let gates = r#"
[gate.quick]
run = 'grep -q good a.txt || { echo "not ok: quick"; exit 1; }'
[gate.slow]
run = 'read _ <"$T/slow"'
"#;
    let agent =
        "case $prompt in *\"not ok: quick\"*) echo good >a.txt ;; *) echo bad >a.txt ;; esac";
    let stage = stage(agent, gates);
    let bell = stage.bell("slow");
    let run = stage.submit(&one_wave(&["a; gates = [\"quick\", \"slow\"]"]));
    let failed = |document: &Value| {
        let all = feature(document, "a")["evidence"].as_array().unwrap();
        all.iter().any(|one| one["gate"] == "quick" && one["passed"] == false)
    };
    let document = stage.home.until(&run, "the quick gate fails", failed);
    let a = feature(&document, "a");
    assert_eq!((&a["state"], &a["step"]), (&"verifying".into(), &"gate:slow".into()), "{a:#}");
    assert!(stage.moments(&run, "iteration-failed", "a").is_empty());
    bell.ring();
    bell.ring();
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("good\n"));
    stage.close();
}
