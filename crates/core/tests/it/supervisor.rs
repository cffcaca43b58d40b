//! What becomes of a running launcher run: the six rows, each of their rules by name.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::launcher::{
    AgentProcess, End, Fate, Finalized, Known, LauncherEnd, LauncherSpec, Registered, Selection,
    Source, fate,
};
use tidegate_core::run::{Effect, Event, Ingested, Run, Status};
use tidegate_core::time::WallMs;

use crate::fixture::{
    NOW, cancel, exit, exited, identity, job, job_finished, job_started, kinds, launcher_spec,
    stopped, take,
};
use crate::launcher_fixture::{
    agent, agent_end, ended, final_word, gone, ingested, journal, local, lost, registers, remote,
    running, says, start_agent, usual,
};

const KILLED: i32 = 9;

/// A launcher of the usual spec that ended so, and nothing alive.
fn known(end: Exit) -> Known {
    Known {
        launcher: LauncherEnd::Ended(end),
        agents_alive: Vec::new(),
        finalized: None,
        active_wave: Some(2),
        selection: Selection { start_wave: Some(1), end_wave: Some(3), auto_next: false },
        resumes_since_progress: 0,
        resumes_max: 1,
    }
}

/// Everything that rows 3 to 5 look for, at once.
fn tempting(end: Exit) -> Known {
    let finalized = Some(Finalized { completed: true, exit_code: Some(0) });
    Known { agents_alive: vec![agent("a")], finalized, ..known(end) }
}

fn settled(run: &Run) -> &tidegate_core::launcher::Settled {
    run.launcher().unwrap().1.settled.as_ref().unwrap()
}

/// A run whose launcher ended so, with nothing alive.
fn after(exit: Exit) -> Run {
    let mut run = usual();
    let first = job(&run, 1);
    take(&mut run, &ended(first, exit, Ingested::default()));
    run
}

fn lose(run: &mut Run, number: u32, found: Ingested) -> Vec<Event> {
    let job = job(run, number);
    take(run, &ended(job, lost(), found))
}

#[test]
fn row_1_code_0_completes() {
    assert!(matches!(fate(&tempting(exited(0))), Fate::Completed(_)));
    let run = after(exited(0));
    assert_eq!(run.status, Status::Completed { at: WallMs(30) });
    assert_eq!((settled(&run).code, settled(&run).source), (Some(0), Source::ExitRecord));
}

#[test]
fn row_1_every_other_code_fails_with_that_code() {
    for code in 1..=255 {
        assert!(matches!(fate(&tempting(exited(code))), Fate::Failed(_)));
        let run = after(exited(code));
        assert_eq!((run.status.word(), settled(&run).code), ("failed", Some(code)));
    }
}

#[test]
fn row_1_stopped_is_cancelled_whatever_the_code() {
    for code in [None, Some(0), Some(3), Some(143)] {
        let end = exit(Reason::Stopped { actor: "bob".to_owned() }, code);
        assert!(matches!(fate(&tempting(end.clone())), Fate::Cancelled(_)));
        let run = after(end);
        assert_eq!(settled(&run).end, End::Cancelled { actor: "bob".to_owned() });
        assert_eq!((run.status.word(), settled(&run).code), ("cancelled", code));
    }
}

#[test]
fn row_1_tidegates_own_reasons_fail_and_stand_in_the_detail() {
    let reasons = [
        (Reason::Timeout, "timeout"),
        (Reason::Limit, "limit"),
        (Reason::Oom, "oom"),
        (Reason::ExecFailed, "exec_failed"),
        (Reason::Storage, "storage"),
    ];
    for (reason, word) in reasons {
        assert!(matches!(fate(&tempting(exit(reason.clone(), None))), Fate::Failed(_)));
        // A code beside such a reason changes nothing, not even 0.
        let run = after(exit(reason, Some(0)));
        assert_eq!((run.status.word(), settled(&run).detail.as_deref()), ("failed", Some(word)));
    }
}

#[test]
fn row_1_a_recorded_code_counts_whoever_recorded_it() {
    for reason in [Reason::Signalled, Reason::LostShim, Reason::LostReboot] {
        assert!(matches!(fate(&tempting(exit(reason.clone(), Some(0)))), Fate::Completed(_)));
        assert!(matches!(fate(&tempting(exit(reason, Some(4)))), Fate::Failed(_)));
    }
}

#[test]
fn row_1_is_reconciled_once() {
    let mut run = usual();
    let first = job(&run, 1);
    let end = ended(first, exited(0), Ingested::default());
    let told = kinds(&take(&mut run, &end));
    assert_eq!(told, ["job-finished", "launcher-status-reconciled", "run-completed"]);
    assert!(tidegate_core::run::step(&run, &end, NOW).is_err());
}

#[test]
fn row_1_an_exit_before_the_stop_beats_a_cancel() {
    let mut run = usual();
    take(&mut run, &cancel());
    let first = job(&run, 1);
    take(&mut run, &ended(first, exited(0), Ingested::default()));
    assert_eq!(run.status.word(), "completed");
}

#[test]
fn row_1_a_cancel_after_the_result_is_refused() {
    let mut run = usual();
    take(&mut run, &registers(vec![local("l")]));
    let first = job(&run, 1);
    take(&mut run, &ended(first, exited(0), Ingested::default()));
    assert_eq!(run.status.word(), "running", "its agent is still to be ended");
    let refused = tidegate_core::run::step(&run, &cancel(), NOW).unwrap_err();
    assert_eq!(refused.to_string(), "not possible while its result is recorded already");
}

#[test]
fn row_2_a_living_launcher_runs_whatever_else_is_known() {
    let living = Known { launcher: LauncherEnd::Alive, ..tempting(lost()) };
    assert_eq!(fate(&living), Fate::Running);
    let mut run = usual();
    take(&mut run, &says(final_word(true, Some(0))));
    assert_eq!(run.status.word(), "running", "its own word is not its end");
}

#[test]
fn row_3_living_agents_keep_the_run_and_are_adopted_once() {
    for reason in [Reason::Signalled, Reason::LostShim, Reason::LostReboot] {
        let end = exit(reason, None);
        assert!(matches!(fate(&tempting(end.clone())), Fate::AgentsRunning { .. }));
        let mut run = usual();
        take(&mut run, &registers(vec![local("l"), local("m")]));
        let first = job(&run, 1);
        let told = take(&mut run, &ended(first, end, gone([local("m")])));
        assert_eq!(kinds(&told), ["job-finished", "agent-exited", "agent-runtime-adopted"]);
        let adopted = |event: &Event| matches!(event, Event::AgentsAdopted { agents, .. } if *agents == [agent("l")]);
        assert!(told.iter().any(adopted));
        assert!(take(&mut run, &ingested(gone([local("m")]))).is_empty(), "adopted once");
        assert_eq!(run.status.word(), "running");
    }
}

#[test]
fn row_3_a_report_that_knows_nothing_of_an_agent_ends_nobody() {
    let mut run = usual();
    take(&mut run, &registers(vec![local("l")]));
    lose(&mut run, 1, Ingested::default());
    // It was on its way while the agent registered, and tells of an earlier life of that name.
    let (id, earlier) = local("l");
    let earlier = Registered { process: AgentProcess::Local(identity(699)), ..earlier };
    assert!(take(&mut run, &ingested(gone([(id, earlier)]))).is_empty());
    assert!(take(&mut run, &ingested(Ingested::default())).is_empty());
    let told = take(&mut run, &ingested(gone([local("l")])));
    assert_eq!(kinds(&told), ["agent-exited", "launcher-resuming", "job-created"]);
}

#[test]
fn row_3_a_recorded_exit_counts_before_an_identity() {
    let mut run = usual();
    take(&mut run, &registers(vec![local("l")]));
    let found = Ingested { ends: vec![agent_end("l")], ..Ingested::default() };
    let told = lose(&mut run, 1, found);
    assert!(!kinds(&told).contains(&"agent-runtime-adopted"));
}

#[test]
fn row_3_a_fresh_heartbeat_counts_and_a_missed_one_is_no_end() {
    let mut run = usual();
    take(&mut run, &registers(vec![remote("r")]));
    let told = lose(&mut run, 1, Ingested::default());
    assert_eq!(kinds(&told), ["job-finished", "agent-runtime-adopted"]);
    let told = take(&mut run, &ingested(gone([remote("r")])));
    assert_eq!(kinds(&told), ["launcher-resuming", "job-created"], "no end of it is recorded");
    assert_eq!(run.launcher().unwrap().1.registered[&agent("r")].end, None);
}

#[test]
fn row_3_an_agent_of_ours_counts_and_its_end_has_the_others_looked_at() {
    let mut run = usual();
    take(&mut run, &start_agent("helper"));
    take(&mut run, &registers(vec![remote("r")]));
    lose(&mut run, 1, gone([remote("r")]));
    assert_eq!(run.status.word(), "running");
    let watch = |run: &Run| {
        let open = run.outstanding();
        let found = open.iter().find(|(_, effect)| matches!(effect, Effect::WatchAgents { .. }));
        found.map(|(key, _)| key.clone())
    };
    let before = watch(&run);
    let second = job(&run, 2);
    take(&mut run, &job_finished(second, exited(0)));
    // Nobody looked at the remote agent just now: it may be alive, so somebody looks.
    assert!(watch(&run).is_some() && watch(&run) != before);
    take(&mut run, &ingested(gone([remote("r")])));
    assert_eq!(run.launcher().unwrap().1.resumes, 1);
}

#[test]
fn row_4_the_journals_final_word_decides_with_its_time() {
    for (completed, code, told, status) in [
        (true, None, Some(0), "completed"),
        (true, Some(0), Some(0), "completed"),
        (false, Some(4), Some(4), "failed"),
        (false, None, None, "failed"),
    ] {
        let mut run = usual();
        take(&mut run, &says(final_word(completed, code)));
        lose(&mut run, 1, Ingested::default());
        assert_eq!(run.status.word(), status);
        let found = settled(&run);
        assert_eq!((found.source, found.code), (Source::ProgressJournal, told));
        assert_eq!(found.at, WallMs(600), "the journal's time");
    }
}

#[test]
fn row_4_a_journal_found_after_the_end_counts() {
    let mut run = usual();
    let found = Ingested { journal: Some(final_word(true, None)), ..Ingested::default() };
    lose(&mut run, 1, found);
    assert_eq!(run.status.word(), "completed");
}

#[test]
fn row_5_starts_the_launcher_again_at_the_active_wave() {
    let mut run = usual();
    take(&mut run, &says(journal(2)));
    let told = lose(&mut run, 1, Ingested::default());
    assert_eq!(kinds(&told), ["job-finished", "launcher-resuming", "job-created"]);
    let (_, launcher) = run.launcher().unwrap();
    assert_eq!((launcher.resumes, launcher.resumed_wave), (1, Some(2)));
    assert_eq!(run.jobs[&job(&run, 2)].attempt, 2);
    let second = job(&run, 2);
    let told = take(&mut run, &job_started(second));
    assert!(matches!(&told[0], Event::LauncherStarted { resumed: true, .. }));
}

#[test]
fn row_5_ends_at_the_limit() {
    let mut run = usual();
    lose(&mut run, 1, Ingested::default());
    let told = lose(&mut run, 2, Ingested::default());
    assert_eq!(
        kinds(&told),
        ["launcher-started", "job-finished", "failed-before-status", "run-failed"]
    );
}

#[test]
fn row_5_counts_resumes_since_a_later_wave_and_all_of_them() {
    let mut run = usual();
    lose(&mut run, 1, Ingested::default());
    take(&mut run, &says(journal(1)));
    assert_eq!(run.launcher().unwrap().1.resumes_since_progress, 1, "the same wave is no progress");
    take(&mut run, &says(journal(2)));
    assert_eq!(run.launcher().unwrap().1.resumes_since_progress, 0);
    lose(&mut run, 2, Ingested::default());
    let (_, launcher) = run.launcher().unwrap();
    assert_eq!((launcher.resumes, launcher.resumes_since_progress), (2, 1));
}

#[test]
fn row_5_never_with_a_limit_of_0() {
    let mut run = running(LauncherSpec { resumes_max: 0, ..launcher_spec() });
    lose(&mut run, 1, Ingested::default());
    assert_eq!(run.status.word(), "failed");
}

#[test]
fn row_5_never_without_a_known_wave() {
    let mut run = running(LauncherSpec { selection: Selection::default(), ..launcher_spec() });
    lose(&mut run, 1, Ingested::default());
    assert_eq!((run.status.word(), settled(&run).wave), ("failed", None), "unknown stays unknown");
}

#[test]
fn row_5_never_past_the_selections_end() {
    let past = Known { active_wave: Some(4), ..known(lost()) };
    assert!(matches!(fate(&past), Fate::LostBeforeStatus(_)));
    let at_the_end = Known { active_wave: Some(3), ..known(lost()) };
    assert!(matches!(fate(&at_the_end), Fate::Resume { wave: 3, .. }));
    let mut endless = Known { active_wave: Some(400), ..known(lost()) };
    endless.selection.end_wave = None;
    assert!(matches!(fate(&endless), Fate::Resume { wave: 400, .. }));
}

#[test]
fn row_5_a_reboot_uses_one_resume() {
    let mut run = usual();
    let first = job(&run, 1);
    let reboot = exit(Reason::LostReboot, None);
    take(&mut run, &ended(first.clone(), reboot.clone(), Ingested::default()));
    assert_eq!(run.launcher().unwrap().1.resumes, 1);
    let again = ended(first, reboot, Ingested::default());
    assert!(tidegate_core::run::step(&run, &again, NOW).is_err(), "not once per scan");
}

#[test]
fn row_6_fails_without_a_code_and_with_the_signal_if_known() {
    let mut run = running(LauncherSpec { resumes_max: 0, ..launcher_spec() });
    let first = job(&run, 1);
    let end = Exit { signal: Some(KILLED), ..exit(Reason::Signalled, None) };
    let told = take(&mut run, &ended(first, end, Ingested::default()));
    let pid = told.iter().find_map(|event| match event {
        Event::FailedBeforeStatus { launcher_pid, .. } => Some(*launcher_pid),
        _ => None,
    });
    assert_eq!(pid, Some(Some(101)));
    let found = settled(&run);
    assert_eq!((found.code, found.signal, found.source), (None, Some(KILLED), Source::Nothing));
    assert_eq!(run.status.word(), "failed");
}

#[test]
fn cancel_ends_a_lost_launcher_instead_of_resuming_it() {
    let mut run = usual();
    take(&mut run, &cancel());
    lose(&mut run, 1, Ingested::default());
    assert_eq!(run.status.word(), "cancelled");
}

#[test]
fn cancel_of_living_agents_settles_and_sweeps_them() {
    let mut run = usual();
    take(&mut run, &registers(vec![local("l")]));
    lose(&mut run, 1, Ingested::default());
    take(&mut run, &cancel());
    let sweeps = |effect: &Effect| matches!(effect, Effect::SweepAgents { .. });
    assert!(run.outstanding().values().any(sweeps));
    assert_eq!(run.status.word(), "running", "not over before they are gone");
}

#[test]
fn late_records_refresh_the_agents_of_a_terminal_run_and_nothing_else() {
    let mut run = usual();
    take(&mut run, &registers(vec![remote("r")]));
    let first = job(&run, 1);
    take(&mut run, &ended(first, stopped(), Ingested::default()));
    let status = run.status.clone();
    let late = Ingested {
        ends: vec![agent_end("r")],
        journal: Some(final_word(true, None)),
        ..Ingested::default()
    };
    assert_eq!(kinds(&take(&mut run, &ingested(late))), ["agent-exited"]);
    assert_eq!(run.status, status);
}

#[test]
fn quarantined_agent_of_a_lost_launcher_does_not_hold_the_run() {
    let mut run = usual();
    take(&mut run, &start_agent("helper"));
    lose(&mut run, 1, Ingested::default());
    let detail = "another nonce".to_owned();
    let report = tidegate_core::run::Report::JobQuarantined { job: job(&run, 2), detail };
    let told = take(&mut run, &tidegate_core::run::Input::Report(report));
    assert_eq!(kinds(&told), ["job-quarantined", "launcher-resuming", "job-created"]);
}
