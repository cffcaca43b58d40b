//! Launchers that are started again: row 5 of their table, its arguments and its limit.

use serde_json::{Value, json};

use crate::harness::{Home, end, until};

/// Counts its start, notes what it was told, and waits at its first start only.
const TELLING: &str = r#"
count starts
echo "$TIDEGATE_START_WAVE/$TIDEGATE_END_WAVE/$TIDEGATE_AUTO_NEXT/$TIDEGATE_RESUME/$TIDEGATE_RESUME_WAVE $*" >> "$T/told"
[ "$TIDEGATE_RESUME" = 1 ] && exit 0
mark launcher
await go
"#;

/// Kills the shim of a run's present launcher.
fn lose(home: &Home, run: &str) {
    let shim = home.status(run)["shimIdentity"]["pid"].as_u64().unwrap();
    end(u32::try_from(shim).unwrap());
}

fn told(home: &Home) -> Vec<String> {
    let text = std::fs::read_to_string(home.beside("told")).unwrap();
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn lost_launcher_with_a_selection_is_started_again_once_at_its_wave() {
    let home = Home::new();
    let run = home.script(&["--start-wave", "2", "--end-wave", "3"], TELLING);
    home.pid("launcher");
    lose(&home, &run);
    let document = home.ended(&run);
    assert_eq!(document["status"], "completed", "{document}");
    assert_eq!(document["resumeAttempts"], 1);
    assert_eq!(document["activeWave"], 3);
    assert_eq!(home.lines("starts"), 2);
    assert_eq!(told(&home), ["2/3///", "2/3//1/2"]);
    let started = home.events_of(&run, "launcher-started");
    let resumed: Vec<&Value> = started.iter().map(|event| &event["resumed"]).collect();
    assert_eq!(resumed, [&json!(false), &json!(true)]);
    home.close();
}

#[test]
fn launcher_killed_by_a_signal_is_started_again_too() {
    let home = Home::new();
    let run = home.script(&["--start-wave", "1"], TELLING);
    end(home.pid("launcher"));
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(home.lines("starts"), 2);
    home.close();
}

#[test]
fn resume_goes_on_at_the_wave_of_the_journal() {
    let home = Home::new();
    let script = format!(
        "[ -z \"$TIDEGATE_RESUME\" ] && tidegate progress --wave 5 --phase building\n{TELLING}"
    );
    let run = home.script(&["--start-wave", "2"], &script);
    home.pid("launcher");
    lose(&home, &run);
    let document = home.ended(&run);
    assert_eq!((&document["status"], &document["activeWave"]), (&json!("completed"), &json!(5)));
    assert_eq!(told(&home)[1], "5///1/5");
    home.close();
}

#[test]
fn resume_limit_ends_a_run_that_makes_no_progress() {
    for (limit, starts) in [(0, 1), (1, 2), (2, 3)] {
        let home = Home::new();
        let flags = ["--start-wave", "1", "--resume-limit", &limit.to_string()];
        let run = home.script(&flags, "count starts; mark launcher.$(wc -l < $T/starts); await go");
        for start in 1..=starts {
            home.pid(&format!("launcher.{start}"));
            lose(&home, &run);
        }
        let document = home.ended(&run);
        assert_eq!(document["terminalDisposition"], "launcher-lost-before-status");
        assert_eq!(document["resumeAttempts"], limit);
        assert_eq!(home.lines("starts"), starts);
        home.close();
    }
}

#[test]
fn resume_limit_counts_anew_after_progress_and_the_attempts_never_fall() {
    let home = Home::new();
    let script = "count starts; n=$(wc -l < $T/starts); tidegate progress --wave $n
        [ $n = 4 ] && exit 0; mark launcher.$n; await go";
    let run = home.script(&["--start-wave", "1"], script);
    for start in 1..=3 {
        home.pid(&format!("launcher.{start}"));
        lose(&home, &run);
    }
    let document = home.ended(&run);
    assert_eq!(document["status"], "completed", "{document}");
    assert_eq!(document["resumeAttempts"], 3);
    home.close();
}

#[test]
fn wave_past_the_end_of_the_selection_is_not_resumed() {
    let home = Home::new();
    let script = "count starts; tidegate progress --wave 3; mark launcher; await go";
    let run = home.script(&["--start-wave", "1", "--end-wave", "2"], script);
    home.pid("launcher");
    lose(&home, &run);
    assert_eq!(home.ended(&run)["terminalDisposition"], "launcher-lost-before-status");
    assert_eq!(home.lines("starts"), 1);
    home.close();
}

/// A home whose repository has a launcher entry, trusted.
fn with_entry(entry: &str) -> (Home, String) {
    let home = Home::new();
    let program = home.program("waves", TELLING);
    let text = format!("target = \"main\"\n[launcher.waves]\nargv = [{program:?}]\n{entry}\n");
    home.repo().write("tidegate.toml", &text);
    home.run(&["config", "trust"]).ends_with(0);
    (home, program)
}

#[test]
fn launcher_whose_entry_appends_the_selection_is_resumed_in_that_form() {
    let (home, program) = with_entry("selection = \"append\"");
    let run = home.submit(&["--start-wave", "2", "--end-wave", "4"], &[program.as_str(), "--fast"]);
    home.pid("launcher");
    lose(&home, &run);
    let document = home.ended(&run);
    assert_eq!(document["launcherArgs"], json!([program, "--fast"]), "it is never overwritten");
    assert_eq!(
        told(&home),
        [
            "2/4/// --fast --start-wave 2 --end-wave 4",
            "2/4//1/2 --fast --start-wave 2 --end-wave 4 --resume-control-state",
        ]
    );
    home.close();
}

#[test]
fn launcher_that_was_asked_for_the_next_wave_is_asked_again() {
    let (home, program) = with_entry("selection = \"append\"");
    let run = home.submit(&["--auto-next", "--end-wave", "4"], &[program.as_str()]);
    home.pid("launcher");
    home.run(&["progress", "--wave", "3", "--run-id", &run]).ends_with(0);
    lose(&home, &run);
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(
        told(&home),
        [
            "/4/1// --auto-next --end-wave 4",
            "3/4/1/1/3 --auto-next --end-wave 4 --resume-control-state",
        ]
    );
    home.close();
}

#[test]
fn launcher_whose_entry_has_an_argv_for_resumes_gets_it_filled_in() {
    let (home, program) = with_entry("");
    let entry = format!("resume_argv = [{program:?}, \"again\", \"{{wave}}\", \"{{run}}\"]");
    let text = format!("target = \"main\"\n[launcher.waves]\nargv = [{program:?}]\n{entry}\n");
    home.repo().write("tidegate.toml", &text);
    home.run(&["config", "trust"]).ends_with(0);
    let run = home.submit(&["--start-wave", "2"], &[program.as_str()]);
    home.pid("launcher");
    lose(&home, &run);
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(told(&home)[1], format!("2///1/2 again 2 {run}"));
    home.close();
}

#[test]
fn lost_launcher_is_started_once_by_whichever_daemon_comes() {
    let home = Home::new();
    let run = home.script(&["--start-wave", "2"], TELLING);
    home.pid("launcher");
    let shim = home.status(&run)["shimIdentity"]["pid"].as_u64().unwrap();
    home.kill_daemon();
    end(u32::try_from(shim).unwrap());
    for _ in 0..3 {
        let document = home.status(&run);
        assert_eq!(document["recoveryState"], "resuming", "{document}");
        assert_eq!(document["resumeAction"], "resume-current-wave");
        assert_eq!(document["resumeAttempts"], 0);
        assert_eq!(
            (&document["recorded"], &document["supervised"]),
            (&json!(false), &json!(false))
        );
    }
    home.run(&["wait", &run, "--timeout", "0"]).ends_with(5);
    assert_eq!(home.lines("starts"), 1, "a reader started it");
    home.start_daemon();
    home.kill_daemon();
    assert_eq!(home.ended(&run)["status"], "completed");
    until("two starts", || (home.lines("starts") == 2).then_some(()));
    home.close();
}
