//! Faults: which of them a seed has, and how each strikes.

use std::collections::BTreeSet;

use tidegate_core::ids::{JobId, RunId};
use tidegate_core::run::FeatureState;
use tidegate_daemon::engine::Command;

use super::course::World;
use super::dice::Dice;
use super::host::Kind;
use super::schedule::Happening;
use crate::faults::Fault;

/// How many faults of a hundred a seed has.
const SHARE: u64 = 55;

/// The faults that a seed has.
pub(super) fn choose(dice: &mut Dice) -> BTreeSet<Fault> {
    // One seed in twelve is calm: what holds without faults must be seen as well.
    if dice.below(12) == 0 {
        return BTreeSet::new();
    }
    Fault::ALL.into_iter().filter(|_| dice.percent(SHARE)).collect()
}

impl World {
    /// Whether a fault strikes that needs an occasion, now that there is one.
    pub(super) fn strikes(&mut self, fault: Fault) -> bool {
        if self.calm || !self.faults.contains(&fault) {
            return false;
        }
        fault.percent().is_some_and(|percent| self.dice.percent(percent))
    }

    /// One of the faults that come by themselves.
    pub(super) fn trouble(&mut self) {
        if self.calm {
            return;
        }
        self.plan_in((200, 25_000), Happening::Trouble);
        let sudden = |fault: &Fault| fault.percent().is_none();
        let choices: Vec<Fault> = self.faults.iter().copied().filter(sudden).collect();
        let Some(fault) = self.dice.pick(&choices).copied() else { return };
        self.note(|| format!("fault: {fault:?}"));
        match fault {
            Fault::KillDaemon => self.kill_daemon("a daemon killed at rest"),
            Fault::StopDaemon => self.stop_daemon(),
            Fault::ReplaceDaemon if self.replaced.is_none() => self.replace_daemon(),
            Fault::KillShim => {
                if let Some((shim, _)) = self.any_process(|kind| *kind == Kind::Shim) {
                    self.host.kill_shim(shim);
                }
            }
            Fault::StallShim => self.stall_shim(),
            Fault::KillMain => {
                let main = self.any_process(|kind| matches!(kind, Kind::Main { .. }));
                let oom = self.dice.percent(20);
                if let Some((main, _)) = main {
                    self.kill_main(main, oom);
                }
            }
            Fault::Reboot if self.dice.percent(40) => self.reboot(),
            Fault::JumpClock => {
                let ahead = self.dice.percent(50);
                self.clock.jump(ahead);
            }
            Fault::HoldRepository => self.hold(),
            Fault::DeleteTarget if self.dice.percent(30) => self.delete_target(),
            Fault::GarbleRecord if self.dice.percent(30) => self.garble(),
            Fault::Retry => self.retry_some(),
            Fault::ReplaceDaemon
            | Fault::Reboot
            | Fault::DeleteTarget
            | Fault::GarbleRecord
            | Fault::Cancel
            | Fault::KillInTransaction
            | Fault::KillInDispatch
            | Fault::KillBeforeReply
            | Fault::RepeatReport
            | Fault::LateReport
            | Fault::RepeatRequest
            | Fault::RivalPush
            | Fault::DirtyCheckout
            | Fault::FullDisk => {}
        }
    }

    fn any_process(&mut self, wanted: impl Fn(&Kind) -> bool) -> Option<(u32, JobId)> {
        let all = self.host.processes().filter(|(_, process)| wanted(&process.kind));
        let all: Vec<(u32, JobId)> = all.map(|(pid, p)| (pid, p.job.clone())).collect();
        self.dice.pick(&all).cloned()
    }

    fn stall_shim(&mut self) {
        let until = self.clock.now() + self.dice.between(100, 60_000);
        if let Some((shim, _)) = self.any_process(|kind| *kind == Kind::Shim)
            && let Some(process) = self.host.process_mut(shim)
        {
            process.stalled_until = until;
        }
    }

    fn reboot(&mut self) {
        self.kill_daemon("a daemon killed by a reboot");
        self.replaced = None;
        self.host.reboot();
        self.clock.reboot();
    }

    fn some_target(&mut self) -> Option<(String, String)> {
        let all = self
            .repos
            .iter()
            .flat_map(|(dir, repo)| repo.refs.keys().map(|target| (dir.clone(), target.clone())));
        let all: Vec<(String, String)> = all.collect();
        self.dice.pick(&all).cloned()
    }

    /// Work for a target began: rivals and the user may come in between.
    pub(super) fn disturb(&mut self, dir: &str, target: &str) {
        let name = (dir.to_owned(), target.to_owned());
        if self.strikes(Fault::RivalPush) {
            self.plan_in((0, 8_000), Happening::Rival(name.clone()));
        }
        if self.strikes(Fault::DirtyCheckout) {
            self.plan_in((0, 6_000), Happening::Soil(name));
        }
    }

    pub(super) fn push_rival(&mut self, (dir, target): (String, String)) {
        if self.calm {
            return;
        }
        let (number, which) = (self.dice.below(1_000_000), self.dice.below(4));
        let Some(repo) = self.repos.get_mut(&dir) else { return };
        let path = match which {
            0 => "shared".to_owned(),
            1 if number % 3 == 0 => "src/w1a".to_owned(),
            _ => format!("other/{}", number % 3),
        };
        repo.push_rival(&target, &path, &format!("good {number}"));
    }

    /// The user changes files in the checkout of a target.
    pub(super) fn soil(&mut self, (dir, target): (String, String)) {
        if self.calm {
            return;
        }
        if let Some(repo) = self.repos.get_mut(&dir) {
            repo.dirty.insert(target);
        }
        self.plan_in((100, 60_000), Happening::Tidy(dir));
    }

    fn hold(&mut self) {
        let Some((dir, _)) = self.some_target() else { return };
        if let Some(repo) = self.repos.get_mut(&dir) {
            repo.held = true;
        }
        self.plan_in((100, 60_000), Happening::Tidy(dir));
    }

    /// The user commits or drops what was in the way.
    pub(super) fn tidy_up(&mut self, dir: &str) {
        if let Some(repo) = self.repos.get_mut(dir) {
            repo.dirty.clear();
            repo.held = false;
        }
    }

    fn delete_target(&mut self) {
        let Some((dir, target)) = self.some_target() else { return };
        if let Some(repo) = self.repos.get_mut(&dir)
            && let Some(tip) = repo.refs.remove(&target)
        {
            self.deleted.insert((dir, target), tip);
        }
    }

    fn garble(&mut self) {
        let candidates = self.host.dirs().filter(|(_, dir)| dir.started.is_some());
        let jobs: Vec<JobId> = candidates.map(|(job, _)| job.clone()).collect();
        let Some(job) = self.dice.pick(&jobs).cloned() else { return };
        if let Some(dir) = self.host.dir_mut(&job) {
            dir.garbled = true;
        }
        self.host.hint(&job);
    }

    /// Something of a run begins: someone may want its end just then.
    pub(super) fn tempt_to_cancel(&mut self, run: &RunId) {
        if self.strikes(Fault::Cancel) {
            self.plan_in((0, 5_000), Happening::Cancel(run.clone()));
        }
    }

    pub(super) fn cancel_by(&mut self, actor: &str, run: RunId) {
        self.order(actor, Command::Cancel { run, actor: actor.to_owned() });
    }

    fn retry_some(&mut self) {
        let actor = "someone".to_owned();
        if self.dice.percent(50) && self.stats.retries < 3 {
            let ended: Vec<RunId> = self.ended.keys().cloned().collect();
            if let Some(run) = self.dice.pick(&ended).cloned() {
                self.stats.retries += 1;
                self.order("someone", Command::RetryRun { run, actor });
            }
            return;
        }
        let Some(daemon) = &self.daemon else { return };
        let failed = daemon.engine.runs().find_map(|run| {
            let (_, plan) = run.plan()?;
            let failed = |state: &FeatureState| matches!(state, FeatureState::Failed { .. });
            let (id, _) = plan.features.iter().find(|(_, feature)| failed(&feature.state))?;
            Some((run.id.clone(), id.clone()))
        });
        if self.dice.percent(30) {
            self.roll_back_something();
        } else if let Some((run, feature)) = failed {
            self.order("someone", Command::RetryFeature { run, feature, actor });
        }
    }

    /// Someone wants a worktree as it was, in whatever state its feature is.
    fn roll_back_something(&mut self) {
        let Some(daemon) = &self.daemon else { return };
        let features: Vec<_> = daemon
            .engine
            .runs()
            .filter_map(|run| Some((run.id.clone(), run.plan()?.1.features.keys())))
            .flat_map(|(run, ids)| ids.map(move |id| (run.clone(), id.clone())))
            .collect();
        if let Some((run, feature)) = self.dice.pick(&features).cloned() {
            let to = u32::try_from(self.dice.between(1, 3)).unwrap_or(1);
            self.order(
                "someone",
                Command::Rollback { run, feature, to, actor: "someone".to_owned() },
            );
        }
    }

    /// From here on no fault strikes, and what was broken for a while is mended.
    pub(super) fn calm_down(&mut self) {
        self.calm = true;
        self.note(|| "calm".to_owned());
        let dirs: Vec<String> = self.repos.keys().cloned().collect();
        for dir in &dirs {
            self.tidy_up(dir);
        }
        self.schedule.at(self.clock.now(), Happening::Person);
        self.plan_in((1, 100), Happening::StartDaemon);
    }

    #[cfg(feature = "failpoints")]
    pub(super) fn arm_full_disk(&mut self) {
        if self.disk_may_fill && self.strikes(Fault::FullDisk) {
            self.note(|| "the disk is full".to_owned());
            self.meet("a full disk");
            // Not to arm it is no failure of the product.
            let _ = fail::cfg("store.commit.before_commit", "1*return");
        }
    }

    #[cfg(feature = "failpoints")]
    pub(super) fn disarm_full_disk(&mut self) {
        if self.disk_may_fill {
            fail::remove("store.commit.before_commit");
        }
    }

    #[cfg(not(feature = "failpoints"))]
    pub(super) fn arm_full_disk(&mut self) {
        if self.disk_may_fill {
            self.fail(|| "full disks need the feature `failpoints`".to_owned());
        }
    }

    #[cfg(not(feature = "failpoints"))]
    #[expect(clippy::unused_self, reason = "does something where fail points are built in")]
    pub(super) fn disarm_full_disk(&mut self) {}
}
