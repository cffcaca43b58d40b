//! Named locks: one feature of a project at a time, first come, first served, whoever dies meanwhile.

use crate::plan_stage::{Stage, feature, one_wave};

/// Waits for its bell, and writes down who else is at work.
const AGENT: &str = r#"
echo "in $feature" >>"$T/book"
echo $$ >"$T/up.$feature"
read -r _ <"$T/go.$feature"
echo "out $feature" >>"$T/book"
echo "$feature" >"$feature.txt""#;

fn book(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.home.beside("book")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn features_of_two_runs_take_their_turns_at_a_lock_while_daemons_are_killed() {
    let stage = Stage::new(AGENT, "true");
    let bells = ["a", "b", "c"].map(|name| stage.bell(&format!("go.{name}")));
    let first = stage.submit(&one_wave(&["a; locks = [\"db\"]", "b; locks = [\"db\"]"]));
    stage.home.appears("up.a");
    stage.home.repo().write("plan.toml", &one_wave(&["c; locks = [\"db\"]"]));
    let words = ["submit", "plan.toml", "--lane", "docks"];
    let second = stage.home.data(&words)["runId"].as_str().unwrap().to_owned();
    let line = |document: &serde_json::Value, id: &str| feature(document, id)["locks"][0].clone();
    let known =
        stage.home.until(&second, "c in the line", |now| line(now, "c")["state"] == "waiting");
    assert_eq!(line(&known, "c")["behind"], format!("{first}/a"), "{known:#}");

    // Whoever holds the lock lives on under its shim, and the line stands as it was.
    stage.home.kill_daemon();
    let dead = stage.home.status(&first);
    assert_eq!(line(&dead, "a")["state"], "held", "{dead:#}");
    assert_eq!(line(&dead, "b")["behind"], format!("{first}/a"), "{dead:#}");
    let told = stage.home.run(&["explain", &second, "--feature", "c"]).ends_with(0).text();
    assert!(told.contains(&format!("lock `db`: {first}/a has it since ")), "{told}");
    stage.home.start_daemon();
    assert_eq!(line(&stage.home.status(&second), "c")["state"], "waiting");

    // Nobody passes the next one in the line, which came before.
    bells[0].ring();
    stage.home.appears("up.b");
    stage.home.kill_daemon();
    assert_eq!(line(&stage.home.status(&second), "c")["state"], "waiting");
    stage.home.start_daemon();
    let known = stage
        .home
        .until(&second, "c behind b", |now| line(now, "c")["behind"] == format!("{first}/b"));
    assert_eq!(feature(&known, "c")["state"], "queued");
    bells[1].ring();
    bells[2].ring();
    stage.ends(&first, "completed");
    stage.ends(&second, "completed");
    assert_eq!(book(&stage), ["in a", "out a", "in b", "out b", "in c", "out c"]);
    stage.close();
}

#[test]
fn killed_holder_frees_the_lock_when_its_feature_ends_and_not_before() {
    let words = [
        ("max_attempts = 3", "max_attempts = 1"),
        ("on_failure = \"stop\"", "on_failure = \"continue\""),
    ];
    let stage = Stage::with(AGENT, "true", &words);
    let bells = ["a", "b"].map(|name| stage.bell(&format!("go.{name}")));
    let run = stage.submit(&one_wave(&["a; locks = [\"db\"]", "b; locks = [\"db\"]"]));
    crate::harness::end(stage.home.pid("up.a"));
    stage.home.appears("up.b");
    let document = stage.home.status(&run);
    assert_eq!(feature(&document, "a")["state"], "failed", "{document:#}");
    assert_eq!(feature(&document, "a")["locks"][0]["state"], "free", "{document:#}");
    let failed = stage.moments(&run, "feature-failed", "a")[0];
    assert!(failed < stage.moments(&run, "locks-taken", "b")[0], "{}", stage.story(&run));
    bells[1].ring();
    stage.ends(&run, "failed");
    drop(bells);
    stage.close();
}
