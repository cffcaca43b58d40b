//! Jobs that do not behave: deaf, detached, loud, garbled. Their run ends, their output is kept as it
//! was, and nothing of them is left.

use crate::harness::{Home, is_gone};

#[test]
fn job_whose_grandchildren_hold_its_pipes_ends_with_its_main_process() {
    let home = Home::new();
    let run = home.script(&[], "sleep 1000 & mark holder $!; echo main part done");
    let document = home.ended(&run);
    assert_eq!((&document["status"], &document["exitCode"]), (&"completed".into(), &0.into()));
    assert!(is_gone(home.pid("holder")));
    assert_eq!(home.logs(&run), b"main part done\n");
    home.close();
}

#[test]
fn job_that_leaves_its_session_and_its_parents_is_ended_whole() {
    let home = Home::new();
    let run = home.script(&[], "
        (sleep 1000 & mark child $!)
        setsid sh -c 'echo $$ > $T/session.new; mv $T/session.new $T/session; exec sleep 1000' &
        ( ( setsid sh -c 'echo $$ > $T/double.new; mv $T/double.new $T/double; exec sleep 1000' & ) & )
        env -i T=$T setsid sh -c 'echo $$ > $T/bare.new; mv $T/bare.new $T/bare; exec sleep 1000' &
        await child; await session; await double; await bare; exit 0");
    assert_eq!(home.ended(&run)["status"], "completed");
    for name in ["child", "session", "double", "bare"] {
        assert!(is_gone(home.pid(name)), "{name} is left");
    }
    home.close();
}

#[test]
fn job_that_ignores_every_polite_signal_is_ended() {
    let home = Home::new();
    let run = home.script(&[], "trap '' TERM INT HUP QUIT; mark a; while :; do sleep 0.1; done");
    let pid = home.pid("a");
    home.run(&["cancel", &run, "--wait"]).ends_with(0);
    assert!(is_gone(pid));
    home.close();
}

#[test]
fn job_that_cleans_up_at_the_signal_gets_the_time_for_it() {
    let home = Home::new();
    let run = home.script(
        &[],
        "trap 'sleep 0.5; echo saved >> $T/saved; exit 0' TERM
        mark a; while :; do sleep 0.05; done",
    );
    home.pid("a");
    home.run(&["cancel", &run, "--wait"]).ends_with(0);
    assert_eq!(home.lines("saved"), 1);
    let jobs = home.data(&["logs", &run]);
    assert_eq!(jobs["logs"][0]["state"], "finished");
    home.close();
}

/// `TIDEGATE_OUTPUT_BYTES=N` says how much is printed; a gigabyte takes too long for every change.
#[test]
fn output_of_a_hundred_megabytes_is_kept_whole() {
    let home = Home::new();
    let number = std::env::var("TIDEGATE_OUTPUT_BYTES");
    let bytes: usize = number.map_or(100_000_000, |number| number.parse().unwrap());
    let script = format!("head -c {bytes} /dev/zero | tr '\\0' x; echo; echo end");
    let run = home.submit(&[], &["sh", "-c", &script]);
    assert_eq!(home.ended(&run)["status"], "completed");
    let logs = home.logs(&run);
    assert_eq!(logs.len(), bytes + "\nend\n".len());
    assert!(logs.ends_with(b"x\nend\n") && logs[..bytes].iter().all(|byte| *byte == b'x'));
    assert_eq!(home.run(&["logs", &run, "--tail", "1"]).bytes, b"end\n");
    let jobs = home.data(&["logs", &run]);
    assert_eq!(jobs["logs"][0]["outputBytes"], logs.len());
    home.close();
}

#[test]
fn output_of_any_bytes_is_printed_as_it_was_written() {
    let home = Home::new();
    let every: Vec<u8> = (0..=255).collect();
    std::fs::write(home.beside("every"), &every).unwrap();
    // Multi-byte characters cut anywhere, control sequences, no newline at the end.
    let run = home.script(
        &[],
        r#"
        cat "$T/every"; for byte in 342 202 254; do printf "\\$byte"; sleep 0.01; done
        printf '\033[31m\033]0;x\007\r50%%\rlast words'"#,
    );
    home.ended(&run);
    let mut wanted = every;
    wanted.extend("€\u{1b}[31m\u{1b}]0;x\u{7}\r50%\rlast words".as_bytes());
    assert_eq!(home.logs(&run), wanted);
    home.close();
}

#[test]
fn writing_to_the_devices_of_the_streams_truncates_nothing() {
    let home = Home::new();
    let run = home
        .script(&[], "echo first; echo second > /dev/stderr; echo third > /dev/stdout; echo last");
    home.ended(&run);
    // Two streams have no order between them.
    let logs = String::from_utf8(home.logs(&run)).unwrap();
    let mut lines: Vec<&str> = logs.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["first", "last", "second", "third"]);
    assert!(logs.find("first") < logs.find("third") && logs.find("third") < logs.find("last"));
    home.close();
}

#[test]
fn job_that_closes_its_streams_runs_on_to_its_own_end() {
    let home = Home::new();
    let run = home.script(&[], "echo said; exec >&- 2>&- <&-; await go; exit 9");
    home.until(&run, "its start", |d| d["launcherPid"].is_u64() && d["recorded"] == true);
    assert_eq!(home.status(&run)["status"], "running");
    home.go("go");
    assert_eq!(home.ended(&run)["exitCode"], 9);
    assert_eq!(home.logs(&run), b"said\n");
    home.close();
}

#[test]
fn standard_input_of_a_job_is_at_its_end_at_once() {
    let home = Home::new();
    let run = home.script(&[], "[ -t 0 ] && echo tty; wc -c");
    home.ended(&run);
    assert_eq!(home.logs(&run), b"0\n");
    home.close();
}

#[test]
fn fork_bomb_of_a_bounded_kind_is_ended_by_a_cancel() {
    let home = Home::new();
    // Every child that is ended is replaced, until its parent is ended too.
    let run = home.script(
        &[],
        "
        breed() { trap '' TERM; while :; do ( sleep 1000 ) & wait $!; done; }
        for n in 1 2 3 4 5 6 7 8; do breed & done; mark a; wait",
    );
    home.pid("a");
    home.run(&["cancel", &run, "--wait"]).ends_with(0);
    assert!(home.processes(&run).is_empty());
    home.close();
}

#[test]
fn environment_of_a_job_is_the_one_of_its_submit() {
    let home = Home::new();
    home.start_daemon();
    let mut call =
        home.call(&["--json", "submit", "--", "sh", "-c", "echo $HARBOUR; umask; pwd -P"]);
    let output = call.env("HARBOUR", "as submitted").output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let run = answer["data"]["runId"].as_str().unwrap();
    home.ended(run);
    let root = std::fs::canonicalize(home.repo().root()).unwrap();
    let wanted = format!("as submitted\n0022\n{}\n", root.display());
    assert_eq!(String::from_utf8(home.logs(run)).unwrap(), wanted);
    home.close();
}
