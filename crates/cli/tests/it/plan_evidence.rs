//! What gates leave beside their exit codes: reports and coverage that count, and those that do not.

use serde_json::Value;

use crate::plan_stage::{Stage, feature, one_wave};

/// A stage with these gates beside the usual one, which nobody asks for.
fn stage(agent: &str, gates: &str) -> Stage {
    let gates = format!("{gates}\n[review]");
    let words = [
        ("[review]", gates.as_str()),
        ("policy = \"auto\"", "policy = \"auto\"\nintegrity = \"off\""),
        ("merge_gates = [\"test\"]", "merge_gates = []"),
        ("on_failure = \"stop\"", "on_failure = \"continue\""),
    ];
    Stage::with(agent, "true", &words)
}

fn evidence<'a>(document: &'a Value, id: &str) -> &'a Value {
    &feature(document, id)["evidence"][0]
}

#[test]
fn report_that_says_no_sends_the_builder_back_and_its_counts_are_told() {
    let agent = r#"case $prompt in *'did not pass: quay'*) w='ok' ;; *) w='not ok' ;; esac
printf '1..2\nok 1 - berth\n%s 2 - quay\n' "$w" >a.txt"#;
    let gates = "[gate.tap]\nrun = 'cat a.txt >report.tap'\nreports = [\"*.tap\"]\n";
    let stage = stage(agent, gates);
    let run = stage.submit(&one_wave(&["a; gates = [\"tap\"]"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2, "the gate ended well both times");
    let told = evidence(&document, "a");
    assert_eq!((&told["passed"], &told["tests"]["passed"]), (&true.into(), &2.into()), "{told:#}");
    assert_eq!(stage.moments(&run, "evidence-read", "a").len(), 2);
    let why = stage.home.run(&["explain", &run, "--feature", "a"]);
    assert!(why.text().contains("2 of 2 tests passed"), "{}", why.text());
    stage.close();
}

#[test]
fn report_that_is_missing_old_empty_or_left_by_another_run_fails_the_gate() {
    let gates = r#"
[gate.missing]
run = 'true'
reports = ["out/*.xml"]
[gate.old]
run = 'printf "1..1\nok 1\n" >"$T/old.tap"; touch -d 2001-01-01 "$T/old.tap"; cp -p "$T/old.tap" r.tap'
reports = ["r.tap"]
[gate.none]
run = 'echo 1..0 >r.tap'
reports = ["r.tap"]
[gate.kept]
run = 'mkdir -p kept; test -e "$T/kept" || { printf "1..1\nok 1\n" >kept/r.tap; touch "$T/kept"; exit 1; }'
reports = ["kept/r.tap"]
cache = ["kept"]
retries = 1
[gate.away]
run = 'mkdir -p "$T/away"; printf "1..1\nok 1\n" >"$T/away/r.tap"; ln -s "$T/away" out'
reports = ["out/r.tap"]
"#;
    let stage = stage("echo x >$feature.txt", gates);
    let names = ["missing", "old", "none", "kept", "away"];
    let features = names.map(|n| format!("{n}; gates = [\"{n}\"]; max_iterations = 1"));
    let run = stage.submit(&one_wave(&features.each_ref().map(String::as_str)));
    let document = stage.ends(&run, "failed");
    let said = [
        ("missing", "out/*.xml: the report is missing"),
        ("old", "older than the start of the gate"),
        ("none", "count no test that ran"),
        ("kept", "kept/r.tap: the report is missing"),
        ("away", "out/r.tap: the report is missing"),
    ];
    for (id, said) in said {
        let told = evidence(&document, id);
        let problems = told["problems"].to_string();
        assert!(problems.contains(said), "{id}: {told:#}");
        assert_eq!((&told["exitCode"], &told["passed"]), (&0.into(), &false.into()), "{told:#}");
        let reason = feature(&document, id)["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains(said), "{reason}");
    }
    stage.close();
}

#[test]
fn coverage_below_what_is_asked_fails_and_names_the_lines() {
    let agent = "case $prompt in *'changed lines'*) n=1 ;; *) n=0 ;; esac; echo $n >a.txt";
    let gates = r#"
[gate.cov]
run = 'printf "SF:%s/a.txt\nDA:1,%s\nend_of_record\nSF:b\nDA:1,1\nend_of_record\n" "$PWD" "$(cat a.txt)" >lcov.info'
[gate.cov.coverage]
file = "lcov.info"
lines = 50
changed_lines = 80.5
"#;
    let stage = stage(agent, gates);
    let run = stage.submit(&one_wave(&["a; gates = [\"cov\"]"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    let prompt = stage.prompt("a", 2);
    assert!(prompt.contains("at least 80.50 % are asked: a.txt 0.00 % (0/1), lines 1"), "{prompt}");
    let told = evidence(&document, "a");
    assert_eq!(told["coverage"]["lines"]["percent"], "100.00 %", "{told:#}");
    assert_eq!(told["coverage"]["changed_lines"]["found"], 1, "{told:#}");
    stage.close();
}

#[test]
fn gate_that_changes_what_it_judges_fails_unless_it_may() {
    let gates = r"
[gate.rewrites]
run = 'echo mended >check.sh'
[gate.locks]
run = 'echo mended >check.sh'
may_change = true
";
    let stage = stage("echo x >$feature.txt", gates);
    let run = stage.submit(&one_wave(&[
        "a; gates = [\"rewrites\"]; max_iterations = 1",
        "b; gates = [\"locks\"]; max_iterations = 1",
    ]));
    let document = stage.ends(&run, "failed");
    assert_eq!(feature(&document, "b")["state"], "landed");
    let told = evidence(&document, "a");
    assert_eq!(told["changed"][0], "check.sh", "{told:#}");
    assert!(told["problems"][0].as_str().unwrap().contains("changed files"), "{told:#}");
    assert_eq!(evidence(&document, "b")["changed"][0], "check.sh", "said all the same");
    stage.close();
}

#[test]
fn same_failure_of_the_same_tree_stops_the_builder_and_says_so() {
    let gates = "[gate.never]\nrun = 'echo \"not ok: $$ at $(date +%N)\"; exit 3'\n";
    let stage = stage("echo same >a.txt", gates);
    let run = stage.submit(&one_wave(&["a; gates = [\"never\"]"]));
    let stuck = |document: &Value| feature(document, "a")["blocked"]["reason"] == "no_progress";
    let document = stage.home.until(&run, "it does not get on", stuck);
    let a = feature(&document, "a");
    assert_eq!((&a["iteration"], stage.starts("a")), (&3.into(), 3), "{a:#}");
    let why = stage.home.run(&["explain", &run, "--feature", "a"]);
    assert!(why.text().contains("failed 3 times in a row"), "{}", why.text());
    stage.agent("echo other >a.txt");
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    stage.home.until(&run, "it stops again", |doc| stage.starts("a") == 6 && stuck(doc));
    stage.home.run(&["cancel", &run, "--wait"]);
    stage.close();
}

#[test]
fn kinds_of_changes_have_policies_of_their_own_and_an_unknown_one_is_refused() {
    let stage = Stage::with("echo 'true # mended' >check.sh", "true", &[]);
    stage.config(&[("[landing]", "[integrity]\nchanged_gate = \"note\"\n[landing]")]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let looks = stage.home.events_of(&run, "inspected");
    assert_eq!(looks[0]["inspection"]["findings"][0]["kind"], "changed_gate", "{looks:?}");
    let repo = stage.home.repo();
    let text = std::fs::read_to_string(repo.root().join("tidegate.toml")).unwrap();
    let text = text.replace("changed_gate", "changed_gat");
    repo.write("tidegate.toml", &text);
    let refused = stage.home.json(&["plan", "check", "plan.toml"]);
    assert!(refused.text().contains("did you mean `changed_gate`"), "{}", refused.text());
    stage.close();
}
