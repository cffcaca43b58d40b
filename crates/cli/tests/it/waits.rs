//! What waiting verbs say by their exit codes, and the output of jobs.

use crate::harness::{Fence, Home};

#[test]
fn wait_ends_with_the_code_of_what_became_of_the_run() {
    let home = Home::new();
    let good = home.script(&["--adhoc-run", "a"], "exit 0");
    let bad = home.script(&["--adhoc-run", "b"], "exit 77");
    let killed = home.script(&["--adhoc-run", "c"], "kill -SEGV $$");
    let long = home.script(&["--adhoc-run", "d"], "mark long; await never");
    home.run(&["wait", &good]).ends_with(0);
    home.run(&["wait", &bad]).ends_with(10);
    home.run(&["wait", &bad, "--exit-code"]).ends_with(77);
    home.run(&["wait", &good[..7]]).ends_with(0);
    home.run(&["wait", &killed, "--exit-code"]).ends_with(10);
    assert_eq!(
        home.json(&["wait", &long, "--timeout", "50ms"]).ends_with(5).error(),
        "wait_timed_out"
    );
    home.run(&["wait", &long, "--timeout", "0"]).ends_with(5);
    home.run(&["wait", &long, "--timeout", "50ms", "--exit-code"]).ends_with(124);
    home.run(&["cancel", &long, "--wait"]).ends_with(0);
    home.run(&["wait", &long]).ends_with(11);
    home.run(&["wait", "r0000"]).ends_with(1);
    home.run(&["wait", "nothing"]).ends_with(1);
    home.close();
}

#[test]
fn run_verb_passes_the_code_of_its_launcher_through() {
    let home = Home::new();
    let output = home.run(&["run", "--", "sh", "-c", "echo from below; exit 42"]).ends_with(42);
    assert!(output.text().contains("from below"), "{output:?}");
    home.close();
}

#[test]
fn wait_goes_on_over_the_death_of_every_daemon() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await go; exit 5");
    home.pid("a");
    let mut waiting = home.call(&["wait", &run]);
    let mut waiting = Fence::start(waiting.stdout(std::process::Stdio::null()));
    for _ in 0..3 {
        home.kill_daemon();
        // The waiting verb brings the next one.
        crate::harness::until("another daemon", || home.daemon());
    }
    home.go("go");
    assert_eq!(waiting.code(), 10);
    assert_eq!(home.status(&run)["exitCode"], 5);
    home.close();
}

#[test]
fn logs_are_the_bytes_that_were_written_over_all_attempts() {
    let home = Home::new();
    let run = home.script(
        &["--start-wave", "1"],
        r#"
        printf 'start %s\377\376\n' "${TIDEGATE_RESUME:-0}"; echo err >&2
        [ -z "$TIDEGATE_RESUME" ] && { mark a; await never; }; exit 0"#,
    );
    let launcher = home.pid("a");
    let mut following = home.call(&["logs", &run, "-f"]);
    let following = following.stdout(std::process::Stdio::piped()).spawn().unwrap();
    crate::harness::end(launcher);
    home.ended(&run);
    let wanted = b"start 0\xff\xfe\nerr\nstart 1\xff\xfe\nerr\n";
    assert_eq!(home.logs(&run), wanted);
    // It ends by itself, and missed nothing.
    let followed = following.wait_with_output().unwrap();
    assert!(followed.status.success());
    assert_eq!(followed.stdout, wanted);
    let document = home.status(&run);
    let path = document["launcherLogPath"].as_str().unwrap();
    assert_eq!(
        std::fs::read(path).unwrap(),
        b"start 1\xff\xfe\nerr\n",
        "plain bytes, latest attempt"
    );
    assert_eq!(home.run(&["logs", &run, "--tail", "1"]).bytes, b"err\nerr\n");
    home.close();
}

#[test]
fn logs_without_a_daemon_and_of_what_is_not_there() {
    let home = Home::new();
    let run = home.script(&[], "echo said");
    home.ended(&run);
    home.run(&["daemon", "stop"]).ends_with(0);
    assert_eq!(home.logs(&run), b"said\n");
    home.run(&["logs", &run, "-f"]).ends_with(0);
    assert_eq!(home.json(&["logs", "r00nothing"]).ends_with(1).error(), "not_found");
    home.run(&["logs", &run, "--agent", "nobody"]).ends_with(1);
    assert!(home.daemon().is_none(), "reading started a daemon");
    home.close();
}

#[test]
fn reader_of_standard_output_that_leaves_gets_the_verb_ended() {
    let home = Home::new();
    let run = home.submit(&[], &["sh", "-c", "head -c 3000000 /dev/zero"]);
    home.ended(&run);
    let mut script = std::process::Command::new("bash");
    script.args([
        "-c",
        &format!("tidegate logs {run} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}"),
    ]);
    home.place(&mut script);
    assert_eq!(script.status().unwrap().code(), Some(3));
    home.close();
}
