//! How a shim goes through its life, step by step, so that a fault can strike between any two.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::JobId;
use tidegate_core::run::Purpose;

use super::course::World;
use super::host::{Kind, MainEnd};
use super::schedule::Happening;
use crate::faults::Mutation;

/// The next step of a shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShimStep {
    /// Take the lock.
    Lock,
    /// Link `started`, and let the child go.
    Start,
    /// The grace after a stop is over.
    Kill,
    /// The main process has ended: end the tree, write `exit`.
    Drain,
    /// Let the lock go, and end.
    Release,
}

impl World {
    /// Starts a shim for the job.
    pub(super) fn start_shim(&mut self, job: &JobId) {
        let pid = self.host.spawn(job, Kind::Shim);
        self.note(|| format!("host: shim {pid} of {job} begins"));
        let wait = self.shim_wait();
        self.plan_in((1, wait), Happening::Shim(pid, ShimStep::Lock));
    }

    /// A shim may be slow, so that another one of its job is faster.
    fn shim_wait(&mut self) -> u64 {
        if !self.calm && self.dice.percent(20) { 5_000 } else { 20 }
    }

    pub(super) fn shim_step(&mut self, pid: u32, step: ShimStep) {
        let Some(shim) = self.host.process(pid) else { return };
        let (job, stalled) = (shim.job.clone(), shim.stalled_until);
        if stalled > self.clock.now() {
            self.schedule.at(stalled, Happening::Shim(pid, step));
            return;
        }
        match step {
            ShimStep::Lock => self.take_lock(pid, &job),
            ShimStep::Start => self.start_main(pid, &job),
            ShimStep::Kill => {
                if let Some(main) = self.host.main_of(&job) {
                    self.main_ended(main, MainEnd::Signal(15));
                }
            }
            ShimStep::Drain => self.drain(pid, &job),
            ShimStep::Release => self.host.end(pid),
        }
    }

    fn take_lock(&mut self, pid: u32, job: &JobId) {
        let again = self.mutation == Mutation::StartTwice;
        let Some(dir) = self.host.dir_mut(job) else { return };
        if dir.lock.is_some() && !again {
            self.note(|| format!("host: shim {pid} of {job} ends with 75"));
            self.meet("a shim that ends with 75");
            self.host.end(pid);
            return;
        }
        dir.lock = Some(pid);
        self.host.hint(job);
        let wait = self.shim_wait();
        self.plan_in((1, wait), Happening::Shim(pid, ShimStep::Start));
    }

    fn start_main(&mut self, pid: u32, job: &JobId) {
        let again = self.mutation == Mutation::StartTwice;
        let times = (self.clock.wall(), self.clock.now());
        let Some(main) = self.host.link_started(pid, times, again) else {
            self.note(|| format!("host: shim {pid} of {job} ends with 76"));
            self.meet("a shim that ends with 76");
            self.host.end(pid);
            return;
        };
        self.note(|| format!("host: {job} starts as {main}"));
        self.check_start(job, main);
        let Some(dir) = self.host.dir(job) else { return };
        let (purpose, target) = (dir.purpose.clone(), dir.target.clone());
        if self.dice.percent(2) {
            return self.main_ended(main, MainEnd::NoProgram);
        }
        let limit = limit_ms(&purpose, &target.run);
        let script = self.script(&purpose, &target);
        if let Some(process) = self.host.process_mut(main) {
            process.script = script.into();
        }
        self.plan_next_act(main);
        if let Some(ms) = limit {
            self.schedule.at(self.clock.now() + ms, Happening::TimeUp(main));
        }
    }

    pub(super) fn time_up(&mut self, main: u32) {
        if self.host.process(main).is_some() {
            self.main_ended(main, MainEnd::Timeout);
        }
    }

    /// The main process is gone; its shim sees it, if there still is one.
    pub(super) fn main_ended(&mut self, main: u32, how: MainEnd) {
        let Some(process) = self.host.process(main) else { return };
        let Kind::Main { shim } = process.kind else {
            self.host.end(main);
            return;
        };
        let job = process.job.clone();
        self.note(|| format!("host: {main} of {job} ended: {how:?}"));
        self.host.end(main);
        if let Some(dir) = self.host.dir_mut(&job) {
            dir.main_end = Some(how);
        }
        self.plan_in((1, 20), Happening::Shim(shim, ShimStep::Drain));
    }

    fn drain(&mut self, pid: u32, job: &JobId) {
        let (now, wall) = (self.clock.now(), self.clock.wall());
        let Some(dir) = self.host.dir_mut(job) else { return };
        let Some(end) = dir.main_end.clone() else { return };
        let launcher = matches!(dir.purpose, Purpose::Launcher { .. });
        let by_itself = dir.stop.is_none() && matches!(end, MainEnd::Signal(_));
        let (reason, code, signal) = match (&dir.stop, end) {
            (Some(actor), end) => {
                let (code, signal) = match end {
                    MainEnd::Code(code) => (Some(code), None),
                    MainEnd::Signal(signal) => (None, Some(signal)),
                    MainEnd::Timeout | MainEnd::Oom | MainEnd::NoProgram => (None, None),
                };
                (Reason::Stopped { actor: actor.clone() }, code, signal)
            }
            (None, MainEnd::Code(code)) => (Reason::Exited, Some(code), None),
            (None, MainEnd::Signal(signal)) => (Reason::Signalled, None, Some(signal)),
            (None, MainEnd::Timeout) => (Reason::Timeout, None, None),
            (None, MainEnd::Oom) => (Reason::Oom, None, Some(9)),
            (None, MainEnd::NoProgram) => (Reason::ExecFailed, None, None),
        };
        let exit = Exit { code, signal, ran_ms: now - dir.began, ..Exit::lost(reason, wall) };
        let success = exit.is_success();
        let ended = exit.clone();
        dir.exit = Some(exit);
        self.host.sweep(job, launcher && by_itself);
        self.host.hint(job);
        let left = self.left_by(job, &ended);
        if success && left.is_none_or(|left| left.problems.is_empty()) {
            self.note_passed_gate(job);
        }
        self.plan_in((1, 10), Happening::Shim(pid, ShimStep::Release));
    }

    /// Hands a stop to the job's shim. `false` when no shim took it.
    pub(super) fn stop_by_shim(&mut self, job: &JobId, actor: &str) -> bool {
        let now = self.clock.now();
        let Some(shim) = self.host.dir(job).and_then(|dir| dir.lock) else { return false };
        if self.host.process(shim).is_some_and(|shim| shim.stalled_until > now) {
            return false;
        }
        // A main process that was faster leaves its own end; the record follows.
        if self.host.main_of(job).is_some()
            && let Some(dir) = self.host.dir_mut(job)
        {
            dir.stop.get_or_insert_with(|| actor.to_owned());
            self.plan_in((1, 5_000), Happening::Shim(shim, ShimStep::Kill));
        }
        true
    }

    pub(super) fn plan_next_act(&mut self, pid: u32) {
        let next = self.host.process(pid).and_then(|process| process.script.front());
        if let Some((wait, _)) = next {
            let moment = self.clock.now() + wait;
            self.schedule.at(moment, Happening::Program(pid));
        }
    }

    pub(super) fn program(&mut self, pid: u32) {
        let Some(process) = self.host.process_mut(pid) else { return };
        let Some((_, act)) = process.script.pop_front() else { return };
        let job = process.job.clone();
        self.act(pid, &job, act);
        self.plan_next_act(pid);
    }

    /// SIGKILL from outside for a main process.
    pub(super) fn kill_main(&mut self, pid: u32, oom: bool) {
        self.main_ended(pid, if oom { MainEnd::Oom } else { MainEnd::Signal(9) });
    }
}

fn limit_ms(purpose: &Purpose, run: &tidegate_core::run::Run) -> Option<u64> {
    match purpose {
        Purpose::Launcher { .. } => run.launcher().and_then(|(spec, _)| spec.timeout_ms),
        Purpose::LauncherAgent { .. } => None,
        Purpose::Agent { feature, role, .. } => {
            let (spec, _) = run.plan()?;
            let (_, agent) = spec.role_named(spec.features.get(feature)?, role)?;
            spec.agents.get(agent).map(|agent| agent.timeout_ms)
        }
        Purpose::Gate { gate, .. } => {
            let (spec, _) = run.plan()?;
            spec.gates.get(gate).map(|gate| gate.timeout_ms)
        }
        Purpose::Hook { hook, .. } => {
            let (spec, _) = run.plan()?;
            spec.worktree.hook(*hook).map(|hook| hook.timeout_ms)
        }
    }
}
