//! The table of what becomes of a running run, as a reader sees it while no daemon lives.

use tidegate_core::exit::Identity;
use tidegate_core::ids::{AgentId, JobId};
use tidegate_core::launcher::{AgentProcess, Finalized, Journal, Registered};
use tidegate_core::run::{Ingested, Report, Run};
use tidegate_core::time::WallMs;
use tidegate_process::identity;
use tidegate_process::record::ReasonRecord;
use tidegate_protocol::{Disposition, RecoveryState, ResumeAction, RunDoc, RunStatus};

use super::home::TestHome;
use super::works::launcher;
use crate::spool;

/// A run whose launcher was decided on; nothing of its job is recorded beyond that.
fn claimed(home: &mut TestHome, waves: Option<(u32, u32)>, resumes_max: u32) -> (Run, JobId) {
    let (start, end) = waves.unzip();
    let mut run = home.submit("main", None, launcher(start, end, resumes_max));
    home.claim(&mut run);
    let job = run.jobs.keys().next().unwrap().clone();
    (run, job)
}

fn read(home: &TestHome, run: &Run) -> RunDoc {
    home.viewer().run(run.id.as_str()).unwrap()
}

/// The words of a document that the table speaks of.
type Words = (RunStatus, Disposition, RecoveryState, Option<ResumeAction>, Option<i32>);

fn words(doc: &RunDoc) -> Words {
    let RunDoc { status, terminal_disposition, recovery_state, resume_action, exit_code, .. } = doc;
    (*status, *terminal_disposition, *recovery_state, *resume_action, *exit_code)
}

const LOST: Words =
    (RunStatus::Failed, Disposition::LauncherLostBeforeStatus, RecoveryState::Failed, None, None);
const RESUMING: Words = (
    RunStatus::Running,
    Disposition::Running,
    RecoveryState::Resuming,
    Some(ResumeAction::ResumeCurrentWave),
    None,
);
const RUNNING: Words =
    (RunStatus::Running, Disposition::Running, RecoveryState::Healthy, None, None);

#[test]
fn row_one_exit_record_decides_by_reason_then_code() {
    use {Disposition as D, RecoveryState::Healthy, RunStatus as S};
    let stopped = || ReasonRecord::Stopped { actor: "ada".into() };
    let cases: [(ReasonRecord, Option<i32>, Words); 9] = [
        (ReasonRecord::Exited, Some(0), (S::Completed, D::Completed, Healthy, None, Some(0))),
        (ReasonRecord::Exited, Some(3), (S::Failed, D::Failed, Healthy, None, Some(3))),
        (stopped(), Some(0), (S::Cancelled, D::Cancelled, Healthy, None, Some(0))),
        (stopped(), None, (S::Cancelled, D::Cancelled, Healthy, None, None)),
        (ReasonRecord::Timeout, None, (S::Failed, D::Failed, Healthy, None, None)),
        (ReasonRecord::Limit, None, (S::Failed, D::Failed, Healthy, None, None)),
        (ReasonRecord::Oom, None, (S::Failed, D::Failed, Healthy, None, None)),
        (ReasonRecord::ExecFailed, Some(127), (S::Failed, D::Failed, Healthy, None, Some(127))),
        (ReasonRecord::Storage, None, (S::Failed, D::Failed, Healthy, None, None)),
    ];
    for (reason, code, expected) in cases {
        let mut home = TestHome::new();
        let (run, job) = claimed(&mut home, Some((1, 3)), 1);
        home.write_started(&run, &job);
        home.write_exit(&run, &job, &reason, code, None);
        let doc = read(&home, &run);
        assert_eq!(words(&doc), expected, "{reason:?}");
        assert!(!doc.recorded && !doc.supervised, "{reason:?}");
        assert!(doc.completed_at.is_some(), "{reason:?}");
        if doc.status == RunStatus::Failed && code.is_none() {
            assert!(doc.detail.is_some(), "{reason:?}");
        }
    }
}

#[test]
fn row_one_good_end_tells_the_wave_reached() {
    let mut home = TestHome::new();
    let (run, job) = claimed(&mut home, Some((1, 3)), 1);
    home.write_started(&run, &job);
    home.write_exit(&run, &job, &ReasonRecord::Exited, Some(0), None);
    assert_eq!(read(&home, &run).active_wave, Some(3));
}

#[test]
fn row_two_living_launcher_is_shown_from_its_start_at_once() {
    let mut home = TestHome::new();
    let (run, job) = claimed(&mut home, None, 1);
    let before = read(&home, &run);
    assert_eq!((words(&before), before.launcher_pid, before.started_at), (RUNNING, None, None));
    assert!(before.recorded);

    let _shim = home.hold(&job);
    let own = home.write_started(&run, &job);
    let doc = read(&home, &run);
    assert_eq!(words(&doc), RUNNING);
    assert_eq!(doc.launcher_pid, Some(own.pid));
    assert!(doc.started_at.is_some() && doc.shim_identity.is_some());
    assert_eq!(doc.state_path, Some(home.job_dir(&job).display().to_string()));
    let exit = home.job_dir(&job).join("exit");
    assert_eq!(doc.launcher_status_path, Some(exit.display().to_string()));
    assert_eq!(doc.lease_expires_at, None, "no daemon holds a lease");
}

fn remote(home: &TestHome, job: &JobId, name: &str, heartbeat_at: WallMs) {
    let agent = AgentId::new(name).unwrap();
    spool::register(&home.job_dir(job), &agent, None, None, None, heartbeat_at).unwrap();
}

fn now() -> WallMs {
    crate::clock::wall()
}

#[test]
fn row_three_living_agents_keep_the_run() {
    let degraded: Words = (
        RunStatus::Running,
        Disposition::LauncherLostAgentsRunning,
        RecoveryState::Degraded,
        Some(ResumeAction::WaitForLiveAgents),
        None,
    );
    // Lost without a record, and ended by a signal that nobody here sent.
    for signalled in [false, true] {
        let mut home = TestHome::new();
        let (run, job) = claimed(&mut home, Some((1, 3)), 1);
        home.write_started(&run, &job);
        if signalled {
            home.write_exit(&run, &job, &ReasonRecord::Signalled, None, Some(9));
        }
        remote(&home, &job, "a1", now());
        let doc = read(&home, &run);
        assert_eq!(words(&doc), degraded);
        assert_eq!(doc.signal, signalled.then_some(9));
        assert!(doc.detail.unwrap().contains("a1"));
        let [agent] = doc.agent_runtime_summary.as_slice() else { panic!("one agent") };
        assert_eq!((agent.agent_id.as_str(), agent.alive, agent.remote), ("a1", Some(true), true));
        assert!(!agent.recorded);
    }
}

#[test]
fn row_three_counts_proved_identities_and_fresh_heartbeats_only() {
    let own = identity::own().unwrap();
    let gone = Identity { start_ticks: own.start_ticks + 1, pidfs_inode: 1, ..own.clone() };
    // A process of this host whose identity is not proved is gone, however fresh its word.
    for (process, alive) in [(own, true), (gone, false)] {
        let mut home = TestHome::new();
        let (mut run, job) = claimed(&mut home, Some((1, 3)), 1);
        let started = home.write_started(&run, &job);
        let registered = Registered {
            process: AgentProcess::Local(process),
            log: None,
            session: Some("harbour".into()),
            at: now(),
            heartbeat_at: now(),
            end: None,
        };
        let start =
            tidegate_core::exit::Started { shim: started.clone(), child: started, at: WallMs(1) };
        home.report(&mut run, Report::JobStarted { job: job.clone(), started: start });
        let agent = AgentId::new("a1").unwrap();
        let ingested = Ingested { registered: vec![(agent, registered)], ..Ingested::default() };
        home.report(&mut run, Report::Ingested(ingested));
        let expected = if alive { RecoveryState::Degraded } else { RecoveryState::Resuming };
        let doc = read(&home, &run);
        assert_eq!(doc.recovery_state, expected);
        assert_eq!(doc.agent_runtime_summary[0].alive, Some(alive));
        assert_eq!(doc.agent_runtime_summary[0].session.as_deref(), Some("harbour"));
    }
    let mut home = TestHome::new();
    let (run, job) = claimed(&mut home, Some((1, 3)), 1);
    home.write_started(&run, &job);
    remote(&home, &job, "a1", WallMs(now().0 - 31_000));
    assert_eq!(words(&read(&home, &run)), RESUMING, "its heartbeat is stale");
}

#[test]
fn row_three_agent_with_a_recorded_exit_does_not_count() {
    let mut home = TestHome::new();
    let (run, job) = claimed(&mut home, Some((1, 3)), 1);
    home.write_started(&run, &job);
    remote(&home, &job, "a1", now());
    let end = tidegate_core::launcher::AgentEnd {
        code: Some(0),
        disposition: tidegate_core::launcher::AgentDisposition::Completed,
        at: now(),
    };
    spool::exit(&home.job_dir(&job), &AgentId::new("a1").unwrap(), &end).unwrap();
    let doc = read(&home, &run);
    assert_eq!(words(&doc), RESUMING);
    assert_eq!(doc.agent_runtime_summary[0].terminal_disposition, Disposition::Completed);
}

fn journal(home: &TestHome, job: &JobId, wave: u32, finalized: Option<Finalized>) {
    let entry = Journal { wave: Some(wave), phase: None, finalized, at: now() };
    spool::progress(&home.job_dir(job), &entry).unwrap();
}

#[test]
fn row_four_journal_has_the_final_word() {
    use {Disposition as D, RecoveryState::RecoveredFromProgress, RunStatus as S};
    for (completed, code, expected) in [
        (true, None, (S::Completed, D::Completed, RecoveredFromProgress, None, Some(0))),
        (false, Some(7), (S::Failed, D::Failed, RecoveredFromProgress, None, Some(7))),
    ] {
        let mut home = TestHome::new();
        let (run, job) = claimed(&mut home, Some((1, 3)), 1);
        home.write_started(&run, &job);
        journal(&home, &job, 2, Some(Finalized { completed, exit_code: code }));
        let doc = read(&home, &run);
        assert_eq!(words(&doc), expected);
        assert_eq!(doc.active_wave, Some(2));
        assert!(!doc.recorded);
    }
}

#[test]
fn row_five_shows_the_resume_without_counting_it() {
    let mut home = TestHome::new();
    let (run, job) = claimed(&mut home, Some((1, 3)), 1);
    home.write_started(&run, &job);
    journal(&home, &job, 2, None);
    let doc = read(&home, &run);
    assert_eq!(words(&doc), RESUMING);
    assert_eq!((doc.resume_attempts, doc.active_wave), (0, Some(2)));
    assert!(!doc.recorded && !doc.supervised);
    assert!(doc.detail.unwrap().contains("wave 2"));
    let again = read(&home, &run);
    assert_eq!(words(&again), RESUMING, "reading changes nothing");
}

#[test]
fn row_six_is_what_remains() {
    // Nothing selected; nothing left to resume; no resume allowed; past the end; rebooted.
    let cases = [(None, 1, None), (Some((1, 3)), 0, None), (Some((1, 3)), 1, Some(4))];
    for (waves, resumes_max, wave) in cases {
        let mut home = TestHome::new();
        let (run, job) = claimed(&mut home, waves, resumes_max);
        home.write_started(&run, &job);
        home.write_exit(&run, &job, &ReasonRecord::Signalled, None, Some(15));
        if let Some(wave) = wave {
            journal(&home, &job, wave, None);
        }
        let doc = read(&home, &run);
        assert_eq!(words(&doc), LOST, "{waves:?} {resumes_max} {wave:?}");
        assert_eq!(doc.signal, Some(15));
        assert!(doc.detail.is_some() && !doc.recorded);
    }
}

#[test]
fn reboot_is_a_loss_whose_time_nobody_knows() {
    let mut home = TestHome::new();
    let (run, job) = claimed(&mut home, None, 1);
    let own = identity::own().unwrap();
    let boot_id = "00000000-0000-0000-0000-000000000000".to_owned();
    home.write_started_by(&run, &job, &Identity { boot_id, ..own });
    let doc = read(&home, &run);
    assert_eq!(words(&doc), LOST);
    assert_eq!((doc.completed_at, doc.detail.as_deref()), (None, Some("lost_reboot")));
}

#[test]
fn contradicting_records_are_shown_and_decide_nothing() {
    let mut home = TestHome::new();
    let (run, job) = claimed(&mut home, Some((1, 3)), 1);
    std::fs::write(home.job_dir(&job).join("started"), b"{\"kind\":").unwrap();
    let doc = read(&home, &run);
    assert_eq!(words(&doc), RUNNING);
    let [item] = doc.attention.as_slice() else { panic!("one thing to look at") };
    assert_eq!((item.reason.as_str(), item.job_id.clone()), ("quarantine", Some(job.to_string())));
}

#[test]
fn recorded_resume_is_resuming_until_its_launcher_starts() {
    let mut home = TestHome::new();
    let (mut run, job) = claimed(&mut home, Some((1, 3)), 1);
    let exit = tidegate_core::exit::Exit::lost(tidegate_core::exit::Reason::LostShim, WallMs(5));
    let started = home.write_started(&run, &job);
    let started =
        tidegate_core::exit::Started { shim: started.clone(), child: started, at: WallMs(4) };
    let (started, ingested) = (Some(started), Ingested::default());
    home.report(&mut run, Report::JobFinished { job, started, exit, ingested, evidence: None });
    let doc = read(&home, &run);
    assert_eq!(words(&doc), RESUMING);
    assert_eq!((doc.resume_attempts, doc.recorded, doc.launcher_pid), (1, true, None));

    let second = run.jobs.keys().next_back().unwrap().clone();
    let _shim = home.hold(&second);
    home.write_started(&run, &second);
    let doc = read(&home, &run);
    assert_eq!((words(&doc), doc.resume_attempts, doc.detail), (RUNNING, 1, None));
    assert!(doc.state_path.unwrap().ends_with(&second.to_string()));
}

#[test]
fn late_agent_record_refreshes_the_summary_of_an_ended_run() {
    let mut home = TestHome::new();
    let (mut run, job) = claimed(&mut home, None, 1);
    home.write_started(&run, &job);
    home.write_exit(&run, &job, &ReasonRecord::Exited, Some(0), None);
    let exit = tidegate_core::exit::Exit {
        code: Some(0),
        ..tidegate_core::exit::Exit::lost(tidegate_core::exit::Reason::Exited, WallMs(9))
    };
    let ingested = Ingested::default();
    home.report(
        &mut run,
        Report::JobFinished { job: job.clone(), started: None, exit, ingested, evidence: None },
    );
    assert!(run.status.is_terminal());
    remote(&home, &job, "late", now());
    let doc = read(&home, &run);
    assert_eq!((doc.status, doc.recorded), (RunStatus::Completed, true));
    assert_eq!(doc.agent_runtime_summary.len(), 1);
}
