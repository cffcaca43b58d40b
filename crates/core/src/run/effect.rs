//! The I/O that a run's state asks for, derived from the state itself.
//!
//! An effect is open exactly as long as the state that implies it: it needs no memory of its own,
//! and a restart derives the same list. Its key names it in the outbox.

use std::collections::BTreeMap;
use std::fmt;

use super::backoff::Wait;
use super::block::Block;
use super::conversing::ToSay;
use super::feature::{Feature, FeatureState, LandStep, Merged, WorkStep};
use super::state::{JobState, Run, Work};
use crate::exit::Identity;
use crate::ids::{AgentId, FeatureId, JobId, Oid};
use crate::launcher::AgentProcess;
use crate::plan::Role;
use crate::verdict::Row;

/// Names an effect within its run: one dispatch of it, from the state that opened it to the one
/// that closes it. What supervises a job keeps its key while the job's row changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectKey(pub String);

impl fmt::Display for EffectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One piece of I/O. Every one is answered by a report, or closed by another input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Look at the job's records and do what the verdict table says: spawn, watch, report.
    SuperviseJob {
        /// The job.
        job: JobId,
        /// Its row, for the table.
        row: Row,
    },
    /// End the job's tree, or withdraw it when it never started.
    StopJob {
        /// The job.
        job: JobId,
        /// Who asked.
        actor: String,
    },
    /// Look at the agents of a launcher that is gone, and report; then again whenever one ends,
    /// or a remote one's heartbeat is no longer fresh.
    WatchAgents {
        /// The launcher's job.
        job: JobId,
    },
    /// End the registered agents of a settled run.
    SweepAgents {
        /// The agents that may be alive on this host.
        agents: Vec<(AgentId, Identity)>,
    },
    /// Make the feature's worktree, or bring it up to date.
    PrepareWorktree {
        /// The feature.
        feature: FeatureId,
        /// The recorded base, when there is one.
        base: Option<Oid>,
        /// The target commit to merge into the branch.
        sync: Option<Oid>,
        /// The making to throw away first: its setup did not end well.
        discard: Option<String>,
    },
    /// Capture the worktree from time to time, while an agent works there.
    WatchWorktree {
        /// The feature.
        feature: FeatureId,
        /// The agent's job.
        job: JobId,
        /// The commit that the branch began at.
        base: Oid,
    },
    /// Capture what an agent left that has ended.
    Capture {
        /// The feature.
        feature: FeatureId,
        /// The agent's job.
        job: JobId,
        /// The commit that the branch began at.
        base: Oid,
    },
    /// Put the worktree back to a snapshot; what is there is captured first.
    Rollback {
        /// The feature.
        feature: FeatureId,
        /// The snapshot's number.
        to: u32,
        /// The commit that the branch began at.
        base: Oid,
    },
    /// Commit what the builder left.
    Commit {
        /// The feature.
        feature: FeatureId,
        /// The builder's job.
        job: JobId,
        /// The commit that the branch began at.
        base: Oid,
        /// The paths of a conflict that must be resolved in it.
        conflict: Option<Vec<String>>,
    },
    /// Read what an agent was to say.
    ReadResult {
        /// The feature.
        feature: FeatureId,
        /// What the agent worked for: a planner or a reviewer.
        role: Role,
        /// Its job.
        job: JobId,
    },
    /// Merge the target into the feature's branch, in its worktree, with markers where they conflict.
    PrepareConflict {
        /// The feature.
        feature: FeatureId,
    },
    /// Look at what the feature's commit did to the checks that judge it.
    Inspect {
        /// The feature.
        feature: FeatureId,
        /// The commit that its branch began at.
        base: Oid,
        /// The commit.
        commit: Oid,
    },
    /// Make the merged commit.
    Merge {
        /// The feature.
        feature: FeatureId,
        /// The commit to land.
        commit: Oid,
        /// Whether it may take back what others landed.
        reverts: bool,
    },
    /// Move the target, by compare-and-swap, after a look whether it has moved already.
    UpdateTarget {
        /// The feature.
        feature: FeatureId,
        /// From where to where.
        merged: Merged,
    },
    /// Type a message into the terminal of the feature's agent, once.
    TypeMessage {
        /// The feature.
        feature: FeatureId,
        /// The job.
        job: JobId,
        /// Its number.
        message: u32,
        /// Its number among the inputs of the job, from 1.
        seq: u64,
        /// What it says.
        text: String,
    },
    /// Talk with the feature's agent by its protocol: give it its task, then this, and tell what it asks.
    Converse {
        /// The feature.
        feature: FeatureId,
        /// The job.
        job: JobId,
        /// What is to be said beside the task.
        to_say: ToSay,
    },
    /// Wait for the time of the feature's next attempt.
    AwaitRetry {
        /// The feature.
        feature: FeatureId,
        /// Until when.
        wait: Wait,
    },
    /// Watch the repository's lock until another home has given it back.
    AwaitRepo {
        /// The feature.
        feature: FeatureId,
    },
    /// Ask the target's remote, less and less often, until it answers.
    AwaitRemote {
        /// The feature.
        feature: FeatureId,
    },
    /// Watch the target's checkout until it is clean.
    AwaitClean {
        /// The feature.
        feature: FeatureId,
    },
}

impl Run {
    /// All effects that the state asks for, by key.
    pub fn outstanding(&self) -> BTreeMap<EffectKey, Effect> {
        let mut open = BTreeMap::new();
        if self.status.is_terminal() {
            return open;
        }
        for (id, job) in &self.jobs {
            let row = match &job.state {
                JobState::Launching => Row::Launching,
                JobState::Running(_) => Row::Running,
                JobState::Stopping { actor, .. } => {
                    let effect = Effect::StopJob { job: id.clone(), actor: actor.clone() };
                    open.insert(EffectKey(format!("job:{}:stop", id.number())), effect);
                    Row::Stopping
                }
                JobState::Finished { .. } | JobState::Quarantined { .. } => continue,
            };
            let effect = Effect::SuperviseJob { job: id.clone(), row };
            open.insert(EffectKey(format!("job:{}", id.number())), effect);
        }
        match &self.work {
            Work::Launcher { .. } => self.outstanding_of_launcher(&mut open),
            Work::Plan { state, .. } => {
                for (id, feature) in &state.features {
                    open.extend(self.typing(id));
                    open.extend(self.converse(id));
                    let turn = self.turns(id);
                    let of_agent = self.outstanding_of_agent(id, feature, turn);
                    let waits = of_agent.or_else(|| alarm(id, feature, turn));
                    if let Some((key, effect)) =
                        waits.or_else(|| outstanding_of_feature(id, feature, self))
                    {
                        open.insert(EffectKey(key), effect);
                    }
                }
            }
        }
        open
    }

    fn outstanding_of_launcher(&self, open: &mut BTreeMap<EffectKey, Effect>) {
        let Some((_, launcher)) = self.launcher() else { return };
        if launcher.settled.is_some() {
            let agents = self.sweepable_agents();
            if !agents.is_empty() {
                // An agent that registers meanwhile makes it another sweep.
                let key = EffectKey(format!("agents:sweep:{}", self.registrations));
                open.insert(key, Effect::SweepAgents { agents });
            }
        } else if let (Some(_), Some(job)) = (&launcher.degraded, &launcher.job) {
            // The end of a job of ours is a reason to look at the others anew.
            let closed = self.jobs.values().filter(|job| job.is_launcher_agent());
            let closed = closed.filter(|job| !job.state.is_live()).count();
            let key = EffectKey(format!("agents:watch:{}:{closed}", job.number()));
            open.insert(key, Effect::WatchAgents { job: job.clone() });
        }
    }

    /// Whether qa has looked at what the last builder made.
    pub(super) fn is_checked(&self, id: &FeatureId) -> bool {
        self.trails.get(id).is_some_and(|trail| trail.checked)
    }

    /// What an agent writes is captured while it works, and once it has ended before anything follows.
    fn outstanding_of_agent(
        &self,
        id: &FeatureId,
        feature: &Feature,
        turn: u32,
    ) -> Option<(String, Effect)> {
        let Some(WorkStep::Agent(job)) = feature.state.work_step() else { return None };
        let (feature, base) = (id.clone(), feature.base.clone()?);
        let job = job.clone();
        Some(if self.jobs.get(&job)?.state.is_finished() {
            (format!("feature:{id}:{turn}:capture"), Effect::Capture { feature, job, base })
        } else {
            (format!("feature:{id}:{turn}:watch"), Effect::WatchWorktree { feature, job, base })
        })
    }

    fn turns(&self, id: &FeatureId) -> u32 {
        self.trails.get(id).map_or(0, |trail| trail.turns)
    }

    /// The registered agents of this host whose end is not recorded.
    pub(crate) fn sweepable_agents(&self) -> Vec<(AgentId, Identity)> {
        let Some((_, launcher)) = self.launcher() else { return Vec::new() };
        if launcher.swept {
            return Vec::new();
        }
        let local = |(id, agent): (&AgentId, &crate::launcher::Registered)| match &agent.process {
            AgentProcess::Local(identity) if agent.end.is_none() => {
                Some((id.clone(), identity.clone()))
            }
            AgentProcess::Local(_) | AgentProcess::Remote => None,
        };
        launcher.registered.iter().filter_map(local).collect()
    }
}

/// The wait of a feature that goes on with its next attempt, and with nothing else before.
fn alarm(id: &FeatureId, feature: &Feature, turn: u32) -> Option<(String, Effect)> {
    let wait = feature.wait.filter(|_| feature.awaits_slot() || feature.may_have_slot())?;
    let effect = Effect::AwaitRetry { feature: id.clone(), wait };
    Some((format!("feature:{id}:{turn}:retry"), effect))
}

fn inspect(id: &FeatureId, run: &Run) -> Option<Effect> {
    let (base, commit) = run.look_due(id)?;
    Some(Effect::Inspect { feature: id.clone(), base: base.clone(), commit: commit.clone() })
}

fn merge_of(id: &FeatureId, feature: &Feature) -> Option<Effect> {
    let commit = feature.tested.as_ref()?.commit.clone();
    let reverts = feature.reverts_accepted.as_ref() == Some(&commit);
    Some(Effect::Merge { feature: id.clone(), commit, reverts })
}

fn worktree_of(id: &FeatureId, feature: &Feature, run: &Run) -> Effect {
    Effect::PrepareWorktree {
        feature: id.clone(),
        base: feature.base.clone(),
        sync: feature.sync.clone(),
        discard: run.half_made(id),
    }
}

fn outstanding_of_feature(
    id: &FeatureId,
    feature: &Feature,
    run: &Run,
) -> Option<(String, Effect)> {
    let turn = run.turns(id);
    let named = |what: &str, effect| Some((format!("feature:{id}:{turn}:{what}"), effect));
    match &feature.state {
        FeatureState::Working { role: Role::Reconciler, step: WorkStep::Preparing } => {
            named("conflict", Effect::PrepareConflict { feature: id.clone() })
        }
        FeatureState::Working { role, step: WorkStep::Reading(job) } => named(
            "result",
            Effect::ReadResult { feature: id.clone(), role: *role, job: job.clone() },
        ),
        FeatureState::Working { step: WorkStep::Preparing, .. } => {
            named("worktree", worktree_of(id, feature, run))
        }
        FeatureState::Working { step: WorkStep::Committing(job), .. } => named(
            "commit",
            Effect::Commit {
                feature: id.clone(),
                job: job.clone(),
                base: feature.base.clone()?,
                conflict: feature.conflict.clone(),
            },
        ),
        FeatureState::Working { step: WorkStep::RollingBack(to), .. } => named(
            "rollback",
            Effect::Rollback { feature: id.clone(), to: *to, base: feature.base.clone()? },
        ),
        FeatureState::Landing(LandStep::Merging) => named("merge", merge_of(id, feature)?),
        FeatureState::Landing(LandStep::Updating { merged }) => {
            named("update", Effect::UpdateTarget { feature: id.clone(), merged: merged.clone() })
        }
        FeatureState::Verifying { .. } | FeatureState::InReview => {
            named("inspect", inspect(id, run)?)
        }
        FeatureState::Blocked(block) => {
            let (name, effect) = watch_of(id, block)?;
            named(name, effect)
        }
        FeatureState::Queued
        | FeatureState::Working {
            step: WorkStep::AwaitingSlot | WorkStep::SettingUp(_) | WorkStep::Agent(_),
            ..
        }
        | FeatureState::Landing(LandStep::AwaitingTarget | LandStep::Gates { .. })
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    }
}

/// What is watched while a block lasts that ends without a person's word.
fn watch_of(id: &FeatureId, block: &Block) -> Option<(&'static str, Effect)> {
    let feature = id.clone();
    match block {
        Block::TargetDirty { .. } | Block::LocalBehind { .. } => {
            Some(("clean", Effect::AwaitClean { feature }))
        }
        Block::RepoHeld { .. } => Some(("repo", Effect::AwaitRepo { feature })),
        Block::RemoteUnreachable { .. } => Some(("remote", Effect::AwaitRemote { feature })),
        Block::Conflict { .. }
        | Block::TargetMissing
        | Block::Resources { .. }
        | Block::Git { .. }
        | Block::Collision { .. }
        | Block::Input { .. }
        | Block::Auth { .. }
        | Block::NoProgress { .. }
        | Block::Budget { .. }
        | Block::Review { .. }
        | Block::SilentRevert { .. }
        | Block::PushRefused { .. }
        | Block::Diverged { .. }
        | Block::Quarantine { .. } => None,
    }
}
