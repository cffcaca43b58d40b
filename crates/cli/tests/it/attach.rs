//! `tidegate attach`, on a real terminal: what the user sees, what the job gets, and that neither the
//! user's program nor the daemon matters to it.

use rustix::process::Signal;

use crate::harness::{Desk, Home, end, is_gone, signal, until};

/// Reads lines and says what it read; `size` says the window's, `over` ends it with code 7.
const ECHO: &str = "trap 'stty size' WINCH; echo ready; mark up
while :; do read line || continue; case $line in
size) stty size;; over) echo bye; exit 7;; *) echo \"[$line]\";; esac; done";

fn started(home: &Home, script: &str) -> String {
    let run = home.script(&["--pty", "--resume-limit", "0"], script);
    home.pid("up");
    run
}

fn finish(home: Home, run: &str) {
    home.run(&["cancel", run, "--wait"]);
    home.close();
}

#[test]
fn user_types_resizes_detaches_and_comes_back() {
    let home = Home::new();
    let run = started(&home, ECHO);
    let status = home.status(&run);
    assert_eq!(status["sessionBackend"], "terminal");
    let mut desk = Desk::new(&home, &["attach", &run]);
    desk.shows("ready");
    desk.types("hello\r");
    desk.shows("[hello]");
    assert!(!desk.is_plain());
    desk.types("size\r");
    desk.shows("24 80");
    desk.resize(30, 90);
    desk.shows("30 90");
    desk.types("\x10\x11");
    assert_eq!(desk.code(), 0);
    desk.shows(&format!("detached; it goes on: tidegate attach {run}"));
    assert!(desk.is_plain());

    let mut again = Desk::new(&home, &["attach", &run]);
    again.shows("[hello]");
    again.types("over\r");
    assert_eq!(again.code(), 0);
    again.shows("bye");
    again.shows("it exited with code 7");
    assert!(again.is_plain());
    home.ended(&run);
    home.close();
}

#[test]
fn two_users_see_the_same_and_a_reader_types_nothing() {
    let home = Home::new();
    let run = started(&home, ECHO);
    let mut first = Desk::new(&home, &["attach", &run]);
    first.shows("ready");
    let mut reader = Desk::of_size(&home, &["attach", &run, "--read-only"], 10, 40);
    reader.shows("ready");
    reader.types("unheard\r");
    let mut second = Desk::of_size(&home, &["attach", &run], 20, 70);
    second.shows("20 70");
    first.types("one\r");
    second.types("two\r");
    for desk in [&first, &second, &reader] {
        desk.shows("[one]");
        desk.shows("[two]");
        assert!(!desk.sent().contains("unheard"));
    }
    // One that is killed is let go; the size is that of who is left.
    end(second.pid());
    first.shows("24 80");
    reader.types("\x10\x11");
    assert_eq!(reader.code(), 0);
    reader.shows("--read-only");
    finish(home, &run);
}

#[test]
fn daemon_that_is_killed_is_a_pause() {
    let home = Home::new();
    let run = started(&home, ECHO);
    let mut desk = Desk::new(&home, &["attach", &run]);
    desk.shows("ready");
    let before = home.daemon().unwrap();
    home.kill_daemon();
    until("another daemon", || home.daemon().filter(|pid| *pid != before));
    // What is typed while nobody carries it is lost, as on a line that is cut.
    until("an answer", || {
        desk.types("there?\r");
        let answered = desk.screen().contains("[there?]");
        answered.then_some(())
    });
    home.run(&["daemon", "restart"]).ends_with(0);
    until("an answer", || {
        desk.types("still?\r");
        desk.screen().contains("[still?]").then_some(())
    });
    desk.types("over\r");
    assert_eq!(desk.code(), 0);
    desk.shows("it exited with code 7");
    home.ended(&run);
    home.close();
}

#[test]
fn terminal_is_given_back_on_every_way_out() {
    let home = Home::new();
    let run = started(&home, &format!("printf '\\033[?1049h\\033[?25l\\033[?1000h'; {ECHO}"));
    for reason in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut desk = Desk::new(&home, &["attach", &run]);
        desk.shows("ready");
        signal(desk.pid(), reason);
        assert_eq!(desk.code(), 130, "{reason:?}");
        assert!(desk.is_plain(), "{reason:?}");
        let sent = desk.sent();
        for undone in ["\x1b[?1049l", "\x1b[?25h", "\x1b[?1000l"] {
            assert!(sent.contains(undone), "{reason:?}: {undone:?}");
        }
    }
    finish(home, &run);
}

#[test]
fn program_that_asks_its_terminal_starts_with_nobody_there() {
    let home = Home::new();
    let ask = "stty raw -echo; printf '\\033[6n\\033[c'; dd bs=1 count=15 2>/dev/null > \"$T/answer\"; \
               stty sane; mark up; read line";
    let run = home.script(&["--pty"], ask);
    home.pid("up");
    let answer = std::fs::read_to_string(home.beside("answer")).unwrap();
    assert_eq!(answer, "\x1b[1;1R\x1b[?62;22c");
    let mut desk = Desk::new(&home, &["attach", &run]);
    desk.types("\r");
    assert_eq!(desk.code(), 0);
    // The question is not asked of the user's terminal a second time.
    assert!(!desk.sent().contains("\x1b[6n"));
    home.ended(&run);
    home.close();
}

#[test]
fn lines_that_scrolled_away_are_there_for_who_attaches() {
    let home = Home::new();
    let run = started(
        &home,
        "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo \"line $i.\"; done; mark up; read line",
    );
    let mut desk = Desk::new(&home, &["attach", &run]);
    desk.shows("line 300.");
    let sent = desk.sent();
    assert!(sent.contains("line 1.") && sent.contains("line 150."), "{}", sent.len());
    desk.types("\r");
    assert_eq!(desk.code(), 0);
    home.ended(&run);
    home.close();
}

#[test]
fn run_without_a_terminal_is_followed_and_an_ended_one_shows_its_end() {
    let home = Home::new();
    let run = home.script(
        &[],
        "mark up; await go; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo \"line $i\"; done",
    );
    home.pid("up");
    let mut desk = Desk::new(&home, &["attach", &run]);
    home.go("go");
    assert_eq!(desk.code(), 0);
    desk.shows("line 3000");
    home.ended(&run);
    let shown = home.run(&["attach", &run]).ends_with(0);
    assert_eq!(shown.bytes.len(), 12_000);
    assert!(shown.bytes.ends_with(b"line 3000\n"));
    assert!(shown.said.contains("exited with code 0"), "{}", shown.said);
    home.close();
}

#[test]
fn what_cannot_be_attached_to_has_a_name() {
    let home = Home::new();
    let run = started(&home, ECHO);
    assert_eq!(home.json(&["attach", &run, "--agent", "nobody"]).error(), "not_found");
    assert_eq!(home.json(&["attach", &run, "--dashboard"]).error(), "unsupported_command");
    assert_eq!(
        home.json(&["attach", &run, "--detach-keys", "ctrl-pp"]).ends_with(2).error(),
        "invalid_cli_args"
    );
    // Without a terminal of one's own the log is followed.
    let mut follow = home.call(&["attach", &run]);
    follow.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut follow = crate::harness::Fence::start(&mut follow);
    home.run(&["cancel", &run, "--wait"]);
    assert_eq!(follow.code(), 0);
    home.close();
}

#[test]
fn agent_of_a_launcher_with_a_terminal_is_attached_to_by_its_id() {
    let home = Home::new();
    let program = home.program("agent", ECHO);
    let run =
        home.script(&[], &format!("tidegate agent start --id docs --pty -- {program}; await go"));
    home.pid("up");
    let status = home.status(&run);
    let agent = &status["agentRuntimeSummary"][0];
    assert_eq!(
        (&agent["sessionBackend"], &agent["attachMode"]),
        (&"terminal".into(), &"session".into())
    );
    assert_eq!(status["sessionBackend"], "process");
    let mut desk = Desk::new(&home, &["attach", &run, "--agent", "docs"]);
    desk.shows("ready");
    desk.types("over\r");
    assert_eq!(desk.code(), 0);
    home.go("go");
    home.ended(&run);
    home.close();
}

#[test]
fn agent_of_a_plan_with_a_terminal_is_attached_to_by_its_feature() {
    let home = Home::new();
    let program = home.program("builder", "cat > /dev/null; echo asking > /dev/tty; mark up; read line < /dev/tty; echo \"$line\" > answer.txt");
    let config = format!(
        "target = \"main\"\n[agent.scribe]\nargv = [{program:?}]\nprompt = \"stdin\"\nterminal = true\n[env]\npass = [\"T\"]\n\
         [role.builder]\nagent = \"scribe\"\n[review]\npolicy = \"auto\"\n"
    );
    std::fs::write(home.repo().root().join("tidegate.toml"), config).unwrap();
    let plan = "title = \"Board\"\n[[wave]]\nname = \"one\"\n[[wave.feature]]\nid = \"berths\"\nprompt = \"Ask.\"\n";
    std::fs::write(home.repo().root().join("plan.toml"), plan).unwrap();
    home.run(&["config", "trust"]).ends_with(0);
    let run = home.data(&["submit", "plan.toml"])["runId"].as_str().unwrap().to_owned();
    home.pid("up");
    let mut desk = Desk::new(&home, &["attach", &run, "--agent", "berths"]);
    desk.shows("asking");
    desk.types("an answer\r");
    assert_eq!(desk.code(), 0);
    assert_eq!(home.ended(&run)["status"], "completed");
    home.close();
}

#[test]
fn lines_of_a_log_get_their_times_and_no_other_byte() {
    let home = Home::new();
    let script = "printf 'one\\ntwo\\n'; mark up; await go; printf '\\303\\251 last'; exit 1";
    let run = home.script(&[], script);
    home.pid("up");
    home.go("go");
    home.ended(&run);
    let plain = home.logs(&run);
    let stamped = home.run(&["logs", &run, "--timestamps"]).ends_with(0).bytes;
    let mut bare = Vec::new();
    for line in stamped.split_inclusive(|byte| *byte == b'\n') {
        let (time, rest) = line.split_at(25);
        assert!(time.starts_with(b"20") && time.ends_with(b"Z "), "{line:?}");
        bare.extend_from_slice(rest);
    }
    assert_eq!(bare, plain);
    assert_eq!(plain, "one\ntwo\né last".as_bytes());
    assert_eq!(home.run(&["logs", &run, "--attempt", "1"]).ends_with(0).bytes, plain);
    assert_eq!(home.json(&["logs", &run, "--attempt", "2"]).data()["logs"], serde_json::json!([]));
    let last = home.run(&["logs", &run, "--timestamps", "--tail", "1"]).ends_with(0).bytes;
    assert!(last.ends_with("Z é last".as_bytes()), "{last:?}");
    home.close();
}

#[test]
fn process_in_a_job_may_watch_its_own_run_and_type_nowhere() {
    let home = Home::new();
    let victim = started(&home, ECHO);
    std::fs::remove_file(home.beside("up")).unwrap();
    let inside = "script -qec \"tidegate attach $1 $2\" /dev/null";
    let program = home.program("inside", inside);
    let run = home.script(
        &["--adhoc-run", "other", "--resume-limit", "0"],
        &format!("{program} {victim} > \"$T/foreign\" 2>&1; mark up; await go"),
    );
    home.pid("up");
    let said = std::fs::read_to_string(home.beside("foreign")).unwrap();
    assert!(said.contains("its own run") || said.contains("forbidden"), "{said}");
    home.go("go");
    home.ended(&run);
    finish(home, &victim);
}

#[test]
fn stopped_shim_is_told_of_and_a_cancel_says_what_to_do() {
    let home = Home::new();
    let run = home.script(&[], "mark up; await never");
    let child = home.pid("up");
    let shim = u32::try_from(home.status(&run)["shimIdentity"]["pid"].as_u64().unwrap()).unwrap();
    assert!(signal(shim, Signal::STOP));
    let seen = home.until(&run, "a detail", |seen| {
        seen["detail"].as_str().is_some_and(|detail| detail.contains("shim unresponsive since"))
    });
    assert_eq!((&seen["status"], &seen["recorded"]), (&"running".into(), &true.into()));
    assert!(home.run(&["explain", &run]).ends_with(0).text().contains("shim unresponsive since"));
    // A moment to be noted by the daemon: the time does not move any more.
    let note = home.path().join("jobs").join(format!("{run}-1")).join("unresponsive");
    until("the note", || note.exists().then_some(()));
    assert_eq!(home.status(&run)["detail"], home.status(&run)["detail"]);
    assert!(signal(shim, Signal::CONT));
    home.until(&run, "no detail", |seen| seen["detail"].is_null());
    until("no note", || (!note.exists()).then_some(()));

    assert!(signal(shim, Signal::STOP));
    let cancel = Desk::of_size(&home, &["cancel", &run, "--wait"], 24, 200);
    cancel.shows(&format!("kill -CONT {shim}"));
    let seen = home.status(&run);
    let attention = &seen["attention"][0];
    assert_eq!(attention["reason"], "shim_unresponsive");
    assert!(attention["unblocks"].as_str().unwrap().contains(&format!("kill -CONT {shim}")));
    end(shim);
    let mut cancel = cancel;
    assert_eq!(cancel.code(), 0);
    let ended = home.ended(&run);
    assert_eq!(ended["status"], "cancelled");
    assert!(is_gone(child));
    home.close();
}
