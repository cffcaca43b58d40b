//! Every state of a plan run, its features and their jobs × every input.

use tidegate_core::exit::Reason;
use tidegate_core::ids::{AgentId, Oid};
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{
    CaptureOutcome, CommitOutcome, EffectKey, Grant, Ingested, Input, MergeOutcome, Merged, Report,
    RollbackOutcome, Run, Tested, UpdateOutcome, WorktreeOutcome,
};

use crate::fixture::{
    Shape, cancel, capture_all, captured, claim, exit, exited, fid, job_finished, job_started,
    named_gate, newest, oid, plan_run, stopped, take,
};
use crate::telling::table;

pub(crate) fn slot() -> Input {
    Input::Grant(Grant::Slot { feature: fid("a") })
}

/// A slot for the first gate of `a` that may begin; for one that it may have if none may.
pub(crate) fn gate(run: &Run) -> Input {
    let startable = run.startable_gates(&fid("a"));
    let gate = startable.first().map_or_else(|| named_gate("gate0"), |gate| (*gate).clone());
    Input::Grant(Grant::Gate { feature: fid("a"), gate, slot: 0 })
}

pub(crate) fn begin_gate(run: &mut Run) {
    let input = gate(run);
    take(run, &input);
}

pub(crate) fn target() -> Input {
    Input::Grant(Grant::Target { feature: fid("a") })
}

pub(crate) fn retry() -> Input {
    Input::RetryFeature { feature: fid("a"), actor: "ann".to_owned() }
}

pub(crate) fn hold() -> Input {
    Input::Hold { actor: "ann".to_owned(), reason: Some("the tide is out".to_owned()) }
}

pub(crate) fn approve(commit: Oid) -> Input {
    Input::Approve { feature: fid("a"), commit, actor: "ann".to_owned() }
}

pub(crate) fn worktree(outcome: WorktreeOutcome) -> Input {
    Input::Report(Report::Worktree { feature: fid("a"), outcome })
}

pub(crate) fn ready() -> Input {
    worktree(WorktreeOutcome::Ready {
        path: "/w/a".to_owned(),
        base: oid(1),
        furnished: tidegate_core::workplace::Furnished::default(),
    })
}

/// What came of committing the work of the newest builder.
pub(crate) fn commit(run: &Run, outcome: CommitOutcome) -> Input {
    let (feature, job) = (fid("a"), newest(run));
    Input::Report(Report::Commit { feature, job, outcome })
}

pub(crate) fn tested(n: u32) -> Tested {
    Tested { commit: oid(n), tree: oid(n + 1_000) }
}

pub(crate) fn merge(outcome: MergeOutcome) -> Input {
    Input::Report(Report::Merge { feature: fid("a"), outcome })
}

pub(crate) fn merged() -> Merged {
    Merged { onto: oid(1), commit: oid(20), tree: oid(21) }
}

pub(crate) fn update(outcome: UpdateOutcome) -> Input {
    Input::Report(Report::Update { feature: fid("a"), commit: oid(20), outcome })
}

pub(crate) fn clean() -> Input {
    Input::Report(Report::TargetClean { feature: fid("a") })
}

fn paths() -> Vec<String> {
    vec!["x".to_owned()]
}

pub(crate) fn dirty() -> UpdateOutcome {
    UpdateOutcome::Dirty { paths: paths(), why: "staged changes".to_owned() }
}

pub(crate) fn conflict() -> MergeOutcome {
    MergeOutcome::Conflict { paths: paths() }
}

fn why() -> String {
    "no space".to_owned()
}

/// Every input, about feature `a` and the newest job.
fn inputs(run: &Run) -> Vec<(&'static str, Input)> {
    let job = newest(run);
    let end = |exit| job_finished(job.clone(), exit);
    let key = EffectKey("feature:a:0:worktree".to_owned());
    let report = Report::TargetClean { feature: fid("a") };
    let mut all = vec![
        ("claim", claim()),
        ("adopt", Input::Adopt { supervisor: "home-2".to_owned() }),
        ("cancel", cancel()),
        ("hold", hold()),
        ("release", Input::Release { actor: "ann".to_owned() }),
        ("prioritise", Input::Prioritise { priority: 5, actor: "ann".to_owned() }),
        ("retry", retry()),
        ("approve", approve(oid(10))),
        ("approve another commit", approve(oid(11))),
        ("roll back", rollback()),
        ("start agent", start_agent("helper")),
        ("grant slot", slot()),
        ("grant gate", gate(run)),
        ("grant target", target()),
        ("answer to a closed effect", Input::Answer { key, report }),
        ("job started", job_started(job.clone())),
        ("job exited 0", end(exited(0))),
        ("job exited 1", end(exited(1))),
        ("job signalled", end(exit(Reason::Signalled, None))),
        ("job stopped", end(stopped())),
        ("job timed out", end(exit(Reason::Timeout, None))),
        ("job lost", end(exit(Reason::LostShim, None))),
        ("job lost by reboot", end(exit(Reason::LostReboot, None))),
        ("job quarantined", quarantined(run)),
        ("job silent", Input::Report(Report::JobSilent { job: job.clone(), silent_ms: 9 })),
        ("job active", Input::Report(Report::JobActive { job: job.clone() })),
        ("ingested", Input::Report(Report::Ingested(Ingested::default()))),
        ("agents swept", Input::Report(Report::AgentsSwept { remaining: Vec::new() })),
    ];
    all.extend(git_inputs(run));
    all
}

fn git_inputs(run: &Run) -> Vec<(&'static str, Input)> {
    let refused = CommitOutcome::HookRefused { output: "no".to_owned() };
    let left = CommitOutcome::LeftBranch { found: "main".to_owned() };
    let there = MergeOutcome::AlreadyThere { commit: oid(30) };
    vec![
        ("worktree ready", ready()),
        ("worktree conflict", worktree(WorktreeOutcome::SyncConflict { paths: paths() })),
        ("worktree without target", worktree(WorktreeOutcome::TargetMissing)),
        ("worktree failed", worktree(WorktreeOutcome::Failed { detail: why() })),
        ("commit", commit(run, CommitOutcome::Commit(tested(10)))),
        ("no change", commit(run, CommitOutcome::NoChange(tested(1)))),
        ("hook refused", commit(run, refused)),
        ("left branch", commit(run, left)),
        ("commit failed", commit(run, CommitOutcome::Failed { detail: why() })),
        ("merged", merge(MergeOutcome::Merged(merged()))),
        ("merge already there", merge(there)),
        ("merge conflict", merge(conflict())),
        ("merge without target", merge(MergeOutcome::TargetMissing)),
        ("merge failed", merge(MergeOutcome::Failed { detail: why() })),
        ("update landed", update(UpdateOutcome::Landed)),
        ("update found it moved", update(UpdateOutcome::Moved)),
        ("update found it dirty", update(dirty())),
        ("update without target", update(UpdateOutcome::Missing)),
        ("update found no remote", update(unreachable())),
        ("update failed", update(UpdateOutcome::Failed { detail: why() })),
        ("target clean", clean()),
        ("captured", capture(run, CaptureOutcome::Taken(captured()))),
        ("capture skipped", capture(run, CaptureOutcome::Skipped { why: why() })),
        ("rolled back", rolled_back(RollbackOutcome::Done { captured: None })),
        ("rollback failed", rolled_back(RollbackOutcome::Failed { detail: why() })),
        ("repository held", held()),
        ("repository free", free()),
        ("ask", crate::people::ask(newest(run))),
        ("answer a question", crate::people::answer(crate::people::question(run, 1), "so")),
        ("send", crate::people::send("mind the tide")),
        ("receive", crate::people::receive(run, true)),
        ("message typed", crate::people::was_typed(run)),
        ("remote back", Input::Report(Report::RemoteBack { feature: fid("a") })),
        ("retry due", Input::Report(Report::RetryDue { feature: fid("a") })),
    ]
}

pub(crate) fn rollback() -> Input {
    Input::Rollback { feature: fid("a"), to: 1, actor: "ann".to_owned() }
}

pub(crate) fn rolled_back(outcome: RollbackOutcome) -> Input {
    Input::Report(Report::RolledBack { feature: fid("a"), to: 1, outcome })
}

fn capture(run: &Run, outcome: CaptureOutcome) -> Input {
    Input::Report(Report::Captured { feature: fid("a"), job: newest(run), outcome })
}

fn start_agent(id: &str) -> Input {
    let agent = AgentId::new(id).unwrap();
    Input::StartAgent { agent, role: None, argv: vec!["true".to_owned()], terminal: false }
}

fn quarantined(run: &Run) -> Input {
    let detail = "another nonce".to_owned();
    Input::Report(Report::JobQuarantined { job: newest(run), detail })
}

/// The same run after one more input.
fn then(run: &Run, input: &Input) -> Run {
    let mut run = run.clone();
    take(&mut run, input);
    run
}

/// The same run after its agent ended well, and what it left was captured.
fn ended(run: &Run) -> Run {
    let mut run = then(run, &job_finished(newest(run), exited(0)));
    capture_all(&mut run);
    run
}

type States = Vec<(&'static str, Run)>;

fn silent(run: &Run) -> Input {
    Input::Report(Report::JobSilent { job: newest(run), silent_ms: 600_000 })
}

/// A run whose builder has failed twice.
fn waiting() -> Run {
    let review = ReviewPolicy::Person;
    let mut run = then(&plan_run(&Shape { review, attempts_max: 3, ..Shape::default() }), &claim());
    run = then(&run, &slot());
    for _ in 0..2 {
        run = then(&run, &ready());
        run = then(&run, &job_finished(newest(&run), exited(1)));
        capture_all(&mut run);
    }
    run
}

fn building() -> States {
    let pending = plan_run(&Shape { review: ReviewPolicy::Person, ..Shape::default() });
    let queued = then(&pending, &claim());
    let preparing = then(&queued, &slot());
    let launching = then(&preparing, &ready());
    let running = then(&launching, &job_started(newest(&launching)));
    let asked = then(&running, &crate::people::ask(newest(&running)));
    let mut blocked = then(&asked, &job_finished(newest(&asked), exited(12)));
    capture_all(&mut blocked);
    let asked = then(&asked, &crate::people::send("mind the tide"));
    let capturing = then(&running, &job_finished(newest(&running), exited(0)));
    let committing = ended(&running);
    let again = then(&committing, &commit(&committing, CommitOutcome::NoChange(tested(1))));
    let failed = WorktreeOutcome::Failed { detail: why() };
    vec![
        ("a is queued, the run is pending and held", then(&pending, &hold())),
        ("a is queued, the run is pending", pending),
        ("a is queued, the run is held", then(&queued, &hold())),
        ("a is queued", queued),
        ("a is building: awaiting a slot", again.clone()),
        ("a is building: rolling back", then(&again, &rollback())),
        ("a is building: capturing", capturing),
        ("a is building: preparing", preparing.clone()),
        ("a is building: its builder is launching", launching.clone()),
        ("a is building: its builder is silent", then(&running, &silent(&running))),
        ("a is building: its builder has asked, and is told something", asked.clone()),
        ("a is blocked: input", blocked),
        ("a is building: its builder is running", running),
        ("a is building: its next attempt waits for its time", waiting()),
        ("a is building: committing", committing),
        ("a is blocked: git", then(&preparing, &worktree(failed))),
        ("a is blocked: quarantine", then(&launching, &quarantined(&launching))),
    ]
}

fn verifying(committing: &Run) -> States {
    let awaiting = then(committing, &commit(committing, CommitOutcome::Commit(tested(10))));
    let running = then(&awaiting, &gate(&awaiting));
    let in_review = then(&running, &job_finished(newest(&running), exited(0)));
    vec![
        ("a is verifying: awaiting a gate slot", awaiting),
        ("a is verifying: its gate is launching", running),
        ("a is in review", in_review),
    ]
}

fn landing(in_review: &Run) -> States {
    let awaiting = then(in_review, &approve(oid(10)));
    let merging = then(&awaiting, &target());
    let gates = then(&merging, &merge(MergeOutcome::Merged(merged())));
    let gate_runs = then(&gates, &gate(&gates));
    let updating = then(&gate_runs, &job_finished(newest(&gate_runs), exited(0)));
    vec![
        ("a is landing: awaiting the target", awaiting),
        ("a is landing: merging", merging.clone()),
        ("a is landing: awaiting a gate slot", gates),
        ("a is landing: its gate is launching", gate_runs),
        ("a is landing: updating", updating.clone()),
        ("a is blocked: conflict", then(&merging, &merge(conflict()))),
        ("a is blocked: target missing", then(&merging, &merge(MergeOutcome::TargetMissing))),
        ("a is blocked: repository held", then(&merging, &held())),
        ("a is blocked: target dirty", then(&updating, &update(dirty()))),
        ("a is blocked: remote unreachable", then(&updating, &update(unreachable()))),
        ("a is landed", then(&updating, &update(UpdateOutcome::Landed))),
    ]
}

fn named<'a>(states: &'a States, name: &str) -> &'a Run {
    &states.iter().find(|(found, _)| *found == name).unwrap().1
}

fn all_states() -> States {
    let mut all = building();
    all.extend(verifying(named(&all, "a is building: committing")));
    all.extend(landing(named(&all, "a is in review")));
    // A second feature of the wave keeps the run going when the first one is given up.
    let waves = crate::fixture::waves(&[&["a", "z"], &["b"]]);
    let wide = plan_run(&Shape { waves, iterations_max: 1, ..Shape::default() });
    let committing = [claim(), slot(), ready()].iter().fold(wide, |run, input| then(&run, input));
    let committing = ended(&committing);
    let failed = then(&committing, &commit(&committing, CommitOutcome::NoChange(tested(1))));
    all.push(("a is failed", failed));
    all
}

#[test]
fn plan_run_each_state_answers_each_input_as_decided() {
    let told: Vec<String> =
        all_states().iter().map(|(name, run)| table(name, run, &inputs(run))).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn plan_run_being_cancelled_answers_each_input_as_decided() {
    let told: Vec<String> = all_states()
        .iter()
        .map(|(name, run)| {
            let cancelled = then(run, &cancel());
            let (_, plan) = cancelled.plan().unwrap();
            let words =
                format!("{}, {}", cancelled.status.word(), plan.features[&fid("a")].state.word());
            table(&format!("{name}, then the run is cancelled: {words}"), &cancelled, &inputs(run))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn plan_run_that_has_ended_answers_each_input_as_decided() {
    let completed = {
        let one = Shape {
            waves: crate::fixture::waves(&[&["a"]]),
            gates: 0,
            merge_gates: 0,
            ..Shape::default()
        };
        let run =
            [claim(), slot(), ready()].iter().fold(plan_run(&one), |run, input| then(&run, input));
        let run = ended(&run);
        let run = then(&run, &commit(&run, CommitOutcome::Commit(tested(10))));
        let merging = then(&run, &target());
        let updating = then(&merging, &merge(MergeOutcome::Merged(merged())));
        then(&updating, &update(UpdateOutcome::Landed))
    };
    let failed = {
        let one = Shape { iterations_max: 1, ..Shape::default() };
        let run =
            [claim(), slot(), ready()].iter().fold(plan_run(&one), |run, input| then(&run, input));
        let run = ended(&run);
        then(&run, &commit(&run, CommitOutcome::NoChange(tested(1))))
    };
    let cancelled = then(&plan_run(&Shape::default()), &cancel());
    let told =
        [completed, failed, cancelled].map(|run| table(run.status.word(), &run, &inputs(&run)));
    insta::assert_snapshot!(told.join("\n"));
}

fn unreachable() -> UpdateOutcome {
    UpdateOutcome::Unreachable { detail: why() }
}

fn held() -> Input {
    Input::Report(Report::RepoHeld { feature: fid("a"), by: "another home".to_owned() })
}

fn free() -> Input {
    Input::Report(Report::RepoFree { feature: fid("a") })
}
