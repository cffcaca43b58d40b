//! I1: an attempt starts once, and never beside another one at the same work. Caps are kept, and
//! nothing starts before its wave.

use tidegate_core::ids::{FeatureId, JobId};
use tidegate_core::plan::OnFailure;
use tidegate_core::run::{FeatureState, Purpose, Run};
use tidegate_core::workplace::Hook;

use super::super::course::World;
use super::super::host::Kind;

impl World {
    /// A job's main process was just started.
    pub(in super::super) fn check_start(&mut self, job: &JobId, main: u32) {
        self.stats.starts += 1;
        let count = self.book.starts.entry(job.clone()).or_default();
        *count += 1;
        if *count > 1 {
            self.fail(|| format!("I1: {job} was started more than once"));
        }
        if let Some(other) = self.other_at_same_work(job, main) {
            self.fail(|| format!("I1: {job} starts while {other} is at the same work"));
        }
        if self.ended.contains_key(job.run()) {
            self.fail(|| format!("I4: {job} starts after the end of its run"));
        }
        self.check_room(job);
        self.check_hook(job);
        let Some(dir) = self.host.dir(job) else { return };
        let first = dir.target.run.jobs.get(job).is_some_and(|row| row.attempt == 1);
        if let Purpose::Agent { feature, .. } = dir.purpose.clone()
            && first
        {
            // Once it has begun it goes on, even when a feature before it is tried again.
            let run = std::sync::Arc::clone(&dir.target.run);
            if let Some(why) = self.too_early(&run, &feature) {
                self.fail(|| format!("barrier: {feature} of {} starts, but {why}", run.id));
            }
        }
    }

    /// A setup runs once in each making of a worktree, and no agent comes before it has.
    fn check_hook(&mut self, job: &JobId) {
        let Some(dir) = self.host.dir(job) else { return };
        let run = std::sync::Arc::clone(&dir.target.run);
        let Some((spec, plan)) = run.plan() else { return };
        match dir.purpose.clone() {
            Purpose::Hook { feature, hook: Hook::Setup, making } => {
                self.meet("a setup");
                let name = (run.id.clone(), feature.clone());
                let again = self.book.setups.insert(name, making.clone()).as_ref() == Some(&making);
                let kept = (run.id.clone(), feature, making.clone());
                if again && !self.book.worked.contains(&kept) {
                    self.fail(|| format!("{job} sets {making} up a second time"));
                }
            }
            Purpose::Hook { feature, hook: Hook::Teardown, .. } => {
                self.meet("a teardown");
                if plan.features.get(&feature).is_none_or(|feature| !feature.is_terminal()) {
                    self.fail(|| format!("{job} tears down what {feature} still needs"));
                }
                self.book.setups.remove(&(run.id.clone(), feature));
            }
            Purpose::Agent { feature, .. } => {
                let name = (run.id.clone(), feature.clone());
                match self.book.setups.get(&name).cloned() {
                    Some(making) => drop(self.book.worked.insert((name.0, feature, making))),
                    None if spec.worktree.setup.is_some() => {
                        self.fail(|| format!("{job} starts where no setup has run"));
                    }
                    None => {}
                }
            }
            Purpose::Gate { .. } | Purpose::Launcher { .. } | Purpose::LauncherAgent { .. } => {}
        }
    }

    /// A living process of another attempt at the same work, its shim aside.
    fn other_at_same_work(&self, job: &JobId, main: u32) -> Option<String> {
        let own = self.host.dir(job)?;
        self.host.workers_of(job.run()).find_map(|(pid, process)| {
            let other = self.host.dir(&process.job)?;
            let row = own.target.run.jobs.get(job)?;
            let other_row = own.target.run.jobs.get(&process.job);
            let same = if process.job == *job {
                pid != main
            } else {
                own.purpose.is_same_work(&other.purpose)
                    || other_row.is_some_and(|other| {
                        other.purpose.is_same_work(&row.purpose) && other.attempt == row.attempt
                    })
            };
            let at_it = same && !self.quarantined.contains(&process.job);
            at_it.then(|| format!("{pid} ({:?}) of {}", process.kind, process.job))
        })
    }

    fn check_room(&mut self, job: &JobId) {
        let mains = self.host.processes().filter(|(_, process)| {
            matches!(process.kind, Kind::Main { .. }) && !self.quarantined.contains(&process.job)
        });
        let (mut agents, mut gates, mut places) = (0, 0, std::collections::BTreeSet::new());
        let mut shared = None;
        for (_, process) in mains {
            match self.host.dir(&process.job).map(|dir| (&dir.purpose, &dir.target.place)) {
                Some((Purpose::Agent { .. }, _)) => agents += 1,
                Some((Purpose::Gate { slot, .. }, place)) => {
                    gates += 1;
                    if !places.insert((place.common_dir.clone(), *slot)) {
                        shared = Some(*slot);
                    }
                }
                Some((
                    Purpose::Launcher { .. } | Purpose::LauncherAgent { .. } | Purpose::Hook { .. },
                    _,
                ))
                | None => {}
            }
        }
        let caps = self.caps;
        if agents > caps.features || gates > caps.gates {
            self.fail(|| format!("caps: {agents} agents and {gates} gates run, with {caps:?}"));
        }
        if let Some(slot) = shared {
            self.fail(|| format!("{job} starts in checkout {slot}, where another gate runs"));
        }
    }

    /// Why the feature must not be worked at yet.
    fn too_early(&self, run: &Run, feature: &FeatureId) -> Option<String> {
        let (spec, plan) = run.plan()?;
        let wave = spec.wave_of(feature)?;
        let tip = self.repos.values().zip(self.repos.keys()).find_map(|(repo, dir)| {
            let own = self.places.get(run.queue.project.as_str()) == Some(dir);
            own.then(|| repo.refs.get(&spec.target).map(|tip| (repo, tip)))?
        });
        let landed = |id: &FeatureId| match plan.features.get(id).map(|found| &found.state) {
            Some(FeatureState::Landed { commit: Some(commit) }) => {
                tip.is_none_or(|(repo, tip)| repo.is_ancestor(commit, tip))
            }
            Some(FeatureState::Landed { commit: None }) => true,
            _ => false,
        };
        let needs = &spec.features.get(feature)?.needs;
        if let Some(need) = needs.iter().find(|need| !landed(need)) {
            return Some(format!("its need {need} has not landed"));
        }
        // Where later waves go on, a failed feature may be tried again beside them.
        let early = spec.in_order().find(|(number, id)| {
            *number < wave && spec.on_failure == OnFailure::Stop && !landed(id)
        });
        early.map(|(number, id)| format!("{id} of wave {number} has not landed"))
    }
}
