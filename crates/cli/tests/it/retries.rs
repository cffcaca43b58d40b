//! Retries with backoff: a crashed agent is tried again at once, then after waits that outlive the
//! daemon and are told.

use crate::plan_stage::Stage;

const PLAN: &str = "[[wave]]\n[[wave.feature]]\nid = \"berths\"\nprompt = \"Build.\"\n";

fn stage(agent: &str, retry: &str) -> Stage {
    let limits = format!("[retry]\n{retry}\n[limits]\nmax_attempts = 9");
    Stage::with(agent, "true", &[("[limits]\nmax_attempts = 3", &limits)])
}

#[test]
fn second_retry_waits_and_the_wait_is_told_and_a_person_need_not_wait() {
    let stage = stage("exit 1", "backoff = \"1h\"\nmax_backoff = \"2h\"");
    let home = &stage.home;
    let run = stage.submit(PLAN);
    let document = home.until(&run, "its next attempt waits", |run| {
        let waits = run["features"][0]["waitsFor"].as_str().unwrap_or_default();
        waits.contains("its next attempt, due about")
    });
    assert_eq!(stage.starts("berths"), 2, "the first retry comes at once");
    assert_eq!(document["features"][0]["iteration"], 1);
    let because = home.data(&["explain", &run, "--feature", "berths"])["because"].clone();
    assert!(because.as_str().unwrap().contains("2 have failed"), "{because}");

    // The wait is neither forgotten nor begun anew.
    let due = document["features"][0]["waitsFor"].clone();
    home.kill_daemon();
    home.start_daemon();
    assert_eq!(home.status(&run)["features"][0]["waitsFor"], due);

    home.run(&["retry", &run, "--feature", "berths"]).ends_with(0);
    home.until(&run, "a third attempt", |_| stage.starts("berths") == 3);
    home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.home.close();
}

#[test]
fn short_waits_end_by_themselves_under_a_daemon_that_was_killed_meanwhile() {
    let agent = "[ \"$TIDEGATE_ATTEMPT\" -gt 2 ] || exit 1\necho done > made.txt";
    let stage = stage(agent, "backoff = \"2s\"");
    let home = &stage.home;
    let run = stage.submit(PLAN);
    home.until(&run, "its next attempt waits", |run| {
        let waits = run["features"][0]["waitsFor"].as_str().unwrap_or_default();
        waits.contains("its next attempt, due about")
    });
    home.kill_daemon();
    home.start_daemon();
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(home.events_of(&run, "retry-due").len(), 1);
    assert_eq!(home.events_of(&run, "attempt-failed").len(), 2);
    stage.home.close();
}
