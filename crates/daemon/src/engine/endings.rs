//! How a command ends that is not done at once: read off the run that it is about. Pure.

use serde_json::{Value, json};
use tidegate_core::command::Awaits;
use tidegate_core::ids::{FeatureId, Oid};
use tidegate_core::plan::{FeatureSpec, PlanSpec, Role, Strategy};
use tidegate_core::run::{Block, Feature, FeatureState, Run, WorkStep};
use tidegate_protocol::{ErrorCode, Problem};

use super::handle::Answer;

/// What became of a command that hangs on a run; `None` while that is not told.
pub(super) fn end_of(awaits: Awaits, run: &Run, feature: Option<&FeatureId>) -> Option<Answer> {
    match awaits {
        Awaits::RunEnd => run.status.is_terminal().then(|| Ok(of_run(run))),
        Awaits::Landing => landing(run, feature?),
        Awaits::Rollback => rollback(run, feature?),
        Awaits::Cleanup(_) | Awaits::Restore(_) => None,
    }
}

fn of_run(run: &Run) -> Value {
    json!({ "runId": run.id.as_str(), "status": run.status.word() })
}

fn rollback(run: &Run, id: &FeatureId) -> Option<Answer> {
    let (_, plan) = run.plan()?;
    let feature = plan.features.get(id)?;
    if matches!(feature.state.work_step(), Some(WorkStep::RollingBack(_))) {
        return None;
    }
    if let FeatureState::Blocked(Block::Git { detail }) = &feature.state {
        return Some(Err(Problem::new(ErrorCode::Io, format!("{id}: {detail}"))));
    }
    let mut data = of_run(run);
    data["feature"] = Value::String(id.to_string());
    Some(Ok(data))
}

/// A consent is carried out once its feature has landed, was handed on, or cannot land.
fn landing(run: &Run, id: &FeatureId) -> Option<Answer> {
    let (spec, plan) = run.plan()?;
    let feature = plan.features.get(id)?;
    let of_spec = spec.features.get(id)?;
    match &feature.state {
        FeatureState::Landed { commit } => Some(Ok(landed(run, spec, id, commit.as_ref()))),
        FeatureState::Landing(_)
        | FeatureState::InReview
        | FeatureState::Verifying { .. }
        | FeatureState::Working { role: Role::Planner | Role::Qa | Role::Reviewer, .. } => None,
        FeatureState::Working { role: Role::Reconciler, .. } => {
            Some(Ok(handed_over(run, id, feature, "reconciler")))
        }
        FeatureState::Queued | FeatureState::Working { role: Role::Builder, .. } => {
            Some(Ok(handed_over(run, id, feature, "repair")))
        }
        FeatureState::Blocked(block) => {
            blocked(id, feature, block).map(|problem| Err(about(problem, run, id)))
        }
        FeatureState::Failed { reason } => {
            Some(Err(about(disabled(of_spec, feature, reason), run, id)))
        }
        FeatureState::Cancelled { .. } | FeatureState::Skipped { .. } => {
            let message = format!("{id} is {}", feature.state.word());
            let problem = Problem::new(ErrorCode::InvalidStatusTransition, message);
            Some(Err(about(problem, run, id)))
        }
    }
}

fn about(problem: Problem, run: &Run, id: &FeatureId) -> Problem {
    problem.with("run_id", run.id.as_str()).with("feature_id", id.as_str())
}

fn landed(run: &Run, spec: &PlanSpec, id: &FeatureId, commit: Option<&Oid>) -> Value {
    let strategy = match spec.landing.strategy {
        Strategy::Merge => "merge",
        Strategy::Squash => "squash",
        Strategy::Rebase => "rebase",
    };
    let gated = !spec.landing.merge_gates.is_empty() && commit.is_some();
    json!({
        "runId": run.id.as_str(),
        "feature": id.as_str(),
        "status": "landed",
        "merge_gate_overall": if gated { "passed" } else { "none" },
        "merge_sha": commit.map(Oid::as_str),
        "merge_strategy": strategy,
        "merge_target": spec.target,
    })
}

/// The run itself goes on with it: its id is the one to follow.
fn handed_over(run: &Run, id: &FeatureId, feature: &Feature, target: &str) -> Value {
    json!({
        "runId": run.id.as_str(),
        "feature": id.as_str(),
        "handoff_started": true,
        "handoff_target": target,
        "merge": {
            "landed": false,
            "conflicting_files": feature.conflict,
            "reason": feature.feedback.as_ref().map(tidegate_core::run::Feedback::describe),
        },
        "retry": { "attempted": target == "repair", "iteration": feature.iteration },
        "auto_resume": {
            "attempted": true,
            "started": true,
            "already_running": true,
            "feature_id": id.as_str(),
        },
    })
}

/// Why a feature cannot land by itself; `None` where what is in the way may go away, and the
/// landing is tried again then.
fn blocked(id: &FeatureId, feature: &Feature, block: &Block) -> Option<Problem> {
    let new = |code, detail: &str| Some(Problem::new(code, format!("{id}: {detail}")));
    match block {
        Block::TargetDirty { .. }
        | Block::RepoHeld { .. }
        | Block::RemoteUnreachable { .. }
        | Block::Resources { .. }
        | Block::Collision { .. }
        | Block::Input { .. }
        | Block::LocalBehind { .. } => None,
        Block::Conflict { paths } => Some(conflict(id, feature, paths)),
        Block::TargetMissing => new(ErrorCode::TargetMissing, "its target does not exist"),
        Block::Diverged { detail } => new(ErrorCode::RemoteLocalDivergence, detail),
        Block::PushRefused { detail } | Block::Git { detail } => new(ErrorCode::Io, detail),
        Block::Review { detail } | Block::Auth { detail, .. } => {
            new(ErrorCode::UserApprovalRequired, detail)
        }
        Block::SilentRevert { .. } => {
            new(ErrorCode::UserApprovalRequired, "its landing would take back what others landed")
        }
        Block::Budget { .. } => new(ErrorCode::UserApprovalRequired, "its budget is used up"),
        Block::NoProgress { reason, .. } => new(ErrorCode::MergeDisabled, reason),
        Block::Quarantine { detail, .. } => new(ErrorCode::Corrupt, detail),
    }
}

fn conflict(id: &FeatureId, feature: &Feature, paths: &[String]) -> Problem {
    let message =
        format!("{id} conflicts with its target, and nobody is left who could resolve it");
    let prepared = feature.reconciliations > 0;
    Problem::new(ErrorCode::ReconciliationFailed, message)
        .hint("resolve it in the feature's worktree, then `tidegate retry RUN --feature ID`")
        .with("merge_base", feature.base.as_ref().map(Oid::as_str))
        .with("mainline_head", feature.sync.as_ref().map(Oid::as_str))
        .with("worktree_head", feature.tested.as_ref().map(|tested| tested.commit.as_str()))
        .with("conflicting_files", paths.to_vec())
        .with("reconciler_active_feature_id", Value::Null)
        .with("reconciler_queue_position", Value::Null)
        .with("dispatched_to_reconciler", prepared)
        .with("conflict_worktree_prepared", prepared)
}

/// The repair has used up its iterations: a retry of the feature begins it anew.
fn disabled(spec: &FeatureSpec, feature: &Feature, reason: &str) -> Problem {
    Problem::new(ErrorCode::MergeDisabled, reason)
        .hint("`tidegate retry RUN --feature ID` repairs it from here")
        .with("gate_overall", "failed")
        .with("reconciliation_status", if feature.conflict.is_some() { "failed" } else { "none" })
        .with("reconciliation_attempted", feature.reconciliations > 0)
        .with("recovery_available", true)
        .with("status_after_gate_failure", "failed")
        .with("merge_repair_attempts", feature.iteration)
        .with("merge_repair_max", spec.iterations_max)
}
