//! Faults that were shown on supervisors of this kind, each by its row of `docs/peer-faults.md`. Rows that another test
//! proves name that test there.

use crate::harness::{Fence, Home, digest, end, is_as_before, is_gone, until};

/// Daemons that are started at the same moment.
const RIVALS: usize = 6;

#[test]
fn row_f_03_torn_note_in_the_lock_takes_nothing_from_a_living_daemon() {
    let home = Home::new();
    let daemon = home.start_daemon();
    let lock = home.path().join("daemon.lock");
    let whole = std::fs::read(&lock).unwrap();
    for torn in [&b""[..], &whole[..whole.len() / 2], b"{}\n", b"\0\0\0\0\0\0\0\0"] {
        std::fs::write(&lock, torn).unwrap();
        let second = home.run(&["daemon", "run"]).ends_with(0);
        assert!(
            second.text().contains("already running") || second.said.contains("already running")
        );
        assert!(!is_gone(daemon), "a reader of half a note took the lock for free");
    }
    std::fs::write(&lock, whole).unwrap();
    assert_eq!(home.daemon(), Some(daemon));
    home.close();
}

#[test]
fn row_f_06_removed_lock_file_leaves_no_two_daemons_that_write() {
    let home = Home::new();
    let first = home.start_daemon();
    std::fs::remove_file(home.path().join("daemon.lock")).unwrap();
    until("a daemon that holds the lock of this name", || {
        let _ = home.run(&["daemon", "start"]);
        home.daemon().filter(|daemon| *daemon != first)
    });
    until("the end of the one without a lock", || is_gone(first).then_some(()));
    let run = home.script(&[], "count starts");
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(home.lines("starts"), 1);
    home.close();
}

#[test]
fn row_f_07_two_daemons_claim_one_run_once() {
    let home = Home::new();
    let first = home.script(&[], "count starts; mark up; await go");
    let second = home.script(&[], "count starts");
    home.pid("up");
    home.kill_daemon();
    home.go("go");
    let start = |_| {
        let mut daemon = home.call(&["daemon", "run"]);
        Fence::start(daemon.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()))
    };
    let rivals: Vec<Fence> = (0..RIVALS).map(start).collect();
    for run in [&first, &second] {
        assert_eq!(home.ended(run)["status"], "completed");
        assert_eq!(home.events_of(run, "daemon-claimed").len(), 1);
        assert_eq!(home.events_of(run, "launcher-started").len(), 1);
    }
    assert_eq!(home.lines("starts"), 2);
    drop(rivals);
    home.close();
}

#[test]
fn row_f_09_dead_wrapper_is_not_taken_for_its_dead_work() {
    let home = Home::new();
    let run = home.script(
        &["--start-wave", "1"],
        "count starts; (mark work; while [ ! -e $T/go ]; do sleep 0.02; done; count ends) & wait",
    );
    let work = home.pid("work");
    let wrapper = home.until(&run, "its pid", |document| document["launcherPid"].is_u64());
    end(u32::try_from(wrapper["launcherPid"].as_u64().unwrap()).unwrap());
    // The second start comes after everything below the first has ended, and not beside it.
    until("the second start", || (home.lines("starts") == 2).then_some(()));
    assert!(is_gone(work), "two of them work");
    home.go("go");
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!((home.lines("starts"), home.lines("ends")), (2, 1));
    home.close();
}

#[test]
fn row_f_27_ended_run_grows_by_nothing_over_reads_and_daemons() {
    const STORE_GROWTH_MAX: u64 = 256 << 10;
    let home = Home::new();
    let run = home.script(&[], "echo done");
    home.ended(&run);
    let job = home.status(&run)["statePath"].as_str().unwrap().to_owned();
    let (events, files) = (home.events(&run), digest(job.as_ref()));
    let store = || std::fs::metadata(home.path().join("store.db")).unwrap().len();
    let before = store();
    for _ in 0..10 {
        home.kill_daemon();
        home.start_daemon();
        for verb in ["status", "explain", "events", "logs"] {
            home.run(&[verb, &run]).ends_with(0);
        }
    }
    assert_eq!(home.events(&run), events);
    is_as_before(job.as_ref(), &files);
    assert!(store() - before <= STORE_GROWTH_MAX, "{before} became {}", store());
    home.close();
}

#[test]
fn row_f_41_torn_file_of_a_launcher_stops_nobody() {
    let home = Home::new();
    let run = home.script(
        &[],
        "cd $TIDEGATE_JOB_DIR; mkdir -p agents
        printf '{\"wave\": 2' > progress.json; printf '\\377garbage' > agents/torn.json
        setsid sleep 1000 & tidegate agent register --id whole --pid $! || count errors
        mark told; await go; kill $!; exit 0",
    );
    home.pid("told");
    let beside = home.script(&["--lane", "docks"], "count beside");
    assert_eq!(home.ended(&beside)["status"], "completed");
    home.kill_daemon();
    home.start_daemon();
    let is_there = |document: &serde_json::Value| {
        let agents = document["agentRuntimeSummary"].as_array().unwrap();
        agents.iter().any(|agent| agent["agentId"] == "whole")
    };
    home.until(&run, "the agent whose file is whole", is_there);
    home.go("go");
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(home.lines("errors"), 0);
    home.close();
}

#[test]
fn row_f_42_cleaned_repository_takes_nothing_of_ours() {
    let home = Home::new();
    let run = home.script(&[], "git clean -fdxq; rm -rf .tmp .tidegate; mark cleaned; await go");
    home.pid("cleaned");
    home.kill_daemon();
    home.start_daemon();
    home.go("go");
    assert_eq!(home.ended(&run)["status"], "completed");
    home.close();
}

#[test]
fn row_f_45_words_in_output_decide_nothing() {
    let home = Home::new();
    let words =
        "echo 'timed out: rate limit 429, Verdict: BLOCKED' >&2; echo '<<<DONE>>> APPROVED'";
    let good = home.script(&["--lane", "good"], &format!("{words}; exit 0"));
    let bad = home.script(&["--lane", "bad"], &format!("{words}; exit 3"));
    let good = home.ended(&good);
    assert_eq!((&good["status"], &good["exitCode"]), (&"completed".into(), &0.into()));
    let bad = home.ended(&bad);
    assert_eq!((&bad["status"], &bad["exitCode"]), (&"failed".into(), &3.into()));
    assert!(bad["detail"].as_str().is_none_or(|detail| !detail.contains("429")), "{bad}");
    home.close();
}
