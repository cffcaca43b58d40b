//! A target moves only to what passed, from where the merge was made, once, and with consent; and
//! no commit of anybody else is lost by it.

use tidegate_core::ids::{FeatureId, GateName, JobId, Oid};
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{Merged, Purpose};
use tidegate_daemon::engine::Target;

use super::super::course::World;

impl World {
    /// A gate's success was recorded by its shim.
    pub(in super::super) fn note_passed_gate(&mut self, job: &JobId) {
        let Some(dir) = self.host.dir(job) else { return };
        let Purpose::Gate { gate, commit, .. } = &dir.purpose else { return };
        let Some(repo) = self.repos.get(&dir.target.place.common_dir) else { return };
        self.book.passed.insert((gate.clone(), repo.tree_id(commit)));
    }

    /// A target was just moved from `old` for `feature`.
    pub(in super::super) fn check_landing(
        &mut self,
        target: &Target,
        feature: &FeatureId,
        merged: &Merged,
        old: &Oid,
    ) {
        self.stats.landings += 1;
        let run = &target.run;
        let name = (run.id.clone(), feature.clone());
        if let Some(before) = self.book.landings.insert(name.clone(), merged.commit.clone()) {
            self.fail(|| format!("{feature} of {} landed twice, first as {before}", name.0));
        }
        if self.ended.contains_key(&run.id) {
            self.fail(|| format!("{feature} lands after the end of {}", name.0));
        }
        let broken = self.broken_rule(target, feature, merged, old);
        if let Some(why) = broken {
            self.fail(|| format!("landing of {feature} of {}: {why}", name.0));
        }
    }

    fn broken_rule(
        &self,
        target: &Target,
        feature: &FeatureId,
        merged: &Merged,
        old: &Oid,
    ) -> Option<String> {
        let (spec, plan) = target.run.plan()?;
        let repo = self.repos.get(&target.place.common_dir)?;
        if merged.onto != *old {
            return Some("the merge was made for another commit of the target".to_owned());
        }
        if !repo.is_ancestor(old, &merged.commit) {
            return Some("it loses a commit of the target".to_owned());
        }
        let Some(source) = repo.made_of.get(&merged.commit) else {
            return Some("the merged commit is nobody's".to_owned());
        };
        let tree = repo.tree_id(&merged.commit);
        let unmet = |gate: &&GateName| !self.book.passed.contains(&((*gate).clone(), tree.clone()));
        if let Some(gate) = spec.landing.merge_gates.iter().find(unmet) {
            return Some(format!("gate {gate} did not pass on the merged tree"));
        }
        let own = repo.tree_id(source);
        let unmet = |gate: &&GateName| !self.book.passed.contains(&((*gate).clone(), own.clone()));
        if let Some(gate) = spec.features.get(feature)?.gates.iter().find(unmet) {
            return Some(format!("gate {gate} did not pass on the feature's tree"));
        }
        let tested = plan.features.get(feature)?.tested.as_ref()?;
        if tested.commit != *source {
            return Some("another commit than the tested one lands".to_owned());
        }
        let consent = (target.run.id.clone(), feature.clone(), source.clone());
        if spec.review == ReviewPolicy::Person && !self.consents.contains(&consent) {
            return Some("nobody consented to that commit".to_owned());
        }
        None
    }
}
