//! Budgets of features and runs: who is stopped, what a person is told, and how it goes on.

use crate::plan_stage::{Stage, feature, one_wave};

const FAILS_TWICE: &str = r#"
echo work >>"$feature.txt"
if [ "$(grep -c "^$feature " "$T/starts")" -le 2 ]; then exit 3; fi"#;

#[test]
fn feature_is_stopped_by_its_budget_and_goes_on_when_a_person_gives_more() {
    let words = [(
        "[limits]",
        "[budget.feature]\nattempts = 1\ntime = \"1h\"\n[retry]\nbackoff = \"10ms\"\n[limits]",
    )];
    let stage = Stage::with(FAILS_TWICE, "true", &words);
    let run = stage.submit(&one_wave(&["a"]));
    for times in 1..=2 {
        let document = stage.needs_person(&run);
        let known = feature(&document, "a");
        assert_eq!(known["blocked"]["reason"], "budget", "{document:#}");
        let unblocks = known["blocked"]["unblocks"].as_str().unwrap();
        let command = format!("tidegate retry {run} --feature a");
        assert!(unblocks.contains(&command), "{unblocks}");
        let detail = known["blocked"]["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("{times} attempts of {times} attempts")), "{detail}");
        assert_eq!(stage.starts("a"), times);
        let told = stage.home.run(&["explain", &run, "--feature", "a"]).ends_with(0).text();
        assert!(told.contains("the feature has used"), "{told}");
        stage.home.kill_daemon();
        stage.home.start_daemon();
        stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    }
    stage.ends(&run, "completed");
    assert_eq!(stage.starts("a"), 3);
    // What the stopped attempts wrote was in the worktree all the time.
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("work\nwork\nwork\n"));
    stage.close();
}

#[test]
fn budget_of_time_ends_an_agent_that_would_work_for_ever() {
    let words = [("[limits]", "[budget.run]\ntime = \"300ms\"\n[limits]")];
    let stage = Stage::with("read -r _ <\"$T/never\"", "true", &words);
    let _never = stage.bell("never");
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    assert_eq!(feature(&document, "a")["blocked"]["reason"], "budget", "{document:#}");
    assert_eq!(stage.starts("a"), 1);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}
