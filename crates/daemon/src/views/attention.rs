//! What a person should look at.

use tidegate_core::ids::{FeatureId, JobId};
use tidegate_core::plan::PlanSpec;
use tidegate_core::run::{
    Block, Feature, FeatureState, Job, JobState, Purpose, Run, awaits_person,
};
use tidegate_protocol::AttentionDoc;

use super::budgets::overrun_in_words;
use super::derive::Derived;
use super::feature_doc::unblocks;
use super::moment::stamp;
use super::people::of_questions;

/// Everything of a run that waits for a person, or that a person should know.
pub(super) fn attention(derived: &Derived) -> Vec<AttentionDoc> {
    let run = &derived.run;
    let mut found = Vec::new();
    of_questions(run, &mut found);
    of_features(run, &mut found);
    for (job, why) in &derived.odd {
        found.push(AttentionDoc {
            reason: "quarantine".to_owned(),
            feature: None,
            job_id: Some(job.to_string()),
            message: format!("the records of job {job} contradict each other: {why}"),
            unblocks: "look at its directory, then retry or cancel".to_owned(),
            commit: None,
        });
    }
    for (job, stall) in &derived.stalled {
        // While nothing is asked of it, its job goes on and nobody need act.
        let state = run.jobs.get(job).map(|job| &job.state);
        let asked = run.status.cancel().is_some()
            || state.is_some_and(|state| matches!(state, JobState::Stopping { .. }));
        if !asked {
            continue;
        }
        found.push(AttentionDoc {
            reason: "shim_unresponsive".to_owned(),
            feature: None,
            job_id: Some(job.to_string()),
            message: format!("job {job} cannot be ended: {}", stall.words),
            unblocks: format!(
                "`kill -CONT {0}` lets it act; `kill -KILL {0}` gives it up, and what it left is ended",
                stall.pid
            ),
            commit: None,
        });
    }
    of_stuck(derived, &mut found);
    found.extend(run.jobs.iter().filter_map(|(id, job)| silent(run, id, job)));
    for (id, job) in &run.jobs {
        let (reason, message) = match &job.state {
            JobState::Finished { exit, .. } if exit.requires_human => {
                let detail = exit.detail.as_deref().unwrap_or("something of it could not be ended");
                ("requires_human", format!("job {id}: {detail}"))
            }
            JobState::Quarantined { detail, .. }
                if job_is_launchers(run, id) && !run.status.is_terminal() =>
            {
                ("quarantine", format!("the records of job {id} contradict each other: {detail}"))
            }
            JobState::Quarantined { .. }
            | JobState::Finished { .. }
            | JobState::Launching
            | JobState::Running(_)
            | JobState::Stopping { .. } => continue,
        };
        found.push(AttentionDoc {
            reason: reason.to_owned(),
            feature: None,
            job_id: Some(id.to_string()),
            message,
            unblocks: "look at its directory and at the processes that it names".to_owned(),
            commit: None,
        });
    }
    found
}

/// Jobs that are to end and cannot.
fn of_stuck(derived: &Derived, found: &mut Vec<AttentionDoc>) {
    for (job, why) in &derived.stuck {
        found.push(AttentionDoc {
            reason: "requires_human".to_owned(),
            feature: None,
            job_id: Some(job.to_string()),
            message: format!("job {job} cannot be ended: {why}"),
            unblocks: "end what it names, or restart the machine: the job is not over until then"
                .to_owned(),
            commit: None,
        });
    }
}

/// A job that gives no sign of life: a warning, which goes away by itself when it goes on.
fn silent(run: &Run, id: &JobId, job: &Job) -> Option<AttentionDoc> {
    let stall = job.stalled.as_ref().filter(|_| job.state.is_live())?;
    let feature = match &job.purpose {
        Purpose::Agent { feature, .. }
        | Purpose::Gate { feature, .. }
        | Purpose::Hook { feature, .. } => Some(feature.to_string()),
        Purpose::Launcher { .. } | Purpose::LauncherAgent { .. } => None,
    };
    let word = job.purpose.word();
    Some(AttentionDoc {
        reason: AttentionDoc::STALLED.to_owned(),
        feature,
        job_id: Some(id.to_string()),
        message: format!("{word} {id} gives no sign of life since {}", stamp(stall.since)),
        unblocks: format!(
            "nothing, if it is to be so; else look: `tidegate logs {run}`, then `tidegate cancel {run}`",
            run = run.id
        ),
        commit: None,
    })
}

fn job_is_launchers(run: &Run, job: &tidegate_core::ids::JobId) -> bool {
    // A feature's quarantined job is its blocked reason already.
    run.launcher().is_some() && run.jobs.contains_key(job)
}

fn of_features(run: &Run, found: &mut Vec<AttentionDoc>) {
    let Some((spec, plan)) = run.plan() else { return };
    if run.status.is_terminal() {
        return;
    }
    for (_, id) in spec.in_order() {
        let Some(feature) = plan.features.get(id) else { continue };
        let commit = feature.tested.as_ref().map(|tested| tested.commit.to_string());
        let doc = match &feature.state {
            FeatureState::InReview if awaits_person(spec, feature) => AttentionDoc {
                reason: "review".to_owned(),
                feature: Some(id.to_string()),
                job_id: None,
                message: review_message(spec, id, feature),
                unblocks: format!(
                    "tidegate approve {} --feature {id} --commit {}",
                    run.id,
                    commit.as_deref().unwrap_or("COMMIT")
                ),
                commit,
            },
            // Its questions are told already.
            FeatureState::Blocked(Block::Input { .. }) => continue,
            FeatureState::Blocked(block) if !block.ends_by_itself() => AttentionDoc {
                reason: block.word().to_owned(),
                feature: Some(id.to_string()),
                job_id: block_job(block),
                message: format!("`{id}` cannot go on: {}", in_words(block)),
                unblocks: unblocks(block, &run.id, id, feature.worktree.as_deref()),
                commit,
            },
            FeatureState::Blocked(_)
            | FeatureState::InReview
            | FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::Landing(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => continue,
        };
        found.push(doc);
    }
}

fn review_message(spec: &PlanSpec, id: &FeatureId, feature: &Feature) -> String {
    let stops: Vec<String> = feature
        .suspicions(spec)
        .map(|finding| format!("{} in {}", finding.kind, finding.place()))
        .collect();
    if stops.is_empty() {
        format!("`{id}` passed its gates and waits for consent to land")
    } else {
        format!("`{id}` passed its gates and changed what judges it: {}", stops.join(", "))
    }
}

fn block_job(block: &Block) -> Option<String> {
    match block {
        Block::Quarantine { job, .. } => Some(job.to_string()),
        Block::Conflict { .. }
        | Block::TargetDirty { .. }
        | Block::TargetMissing
        | Block::RepoHeld { .. }
        | Block::Resources { .. }
        | Block::Git { .. }
        | Block::Collision { .. }
        | Block::Input { .. }
        | Block::Auth { .. }
        | Block::Review { .. }
        | Block::NoProgress { .. }
        | Block::Budget { .. }
        | Block::SilentRevert { .. }
        | Block::PushRefused { .. }
        | Block::RemoteUnreachable { .. }
        | Block::Diverged { .. }
        | Block::LocalBehind { .. } => None,
    }
}

/// A block in one line for people.
pub(super) fn in_words(block: &Block) -> String {
    match block {
        Block::Conflict { paths } => format!("the merge conflicts in {}", paths.join(", ")),
        Block::TargetDirty { paths, why } if paths.is_empty() => why.clone(),
        Block::TargetDirty { paths, why } => format!("{why}: {}", paths.join(", ")),
        Block::RepoHeld { by } => format!("the repository is in use by {by}"),
        Block::TargetMissing => "the target branch does not exist".to_owned(),
        Block::Git { detail }
        | Block::Resources { detail }
        | Block::PushRefused { detail }
        | Block::RemoteUnreachable { detail }
        | Block::Diverged { detail } => detail.clone(),
        Block::Collision { with, paths, waits } => {
            let then = if *waits { ", and waits until that has ended" } else { "" };
            format!("its plan meets that of `{with}` in {}{then}", paths.join(", "))
        }
        Block::SilentRevert { losses } => {
            format!("it would take back what others landed: {}", losses.join("; "))
        }
        Block::LocalBehind { why, .. } => {
            format!("it is pushed, and the local target cannot follow: {why}")
        }
        Block::Input { role } => format!("its {} asked and waits for an answer", role.word()),
        Block::Auth { agent, detail, .. } => format!("{agent} is not let in: {detail}"),
        Block::Review { detail } => format!("its reviewer gave no verdict: {detail}"),
        Block::NoProgress { times, reason } => {
            format!("the same tree failed {times} times in a row for one reason: {reason}")
        }
        Block::Budget { overrun } => overrun_in_words(*overrun),
        Block::Quarantine { job, detail } => format!("job {job}: {detail}"),
    }
}
