//! The verdict table: every row of the design by name, and every observation in a snapshot. The
//! fate table beside it: every end of a launcher × what else is known.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::launcher::{Fate, Finalized, Known, LauncherEnd, Selection, fate};
use tidegate_core::verdict::{Mark, Observation, Row, Verdict, verdict};

use crate::fixture::{exit, exited, started};
use crate::launcher_fixture::agent;

const ROWS: [Row; 4] = [Row::Launching, Row::Running, Row::Stopping, Row::Finished];
const OPEN: [Row; 3] = [Row::Launching, Row::Running, Row::Stopping];
const BOTH: [bool; 2] = [false, true];

/// `started`, lock, `exit`, boot.
#[expect(clippy::fn_params_excessive_bools, reason = "the columns of the table, in its order")]
fn seen(is_started: bool, lock_held: bool, has_exit: bool, same_boot: bool) -> Observation {
    Observation {
        started: if is_started { Mark::Present(started(9)) } else { Mark::Absent },
        lock_held,
        exit: if has_exit { Mark::Present(exited(0)) } else { Mark::Absent },
        same_boot,
    }
}

fn is_quarantine(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Quarantine { .. })
}

#[test]
fn launching_never_started_spawns_again_under_any_boot() {
    for boot in BOTH {
        assert_eq!(verdict(Row::Launching, seen(false, false, false, boot)), Verdict::Spawn);
    }
}

#[test]
fn launching_with_the_lock_held_waits() {
    assert_eq!(verdict(Row::Launching, seen(false, true, false, true)), Verdict::Wait);
}

#[test]
fn stopping_never_started_withdraws_under_any_boot() {
    for boot in BOTH {
        assert_eq!(verdict(Row::Stopping, seen(false, false, false, boot)), Verdict::Withdraw);
    }
}

#[test]
fn stopping_with_the_lock_held_waits() {
    assert_eq!(verdict(Row::Stopping, seen(false, true, false, true)), Verdict::Wait);
}

#[test]
fn started_and_locked_is_adopted() {
    for row in OPEN {
        let found = verdict(row, seen(true, true, false, true));
        assert_eq!(found, Verdict::Adopt(started(9)));
    }
}

#[test]
fn started_with_an_exit_is_finished_whatever_the_lock_and_the_boot() {
    for row in OPEN {
        for (lock, boot) in [(false, false), (false, true), (true, false), (true, true)] {
            let end = Verdict::Finished { started: Some(started(9)), exit: exited(0) };
            assert_eq!(verdict(row, seen(true, lock, true, boot)), end);
        }
    }
}

#[test]
fn started_and_let_go_is_lost() {
    for row in OPEN {
        assert_eq!(verdict(row, seen(true, false, false, true)), Verdict::Lost(started(9)));
    }
}

#[test]
fn started_under_another_boot_is_lost_by_reboot() {
    for row in OPEN {
        let found = verdict(row, seen(true, false, false, false));
        assert_eq!(found, Verdict::LostReboot(started(9)));
    }
}

#[test]
fn finished_yet_alive_is_a_contradiction() {
    let found = verdict(Row::Finished, seen(true, true, false, true));
    assert_eq!(found, Verdict::Contradiction(started(9)));
}

#[test]
fn finished_is_recorded_once() {
    for (lock, boot) in [(false, false), (false, true), (true, false), (true, true)] {
        assert_eq!(verdict(Row::Finished, seen(true, lock, true, boot)), Verdict::Closed);
    }
}

#[test]
fn what_fits_no_row_is_quarantined() {
    assert!(is_quarantine(&verdict(Row::Launching, seen(false, true, false, false))));
    assert!(is_quarantine(&verdict(Row::Running, seen(false, false, false, true))));
    assert!(is_quarantine(&verdict(Row::Running, seen(true, true, false, false))));
    assert!(is_quarantine(&verdict(Row::Finished, seen(false, true, false, true))));
    for row in ROWS {
        let detail = || "another nonce".to_owned();
        let start = Observation {
            started: Mark::Suspicious { detail: detail() },
            ..seen(true, false, false, true)
        };
        assert!(is_quarantine(&verdict(row, start)));
        let end = Observation {
            exit: Mark::Suspicious { detail: detail() },
            ..seen(true, false, false, true)
        };
        assert!(is_quarantine(&verdict(row, end)));
    }
}

#[test]
fn success_without_a_start_is_never_believed() {
    for row in OPEN {
        for (lock, boot) in [(false, false), (false, true), (true, false), (true, true)] {
            let found = verdict(row, seen(false, lock, true, boot));
            assert!(!matches!(found, Verdict::Finished { .. }), "{row:?}: {found:?}");
        }
    }
}

#[test]
fn withdrawn_is_final_once_the_late_shim_is_gone() {
    let tombstone =
        |lock_held| Observation { started: Mark::Tombstone, ..seen(false, lock_held, false, true) };
    assert_eq!(verdict(Row::Stopping, tombstone(false)), Verdict::Withdrawn);
    assert_eq!(verdict(Row::Stopping, tombstone(true)), Verdict::Wait);
    assert!(is_quarantine(&verdict(Row::Running, tombstone(false))));
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Spawn => "spawn".to_owned(),
        Verdict::Wait => "wait".to_owned(),
        Verdict::Withdraw => "withdraw".to_owned(),
        Verdict::Withdrawn => "withdrawn".to_owned(),
        Verdict::Adopt(_) => "adopt".to_owned(),
        Verdict::Finished { started: Some(_), .. } => "finished".to_owned(),
        Verdict::Finished { started: None, .. } => "finished, never started".to_owned(),
        Verdict::Lost(_) => "lost".to_owned(),
        Verdict::LostReboot(_) => "lost by reboot".to_owned(),
        Verdict::Contradiction(_) => "contradiction".to_owned(),
        Verdict::Closed => "closed".to_owned(),
        Verdict::Quarantine { detail } => format!("quarantine: {detail}"),
    }
}

#[test]
fn verdict_each_row_meets_each_observation_as_decided() {
    let suspicious = || "garbage".to_owned();
    let starts = [
        ("-", Mark::Absent),
        ("started", Mark::Present(started(9))),
        ("tombstone", Mark::Tombstone),
        ("bad", Mark::Suspicious { detail: suspicious() }),
    ];
    let ends = [
        ("-", Mark::Absent),
        ("exit 0", Mark::Present(exited(0))),
        ("exec_failed", Mark::Present(exit(Reason::ExecFailed, None))),
        ("tombstone", Mark::Tombstone),
        ("bad", Mark::Suspicious { detail: suspicious() }),
    ];
    let mut told: Vec<String> = Vec::new();
    for row in ROWS {
        for (start, started) in &starts {
            for (end, exit) in &ends {
                for (lock, boot) in [(false, true), (true, true), (false, false), (true, false)] {
                    let (started, exit) = (started.clone(), exit.clone());
                    let seen = Observation { started, lock_held: lock, exit, same_boot: boot };
                    let lock = if lock { "held" } else { "free" };
                    let boot = if boot { "same boot" } else { "other boot" };
                    let found = word(&verdict(row, seen));
                    told.push(format!("{row:?} × {start}, {lock}, {end}, {boot} → {found}"));
                }
            }
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}

fn fate_word(fate: &Fate) -> String {
    match fate {
        Fate::Completed(_) => "1 completed".to_owned(),
        Fate::Failed(_) => "1 failed".to_owned(),
        Fate::Cancelled(_) => "1 cancelled".to_owned(),
        Fate::Running => "2 running".to_owned(),
        Fate::AgentsRunning { .. } => "3 agents running".to_owned(),
        Fate::Recovered { word, .. } if word.completed => "4 completed".to_owned(),
        Fate::Recovered { .. } => "4 failed".to_owned(),
        Fate::Resume { wave, .. } => format!("5 resume wave {wave}"),
        Fate::LostBeforeStatus(_) => "6 lost".to_owned(),
    }
}

/// What else may be known when a launcher is gone.
fn backgrounds(end: &Exit) -> Vec<(String, Known)> {
    let mut all = Vec::new();
    for agents in [0, 1] {
        for finalized in [None, Some(true), Some(false)] {
            for (wave, of) in [(None, "unknown"), (Some(2), "2 of 3"), (Some(4), "4 of 3")] {
                for resumes in [0, 1] {
                    let word = finalized.map(|completed| Finalized { completed, exit_code: None });
                    let selection = Selection { end_wave: Some(3), ..Selection::default() };
                    let known = Known {
                        launcher: LauncherEnd::Ended(end.clone()),
                        agents_alive: vec![agent("a"); agents],
                        finalized: word,
                        active_wave: wave,
                        selection,
                        resumes_since_progress: resumes,
                        resumes_max: 1,
                    };
                    let word = finalized.map_or("-", |ok| if ok { "completed" } else { "failed" });
                    let name =
                        format!("agents {agents}, journal {word}, wave {of}, resumes {resumes}");
                    all.push((name, known));
                }
            }
        }
    }
    all
}

#[test]
fn fate_each_end_meets_each_background_as_decided() {
    let stopped = Reason::Stopped { actor: "ann".to_owned() };
    let reasons = [
        Reason::Exited,
        stopped,
        Reason::Timeout,
        Reason::Limit,
        Reason::Oom,
        Reason::ExecFailed,
        Reason::Storage,
        Reason::Signalled,
        Reason::LostShim,
        Reason::LostReboot,
    ];
    let mut told: Vec<String> = Vec::new();
    for reason in reasons {
        for code in [None, Some(0), Some(3)] {
            let end = exit(reason.clone(), code);
            let fates: Vec<(String, String)> = backgrounds(&end)
                .into_iter()
                .map(|(name, known)| (name, fate_word(&fate(&known))))
                .collect();
            let end = format!("{reason:?}, code {code:?}");
            if fates.iter().all(|(_, found)| *found == fates[0].1) {
                told.push(format!("{end} × anything → {}", fates[0].1));
            } else {
                let lines = fates.iter().map(|(name, found)| format!("{end} × {name} → {found}"));
                told.extend(lines);
            }
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}
