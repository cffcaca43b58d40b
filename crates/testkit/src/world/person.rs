//! The person who looks at what waits for one: approves, resolves, mends, retries, and ends what
//! hangs.

use tidegate_core::ids::{FeatureId, JobId};
use tidegate_core::run::{Block, FeatureState, JobState, Run, awaits_person};
use tidegate_daemon::engine::Command;

use super::course::World;
use super::schedule::Happening;

/// How long a launcher may run after all is calm before the person ends it, in milliseconds.
const PATIENCE_MS: u64 = 5 * 60 * 1000;

/// What a person does about a feature.
enum Help {
    Approve(tidegate_core::ids::Oid),
    Resolve,
    MakeTarget,
    Tidy,
    Retry,
    EndJob(JobId),
}

impl World {
    pub(super) fn person(&mut self) {
        self.plan_in((2_000, 15_000), Happening::Person);
        if !self.calm && self.dice.percent(40) {
            return;
        }
        let Some(daemon) = &self.daemon else { return };
        let runs: Vec<Run> = daemon.engine.runs().cloned().collect();
        self.order_turns(&runs);
        self.talk(&runs);
        self.launch_more(&runs);
        for run in &runs {
            self.help_launcher(run);
            for (feature, help) in needs(run) {
                if self.calm || self.dice.percent(60) {
                    self.help(run, &feature, help);
                }
            }
        }
        if self.calm {
            self.restore_targets();
        }
    }

    fn help(&mut self, run: &Run, feature: &FeatureId, help: Help) {
        let name = (run.id.clone(), feature.clone());
        let retry = || Command::RetryFeature {
            run: run.id.clone(),
            feature: feature.clone(),
            actor: "person".to_owned(),
        };
        let dir = self.common_dir(run);
        match help {
            Help::Approve(commit) if !self.calm && self.dice.percent(20) => {
                self.meet("a person's refusal");
                let (run, feature) = name;
                let (actor, comments) = ("person".to_owned(), "otherwise".to_owned());
                self.order("person", Command::Deny { run, feature, commit, actor, comments });
            }
            Help::Approve(commit) => {
                self.consents.insert((run.id.clone(), feature.clone(), commit.clone()));
                let (run, feature) = name;
                let actor = "person".to_owned();
                self.order(
                    "person",
                    Command::Approve { run, feature, commit, review: None, actor },
                );
            }
            Help::Resolve => {
                let target = run.plan().map(|(spec, _)| spec.target.clone());
                if let (Some(repo), Some(target)) = (self.repos.get_mut(&dir), target) {
                    repo.resolve_conflict(&name, &target);
                }
                self.order("person", retry());
            }
            Help::MakeTarget => {
                self.restore_targets();
                self.order("person", retry());
            }
            Help::Tidy => self.tidy_up(&dir),
            Help::Retry => self.order("person", retry()),
            Help::EndJob(job) => {
                self.end_quarantined(&job);
                if self.dice.percent(70) {
                    self.order("person", retry());
                } else {
                    self.cancel_by("person", run.id.clone());
                }
            }
        }
    }

    fn common_dir(&self, run: &Run) -> String {
        self.places.get(&run.queue.project.to_string()).cloned().unwrap_or_default()
    }

    /// Ends by hand what may still work for a job whose records contradict each other.
    fn end_quarantined(&mut self, job: &JobId) {
        if let Some(shim) = self.host.dir(job).and_then(|dir| dir.lock) {
            self.host.kill_shim(shim);
        }
        self.host.sweep(job, false);
    }

    fn help_launcher(&mut self, run: &Run) {
        let Some((_, launcher)) = run.launcher() else { return };
        let quarantined =
            run.jobs.iter().filter(|(_, job)| matches!(job.state, JobState::Quarantined { .. }));
        let quarantined: Vec<JobId> = quarantined.map(|(id, _)| id.clone()).collect();
        for job in &quarantined {
            self.end_quarantined(job);
        }
        let stuck = launcher.job.as_ref().is_some_and(|job| quarantined.contains(job));
        let late = self.calm && self.clock.now() > self.calm_at + PATIENCE_MS;
        let asked = run.status.cancel().is_some();
        if (stuck || late) && !asked && launcher.settled.is_none() && !run.jobs.is_empty() {
            self.cancel_by("person", run.id.clone());
        }
    }

    /// Makes the targets again that were deleted.
    fn restore_targets(&mut self) {
        for ((dir, target), tip) in std::mem::take(&mut self.deleted) {
            if let Some(repo) = self.repos.get_mut(&dir) {
                repo.refs.entry(target).or_insert(tip);
            }
        }
    }
}

/// What waits for a person in a plan run.
fn needs(run: &Run) -> Vec<(FeatureId, Help)> {
    let Some((spec, plan)) = run.plan() else { return Vec::new() };
    if run.status.cancel().is_some() {
        return Vec::new();
    }
    let help = |(id, feature): (&FeatureId, &tidegate_core::run::Feature)| {
        let help = match &feature.state {
            _ if awaits_person(spec, feature) => {
                Help::Approve(feature.tested.as_ref()?.commit.clone())
            }
            FeatureState::Blocked(block) => match block {
                Block::Conflict { .. } => Help::Resolve,
                Block::TargetDirty { .. } | Block::RepoHeld { .. } | Block::LocalBehind { .. } => {
                    Help::Tidy
                }
                Block::TargetMissing => Help::MakeTarget,
                Block::Git { .. }
                | Block::Resources { .. }
                | Block::Auth { .. }
                | Block::PushRefused { .. }
                | Block::Diverged { .. }
                | Block::NoProgress { .. }
                | Block::Budget { .. }
                | Block::Collision { waits: false, .. } => Help::Retry,
                // What goes on by itself, what waits for a person's consent, which was met above, and answers, which
                // are given elsewhere.
                Block::Input { .. }
                | Block::Collision { waits: true, .. }
                | Block::RemoteUnreachable { .. }
                | Block::Review { .. }
                | Block::SilentRevert { .. } => return None,
                Block::Quarantine { job, .. } => Help::EndJob(job.clone()),
            },
            FeatureState::InReview
            | FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::Landing(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => return None,
        };
        Some((id.clone(), help))
    };
    plan.features.iter().filter_map(help).collect()
}
