//! Plan runs: features, attention, what is waited for, and why.

use tidegate_core::exit::{Exit, Reason, Started};
use tidegate_core::ids::{FeatureId, GateName, JobId, Oid};
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{
    CaptureOutcome, CommitOutcome, Grant, Ingested, Input, Report, Run, Tested, WorktreeOutcome,
};
use tidegate_core::time::WallMs;
use tidegate_process::identity;
use tidegate_protocol::{RunKind, RunStatus};

use super::home::TestHome;
use super::works::{feature_id, plan};

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

fn started() -> Started {
    let own = identity::own().unwrap();
    Started { shim: own.clone(), child: own, at: WallMs(7) }
}

fn exit(code: i32) -> Exit {
    Exit { code: Some(code), ran_ms: 12, ..Exit::lost(Reason::Exited, WallMs(9)) }
}

fn end(home: &mut TestHome, run: &mut Run, job: &JobId, code: i32) {
    let (started, ingested) = (Some(started()), Ingested::default());
    let job = job.clone();
    home.report(
        run,
        Report::JobFinished { job, started, exit: exit(code), ingested, evidence: None },
    );
}

/// What the builder left is captured.
fn capture(home: &mut TestHome, run: &mut Run, feature: &FeatureId, job: &JobId) {
    let outcome = CaptureOutcome::Skipped { why: "a test".into() };
    let (feature, job) = (feature.clone(), job.clone());
    home.report(run, Report::Captured { feature, job, outcome });
}

fn newest(run: &Run) -> JobId {
    run.jobs.keys().next_back().unwrap().clone()
}

/// Takes a feature to the point where its builder runs.
fn build(home: &mut TestHome, run: &mut Run, feature: &FeatureId) {
    home.input(run, &Input::Grant(Grant::Slot { feature: feature.clone() }));
    let outcome = WorktreeOutcome::Ready {
        path: "/w".into(),
        base: oid('a'),
        furnished: tidegate_core::workplace::Furnished::default(),
    };
    home.report(run, Report::Worktree { feature: feature.clone(), outcome });
}

/// Takes a feature from its builder's end to the end of its gate.
fn verify(home: &mut TestHome, run: &mut Run, feature: &FeatureId, code: i32) {
    let job = newest(run);
    end(home, run, &job, 0);
    capture(home, run, feature, &job);
    let outcome = CommitOutcome::Commit(Tested { commit: oid('c'), tree: oid('d') });
    home.report(run, Report::Commit { feature: feature.clone(), job, outcome });
    home.input(
        run,
        &Input::Grant(Grant::Gate {
            feature: feature.clone(),
            gate: GateName::new("test").unwrap(),
            slot: 0,
        }),
    );
    let gate = newest(run);
    end(home, run, &gate, code);
}

#[test]
fn features_say_what_each_of_them_waits_for() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, plan(ReviewPolicy::Person));
    let waiting = home.viewer().run(run.id.as_str()).unwrap();
    assert_eq!((waiting.kind, waiting.status), (RunKind::Plan, RunStatus::Pending));
    assert_eq!(waiting.features[0].waits_for.as_deref(), Some("the run's turn"));
    home.claim(&mut run);
    build(&mut home, &mut run, &feature_id("berths"));
    let doc = home.viewer().run(run.id.as_str()).unwrap();
    let told: Vec<_> = doc
        .features
        .iter()
        .map(|one| (one.id.as_str(), one.wave, one.state.as_str(), one.waits_for.as_deref()))
        .collect();
    let slot = "a slot: 1 of 1 features of the run are active";
    assert_eq!(
        told,
        [
            ("berths", 1, "building", None),
            ("quays", 1, "queued", Some(slot)),
            ("board", 2, "queued", Some("wave 1: berths, quays not done")),
        ]
    );
    assert_eq!(doc.active_wave, Some(1));
    assert_eq!(doc.waits_for, None);
    let [agent] = doc.agent_runtime_summary.as_slice() else { panic!("one agent") };
    assert_eq!(
        (agent.agent_id.as_str(), agent.feature.as_deref()),
        ("berths/builder", Some("berths"))
    );
}

#[test]
fn reviewed_feature_waits_for_a_person_with_its_commit() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, plan(ReviewPolicy::Person));
    home.claim(&mut run);
    build(&mut home, &mut run, &feature_id("berths"));
    verify(&mut home, &mut run, &feature_id("berths"), 0);
    let doc = home.viewer().run(run.id.as_str()).unwrap();
    let [item] = doc.attention.as_slice() else { panic!("one thing to look at") };
    assert_eq!(item.reason, "review");
    assert_eq!(item.commit.as_deref(), Some(oid('c').as_str()));
    assert!(item.unblocks.starts_with("tidegate approve"));
    let feature = &doc.features[0];
    let evidence = feature.evidence.first().unwrap();
    assert_eq!((evidence.gate.as_str(), evidence.passed), ("test", Some(true)));
    assert_eq!(evidence.commit, oid('c').as_str());

    let why = home.viewer().explain(run.id.as_str(), Some("berths")).unwrap();
    assert!(why.requires_human && why.because.contains("consent"), "{why:?}");
    let why = home.viewer().explain(run.id.as_str(), None).unwrap();
    assert!(why.requires_human && why.next.unwrap().starts_with("tidegate approve"));
}

#[test]
fn failed_gate_is_the_evidence_of_the_failure() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, plan(ReviewPolicy::Auto));
    home.claim(&mut run);
    let berths = feature_id("berths");
    build(&mut home, &mut run, &berths);
    verify(&mut home, &mut run, &berths, 1);
    let why = home.viewer().explain(run.id.as_str(), Some("berths")).unwrap();
    let about = |name: &str| why.facts.iter().find(|fact| fact.about == name);
    assert!(about("gate").unwrap().text.contains("gate test failed on commit"), "{why:?}");
    assert!(about("feedback").unwrap().text.contains("gate test"), "{why:?}");
    assert!(about("gate-failed").is_some(), "the event is among the facts: {why:?}");
    let missing = home.viewer().explain(run.id.as_str(), Some("nothing")).unwrap_err();
    assert_eq!(missing.code, tidegate_protocol::ErrorCode::NotFound);
}

#[test]
fn blocked_feature_says_what_unblocks_it() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, plan(ReviewPolicy::Auto));
    home.claim(&mut run);
    let berths = feature_id("berths");
    home.input(&mut run, &Input::Grant(Grant::Slot { feature: berths.clone() }));
    let outcome = WorktreeOutcome::TargetMissing;
    home.report(&mut run, Report::Worktree { feature: berths, outcome });
    let doc = home.viewer().run(run.id.as_str()).unwrap();
    let blocked = doc.features[0].blocked.as_ref().unwrap();
    assert_eq!((blocked.reason.as_str(), blocked.requires_human), ("target_missing", true));
    assert!(blocked.unblocks.contains("tidegate retry"));
    assert_eq!(doc.attention[0].reason, "target_missing");
    assert_eq!(doc.status, RunStatus::Running, "it keeps its lane");
}

#[test]
fn jobs_of_a_plan_name_their_work() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, plan(ReviewPolicy::Auto));
    home.claim(&mut run);
    build(&mut home, &mut run, &feature_id("berths"));
    verify(&mut home, &mut run, &feature_id("berths"), 1);
    let jobs = home.viewer().jobs(run.id.as_str()).unwrap().jobs;
    let told: Vec<_> = jobs
        .iter()
        .map(|job| (job.purpose.as_str(), job.gate.as_deref(), job.exit_code, job.state.as_str()))
        .collect();
    assert_eq!(
        told,
        [("agent", None, Some(0), "finished"), ("gate", Some("test"), Some(1), "finished"),]
    );
}
