//! Features of a plan run, as documents.

use tidegate_core::ids::{FeatureId, GateName, RunId};
use tidegate_core::plan::{FeatureSpec, PlanSpec};
use tidegate_core::run::{
    Block, Feature, FeatureState, LandStep, Plan, Purpose, Round, Run, WorkStep,
};
use tidegate_protocol::{BlockedDoc, FeatureDoc, SaidDoc};

use super::attention::in_words;
use super::evidence::evidence;
use super::locks::locks;
use super::place::HomePaths;
use super::usage::usage;
use super::waiting::{feature_waits_for, lack};

/// The features of a run in the order of its plan; none for launcher runs.
pub(super) fn features(run: &Run, paths: &HomePaths) -> Vec<FeatureDoc> {
    let Some((spec, plan)) = run.plan() else { return Vec::new() };
    let whole = Whole { run, spec, plan, paths, lack: lack(run, paths) };
    let all = spec.in_order().filter_map(|(wave, id)| {
        let (of_spec, feature) = (spec.features.get(id)?, plan.features.get(id)?);
        Some(document(&whole, wave, id, of_spec, feature))
    });
    all.collect()
}

struct Whole<'a> {
    /// Why the home has no room for a further worktree.
    lack: Option<String>,
    run: &'a Run,
    spec: &'a PlanSpec,
    plan: &'a Plan,
    paths: &'a HomePaths,
}

fn document(
    whole: &Whole<'_>,
    wave: u32,
    id: &FeatureId,
    of_spec: &FeatureSpec,
    feature: &Feature,
) -> FeatureDoc {
    let run = whole.run;
    let landed_at = match &feature.state {
        FeatureState::Landed { commit } => Some(commit),
        FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Landing(_)
        | FeatureState::Blocked(_)
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    };
    let tested = feature.tested.as_ref().map(|tested| tested.commit.to_string());
    let (reason, cause) = reason(&feature.state);
    FeatureDoc {
        id: id.to_string(),
        wave,
        title: of_spec.title.clone(),
        state: feature.state.word().to_owned(),
        step: step(run, id, &feature.state),
        iteration: feature.iteration,
        attempts: attempts(run, id),
        blocked: blocked(run, id, feature),
        commit: match landed_at {
            Some(commit) => commit.as_ref().map(ToString::to_string),
            None => tested,
        },
        landed: landed_at.is_some(),
        base: feature.base.as_ref().map(ToString::to_string),
        worktree: feature.worktree.clone(),
        branch: feature.base.is_some().then(|| format!("tidegate/{}/{id}", run.id)),
        needs: of_spec.needs.iter().map(ToString::to_string).collect(),
        locks: locks(of_spec, feature),
        reason,
        cause,
        job_id: feature.job().map(ToString::to_string),
        evidence: evidence(run, id, whole.paths),
        waits_for: feature_waits_for(run, (whole.spec, whole.plan), id, whole.lack.as_deref()),
        usage: usage(run, Some(id)),
        said: said(run, id, feature, whole.paths),
    }
}

/// What the newest agent of a feature that has not ended says of its work.
fn said(run: &Run, id: &FeatureId, feature: &Feature, paths: &HomePaths) -> Option<SaidDoc> {
    let mut newest = run.jobs.iter().rev().filter(|(_, job)| is_agent_of(&job.purpose, id));
    let (job, _) = newest.next().filter(|_| !feature.is_terminal())?;
    crate::said::newest(&paths.job(job))
}

fn is_agent_of(purpose: &Purpose, id: &FeatureId) -> bool {
    match purpose {
        Purpose::Agent { feature, .. } => feature == id,
        Purpose::Launcher { .. }
        | Purpose::LauncherAgent { .. }
        | Purpose::Gate { .. }
        | Purpose::Hook { .. } => false,
    }
}

/// Agent jobs that the feature had.
fn attempts(run: &Run, id: &FeatureId) -> u32 {
    let agents = run.jobs.values().filter(|job| is_agent_of(&job.purpose, id));
    u32::try_from(agents.count()).unwrap_or(u32::MAX)
}

fn reason(state: &FeatureState) -> (Option<String>, Option<String>) {
    match state {
        FeatureState::Failed { reason } => (Some(reason.clone()), None),
        FeatureState::Cancelled { actor } => (Some(format!("cancelled by {actor}")), None),
        FeatureState::Skipped { cause } => {
            (Some(format!("`{cause}` did not land")), Some(cause.to_string()))
        }
        FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Landing(_)
        | FeatureState::Blocked(_)
        | FeatureState::Landed { .. } => (None, None),
    }
}

/// The gates that run, else the one that waits.
fn gates_step(run: &Run, id: &FeatureId, round: &Round) -> Option<String> {
    let running: Vec<&str> = round.running.keys().map(GateName::as_str).collect();
    if running.is_empty() {
        if run.look_due(id).is_some() {
            return Some("inspecting".to_owned());
        }
        let waits = run.startable_gates(id);
        return waits.first().map(|gate| format!("awaiting_gate_slot:{gate}"));
    }
    Some(format!("gate:{}", running.join(",")))
}

/// The step within a state, in one word or the names of gates.
fn step(run: &Run, id: &FeatureId, state: &FeatureState) -> Option<String> {
    match state {
        FeatureState::Working { step, .. } => Some(
            match step {
                WorkStep::AwaitingSlot => "awaiting_slot",
                WorkStep::Preparing => "preparing",
                WorkStep::SettingUp(_) => "setting_up",
                WorkStep::Agent(_) => "agent",
                WorkStep::Committing(_) => "committing",
                WorkStep::Reading(_) => "reading",
                WorkStep::RollingBack(_) => "rolling_back",
            }
            .to_owned(),
        ),
        FeatureState::Verifying { round } => gates_step(run, id, round),
        FeatureState::Landing(step) => match step {
            LandStep::AwaitingTarget => Some("awaiting_target".to_owned()),
            LandStep::Merging => Some("merging".to_owned()),
            LandStep::Gates { round, .. } => gates_step(run, id, round),
            LandStep::Updating { .. } => Some("updating".to_owned()),
        },
        FeatureState::Queued
        | FeatureState::InReview
        | FeatureState::Blocked(_)
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    }
}

/// Why a feature cannot go on by itself, if that is so.
fn blocked(run: &Run, id: &FeatureId, feature: &Feature) -> Option<BlockedDoc> {
    match &feature.state {
        FeatureState::Blocked(block) => Some(BlockedDoc {
            reason: block.word().to_owned(),
            paths: paths_of(block),
            detail: Some(in_words(block)),
            unblocks: unblocks(block, &run.id, id, feature.worktree.as_deref()),
            // A dirty target goes on by itself, but only once a person has cleaned it.
            requires_human: true,
        }),
        FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Landing(_)
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    }
}

fn paths_of(block: &Block) -> Vec<String> {
    match block {
        Block::Conflict { paths }
        | Block::TargetDirty { paths, .. }
        | Block::Collision { paths, .. }
        | Block::LocalBehind { paths, .. } => paths.clone(),
        Block::TargetMissing
        | Block::RepoHeld { .. }
        | Block::Resources { .. }
        | Block::Git { .. }
        | Block::Input { .. }
        | Block::Auth { .. }
        | Block::Review { .. }
        | Block::NoProgress { .. }
        | Block::Budget { .. }
        | Block::SilentRevert { .. }
        | Block::PushRefused { .. }
        | Block::RemoteUnreachable { .. }
        | Block::Diverged { .. }
        | Block::Quarantine { .. } => Vec::new(),
    }
}

/// What ends a block.
pub(super) fn unblocks(
    block: &Block,
    run: &RunId,
    feature: &FeatureId,
    worktree: Option<&str>,
) -> String {
    let retry = format!("tidegate retry {run} --feature {feature}");
    match block {
        Block::Conflict { .. } => {
            let place = worktree.unwrap_or("its worktree");
            format!("merge the target into the branch in {place}, commit, then `{retry}`")
        }
        Block::TargetDirty { .. } | Block::LocalBehind { .. } => {
            "commit, stash or remove what stands in the way; it goes on by itself".to_owned()
        }
        Block::RepoHeld { .. } => "it goes on by itself once the other home is done".to_owned(),
        Block::TargetMissing => format!("make the target branch, then `{retry}`"),
        Block::Collision { waits: true, .. } => "it goes on by itself".to_owned(),
        Block::Collision { waits: false, with, .. } => {
            format!("let `{with}` end, or `{retry}` to build both at once")
        }
        Block::SilentRevert { .. } => format!(
            "look at `tidegate explain {run}`, then `tidegate approve {run} --feature {feature}` to land it \
             all the same, `tidegate deny` or `{retry}`"
        ),
        Block::PushRefused { .. } => format!("let the remote take it, then `{retry}`"),
        Block::RemoteUnreachable { .. } => {
            format!("it goes on by itself once the remote answers; `{retry}` asks it now")
        }
        Block::Diverged { .. } => {
            format!("bring the target and its remote together, then `{retry}`")
        }
        Block::Input { .. } => {
            format!("`tidegate inbox` has the question: answer it, or `{retry}` to go on without")
        }
        Block::Review { .. } => {
            format!("`tidegate approve {run} --feature {feature}`, `tidegate deny` or `{retry}`")
        }
        Block::Auth { .. } => format!("log the agent in or give it its key, then `{retry}`"),
        Block::NoProgress { .. } => format!(
            "look at its evidence (`tidegate explain {run} --feature {feature}`), mend its worktree or \
             what the gate needs, then `{retry}`"
        ),
        Block::Budget { overrun } => {
            let whose = overrun.scope.word();
            format!("`{retry}` gives the {whose} its budget once more, or `tidegate cancel {run}`")
        }
        Block::Resources { .. } => format!("make room, then `{retry}`"),
        Block::Git { .. } => format!("mend what git reports, then `{retry}`"),
        Block::Quarantine { .. } => {
            format!("look at the job's directory, then `{retry}` or `tidegate cancel {run}`")
        }
    }
}
