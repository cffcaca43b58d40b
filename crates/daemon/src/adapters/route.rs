//! Takes the engine's effects to the adapters that do them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidegate_core::admission::Worktrees;
use tidegate_core::cleanup::{Cleanup, Restoration};
use tidegate_core::ids::{FeatureId, GateName, JobId, RunId};
use tidegate_core::plan::Role;
use tidegate_core::run::{Effect, EffectKey, Report, Run, Wait};
use tidegate_process::{ShimProgram, Sweep, SweepError, Swept};
use tidegate_store::{Store, StoreError};

use super::cleaner::{Cleaner, Task};
use super::context::Shared;
use super::features::Work;
use super::jobs::Jobs;
use super::leftovers;
use super::ports::Ports;
use super::repos::Repos;
use super::results;
use super::snapshots::Watch;
use super::typing::Typing;
use super::what::{self, Failure, What};
use crate::clock;
use crate::engine::{Dispatch, Target};
use crate::quota::Quota;
use crate::repair::Hold;

/// How long the agents of a settled run are hunted before a person is asked.
const SWEEP_PATIENCE: Duration = Duration::from_secs(10);
/// Longest step of a wait: the threads' clock stands still while the host sleeps, the boot clock,
/// which waits are kept on, does not.
const ALARM_MAX: Duration = Duration::from_secs(15);

/// All adapters of one daemon.
#[derive(Debug)]
pub struct Adapters {
    ctx: Shared,
    repos: Arc<Repos>,
    ports: Arc<Ports>,
    jobs: Arc<Jobs>,
    /// Git work that is still wanted; a late try of anything else ends by itself.
    wanted: Arc<Mutex<BTreeSet<(RunId, EffectKey)>>>,
    hold: Hold,
    quota: Quota,
    /// Held while a snapshot of an agent at work is taken.
    snapshot: Arc<Mutex<()>>,
    cleaner: Arc<Cleaner>,
}

impl Adapters {
    /// Starts the adapters' threads.
    ///
    /// # Errors
    /// When the system gives no thread or descriptor.
    pub fn start(
        ctx: &Shared,
        shim: ShimProgram,
        hold: Hold,
        quota: Quota,
    ) -> std::io::Result<Self> {
        let repos = Arc::new(Repos::new(ctx));
        let ports = Arc::new(Ports::new(&ctx.home));
        let jobs = Jobs::start(ctx, &repos, shim)?;
        let cleaner = Cleaner::new(ctx, &repos, &ports);
        Ok(Self {
            cleaner,
            ctx: Arc::clone(ctx),
            repos,
            ports,
            jobs,
            wanted: Arc::default(),
            hold,
            quota,
            snapshot: Arc::default(),
        })
    }

    /// Ends what is left of runs that have ended. `store` knows which have.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read.
    pub fn end_leftovers(&self, store: &Store) -> Result<(), StoreError> {
        let tags = leftovers::of_ended_runs(&self.ctx, |job| match store.view().run(job.run()) {
            Ok(row) => Ok(row.is_some_and(|row| row.status.is_terminal())),
            // Nobody knows whether a corrupt run has ended.
            Err(StoreError::Corrupt(_)) => Ok(false),
            Err(error) => Err(error),
        })?;
        leftovers::end(&self.ctx, tags);
        Ok(())
    }

    fn want(&self, target: &Target, key: &EffectKey) -> (RunId, EffectKey) {
        let name = (target.run.id.clone(), key.clone());
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        name
    }

    fn work(&self, target: &Target, feature: FeatureId) -> Work {
        Work {
            ctx: Arc::clone(&self.ctx),
            repos: Arc::clone(&self.repos),
            ports: Arc::clone(&self.ports),
            target: target.clone(),
            feature,
        }
    }

    fn git(&self, target: &Target, key: &EffectKey, feature: FeatureId, what: What) {
        let name = self.want(target, key);
        let work = self.work(target, feature);
        let wanted = Arc::clone(&self.wanted);
        let attempt = Attempt { work, what, name, wanted, tries: 0 };
        self.ctx.workers.now(move || attempt.run());
    }

    fn read_result(&self, run: &Run, key: &EffectKey, feature: FeatureId, role: Role, job: JobId) {
        let (ctx, key, id) = (Arc::clone(&self.ctx), key.clone(), run.id.clone());
        let gates: Vec<GateName> =
            run.plan().map(|(spec, _)| spec.gates.keys().cloned().collect()).unwrap_or_default();
        self.ctx.workers.now(move || {
            let gates: Vec<&GateName> = gates.iter().collect();
            let outcome = results::read(&ctx.job_dir(&job), role, &gates);
            ctx.answer(&id, &key, Report::Result { feature, job, outcome });
        });
    }

    fn await_retry(&self, target: &Target, key: &EffectKey, feature: FeatureId, wait: Wait) {
        let name = (target.run.id.clone(), key.clone());
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        let (ctx, wanted) = (Arc::clone(&self.ctx), Arc::clone(&self.wanted));
        Alarm { ctx, name, wanted, feature, wait }.run();
    }

    fn sweep(
        &self,
        run: &Run,
        key: &EffectKey,
        agents: Vec<(tidegate_core::ids::AgentId, tidegate_core::exit::Identity)>,
    ) {
        let (ctx, key) = (Arc::clone(&self.ctx), key.clone());
        let (run, tags) = (run.id.clone(), ctx.launcher_tags(run));
        self.ctx.workers.now(move || {
            let processes = agents.iter().map(|(_, process)| process.clone()).collect();
            let outcome = Sweep::processes(processes).run(SWEEP_PATIENCE);
            // What left their trees still carries their tag.
            let rest = Sweep::tagged(tags).run(SWEEP_PATIENCE);
            let is_done = |outcome: Result<Swept, SweepError>| outcome.is_ok_and(|s| s.is_empty());
            let all_gone = is_done(outcome) && is_done(rest);
            let alive = |(_, process): &&(_, tidegate_core::exit::Identity)| {
                tidegate_process::identity::is_alive(process).unwrap_or(true)
            };
            let remaining = if all_gone {
                Vec::new()
            } else {
                agents.iter().filter(alive).map(|(id, _)| id.clone()).collect()
            };
            ctx.answer(&run, &key, Report::AgentsSwept { remaining });
        });
    }
}

/// The wait for the time of a feature's next attempt.
struct Alarm {
    ctx: Shared,
    name: (RunId, EffectKey),
    wanted: Arc<Mutex<BTreeSet<(RunId, EffectKey)>>>,
    feature: FeatureId,
    wait: Wait,
}

impl Alarm {
    fn run(self) {
        if !self.wanted.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.name) {
            return;
        }
        let left = Duration::from_millis(self.wait.left_ms(clock::boot()));
        if left.is_zero() {
            let report = Report::RetryDue { feature: self.feature };
            return self.ctx.answer(&self.name.0, &self.name.1, report);
        }
        let workers = self.ctx.workers.clone();
        workers.after(left.min(ALARM_MAX), move || self.run());
    }
}

/// One try at a piece of git work, and those that follow it.
struct Attempt {
    work: Work,
    what: What,
    name: (RunId, EffectKey),
    wanted: Arc<Mutex<BTreeSet<(RunId, EffectKey)>>>,
    tries: u32,
}

impl Attempt {
    fn is_wanted(&self) -> bool {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.name)
    }

    fn answer(&self, report: Report) {
        self.work.ctx.answer(&self.name.0, &self.name.1, report);
    }

    fn run(mut self) {
        if !self.is_wanted() {
            return;
        }
        let wait = match self.work.run(&self.what) {
            Ok(Some(report)) => return self.answer(report),
            Ok(None) => what::next_look(&self.what, self.tries),
            Err(error) => match what::sort(&self.work.feature, &self.what, &error, self.tries) {
                Failure::Again(wait) => {
                    tracing::warn!(effect = %self.name.1, %error, "git work is tried again");
                    wait
                }
                Failure::Report(report) => return self.answer(report),
            },
        };
        self.tries += 1;
        let workers = self.work.ctx.workers.clone();
        workers.after(wait, move || self.run());
    }
}

impl Dispatch for Adapters {
    fn open(&mut self, target: &Target, key: &EffectKey, effect: Effect) {
        match effect {
            Effect::SuperviseJob { job, row } => self.jobs.supervise(target, &job, row),
            Effect::StopJob { job, actor } => self.jobs.stop(target, &job, &actor),
            Effect::WatchAgents { job } => self.jobs.watch_agents(target, &job),
            Effect::SweepAgents { agents } => self.sweep(&target.run, key, agents),
            Effect::PrepareWorktree { feature, base, sync, discard } => {
                self.git(target, key, feature, What::Prepare { base, sync, discard });
            }
            Effect::PrepareConflict { feature } => {
                self.git(target, key, feature, What::PrepareConflict);
            }
            Effect::ReadResult { feature, role, job } => {
                self.read_result(&target.run, key, feature, role, job);
            }
            Effect::Commit { feature, job, base, conflict } => {
                self.git(target, key, feature, What::Commit { job, base, conflict });
            }
            Effect::WatchWorktree { feature, job, base } => {
                let name = self.want(target, key);
                let (wanted, one) = (Arc::clone(&self.wanted), Arc::clone(&self.snapshot));
                let work = self.work(target, feature);
                Watch { work, job, base, name, wanted, one }.begin();
            }
            Effect::Capture { feature, job, base } => {
                self.git(target, key, feature, What::Capture { job, base });
            }
            Effect::Rollback { feature, to, base } => {
                self.git(target, key, feature, What::Rollback { to, base });
            }
            Effect::Inspect { feature, base, commit } => {
                self.git(target, key, feature, What::Inspect { base, commit });
            }
            Effect::Merge { feature, commit, reverts } => {
                self.git(target, key, feature, What::Merge { commit, reverts });
            }
            Effect::UpdateTarget { feature, merged } => {
                self.git(target, key, feature, What::Update { merged });
            }
            Effect::TypeMessage { feature, job, message, seq, text } => {
                let name = self.want(target, key);
                let nonce = target.run.jobs.get(&job).map(|job| job.nonce.clone());
                let (ctx, wanted) = (Arc::clone(&self.ctx), Arc::clone(&self.wanted));
                if let Some(nonce) = nonce {
                    Typing { ctx, name, wanted, feature, job, nonce, message, seq, text }.begin();
                }
            }
            Effect::Converse { job, to_say, .. } => {
                self.jobs.conversations.want(target, key, &job, to_say);
            }
            Effect::AwaitRetry { feature, wait } => self.await_retry(target, key, feature, wait),
            Effect::AwaitRepo { feature } => self.git(target, key, feature, What::AwaitRepo),
            Effect::AwaitRemote { feature } => self.git(target, key, feature, What::AwaitRemote),
            Effect::AwaitClean { feature } => {
                let tested = target.run.plan().and_then(|(_, plan)| plan.features.get(&feature));
                if let Some(tested) = tested.and_then(|feature| feature.tested.as_ref()) {
                    let commit = tested.commit.clone();
                    self.git(target, key, feature, What::AwaitClean { commit });
                }
            }
        }
    }

    fn close(&mut self, run: &RunId, key: &EffectKey) {
        let name = (run.clone(), key.clone());
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
        self.jobs.conversations.close(run, key);
        if let Some(number) = watch_of_agents(key) {
            self.jobs.forget(&JobId::new(run.clone(), number));
        }
    }

    fn nudge(&mut self, run: &RunId) {
        self.jobs.nudge(run);
    }

    fn ended(&mut self, run: &Run) {
        self.repos.release(&run.id);
        leftovers::end(&self.ctx, leftovers::of_quarantined(&self.ctx, run));
        self.ports.release(run.id.as_str());
    }

    fn clean_up(&mut self, cleanup: &Cleanup) {
        self.cleaner.take(Task::Clean(cleanup.clone()));
    }

    fn restore(&mut self, number: u64, restoration: &Restoration) {
        self.cleaner.take(Task::Restore(number, restoration.clone()));
    }

    fn holds_admission(&mut self) -> bool {
        self.hold.is_held()
    }

    fn worktrees(&mut self) -> Worktrees {
        self.quota.worktrees()
    }
}

/// The job number in the key of an agents' watch: nothing else ends that watch.
fn watch_of_agents(key: &EffectKey) -> Option<u32> {
    let (number, _) = key.0.strip_prefix("agents:watch:")?.split_once(':')?;
    number.parse().ok()
}
