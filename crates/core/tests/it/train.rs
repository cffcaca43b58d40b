//! A train in virtual time: features that come one after another while the target is busy. Nobody may wait much longer
//! for it than the others.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::admission::{Caps, grants};
use tidegate_core::ids::{FeatureId, JobId, Oid};
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{
    CommitOutcome, FeatureState, Grant, Input, LandStep, MergeOutcome, Merged, Report, Run, Tested,
    UpdateOutcome, WorktreeOutcome,
};
use tidegate_core::workplace::Furnished;

use crate::admission::build;
use crate::fixture::{
    Shape, capture_all, claim, exited, fid, job_finished, newest, oid, plan_run, take, waves,
};

const CAPS: Caps = Caps { features: 100, gates: 10 };
/// Minutes that a landing takes, most of them in the merge gate.
const LANDING: u64 = 10;
/// Minutes until a builder has mended what did not pass.
const MENDING: u64 = 25;

/// What happens next, and when.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Approve(FeatureId),
    Merged(FeatureId),
    Gated(FeatureId, JobId),
    Mended(FeatureId, JobId),
}

struct Train {
    run: Run,
    now: u64,
    deeds: BTreeSet<(u64, Deed)>,
    asked: BTreeMap<FeatureId, u64>,
    waits: Vec<u64>,
    oids: u32,
}

/// Twenty clean ones, five twice, ten that break with another one, fifteen in conflict and ten reverts. Whatever the plan's
/// order is, they come in another one.
fn name(n: usize) -> FeatureId {
    fid(&format!("f{:02}", (n * 37 + 11) % 60))
}

fn number(id: &FeatureId) -> usize {
    (0..60).find(|n| name(*n) == *id).unwrap()
}

impl Train {
    fn new() -> Self {
        let ids: Vec<String> = (0..60).map(|n| format!("f{n:02}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let review = ReviewPolicy::Person;
        let waves = waves(&[&ids]);
        let shape = Shape { waves, gates: 0, review, active_max: 60, ..Shape::default() };
        let mut run = plan_run(&shape);
        take(&mut run, &claim());
        build(&mut run, &ids);
        let (asked, waits) = (BTreeMap::new(), Vec::new());
        Self { run, now: 0, deeds: BTreeSet::new(), asked, waits, oids: 200 }
    }

    fn after(&mut self, minutes: u64, deed: Deed) {
        self.deeds.insert((self.now + minutes, deed));
    }

    fn fresh(&mut self) -> Oid {
        self.oids += 1;
        oid(self.oids)
    }

    /// Gives what may be given, until nothing more is.
    fn admit(&mut self) {
        loop {
            let given = grants(std::iter::once(&self.run), CAPS);
            if given.is_empty() {
                return;
            }
            for (_, grant) in given {
                take(&mut self.run, &Input::Grant(grant.clone()));
                match grant {
                    Grant::Target { feature } => {
                        self.waits.push(self.now - self.asked.remove(&feature).unwrap());
                        self.after(1, Deed::Merged(feature));
                    }
                    Grant::Gate { feature, .. } => {
                        let job = newest(&self.run);
                        self.after(LANDING - 1, Deed::Gated(feature, job));
                    }
                    Grant::Slot { feature } => {
                        let (path, furnished) = ("/w".to_owned(), Furnished::default());
                        let outcome = WorktreeOutcome::Ready { path, base: oid(1), furnished };
                        let ready = Report::Worktree { feature: feature.clone(), outcome };
                        take(&mut self.run, &Input::Report(ready));
                        let job = newest(&self.run);
                        self.after(MENDING, Deed::Mended(feature, job));
                    }
                    Grant::Line { .. }
                    | Grant::Park { .. }
                    | Grant::Hold { .. }
                    | Grant::StandIn { .. } => {
                        unreachable!("no feature names a lock or an account")
                    }
                }
            }
        }
    }

    fn approve(&mut self, feature: FeatureId) {
        self.asked.insert(feature.clone(), self.now);
        let tested = self.run.plan().unwrap().1.features[&feature].tested.clone();
        let (commit, actor) = (tested.unwrap().commit, "ann".to_owned());
        take(&mut self.run, &Input::Approve { feature, commit, actor });
    }

    fn merge(&mut self, feature: FeatureId) {
        let outcome = match number(&feature) {
            20..25 => MergeOutcome::AlreadyThere { commit: oid(1) },
            n @ 35..50 if n % 3 > 0 => MergeOutcome::Conflict { paths: vec!["x".to_owned()] },
            50.. => MergeOutcome::SilentRevert { losses: vec!["x".to_owned()] },
            _ => MergeOutcome::Merged(Merged { onto: oid(1), commit: self.fresh(), tree: oid(3) }),
        };
        take(&mut self.run, &Input::Report(Report::Merge { feature, outcome }));
    }

    fn gated(&mut self, feature: FeatureId, job: JobId, again: &mut BTreeSet<FeatureId>) {
        let breaks = (25..35).contains(&number(&feature)) && again.insert(feature.clone());
        take(&mut self.run, &job_finished(job, exited(i32::from(breaks))));
        let state = &self.run.plan().unwrap().1.features[&feature].state;
        if let FeatureState::Landing(LandStep::Updating { merged }) = state {
            let (commit, outcome) = (merged.commit.clone(), UpdateOutcome::Landed);
            take(&mut self.run, &Input::Report(Report::Update { feature, commit, outcome }));
        }
    }

    fn mended(&mut self, feature: FeatureId, job: JobId) {
        take(&mut self.run, &job_finished(job.clone(), exited(0)));
        capture_all(&mut self.run);
        let outcome = CommitOutcome::Commit(Tested { commit: self.fresh(), tree: oid(2) });
        let report = Report::Commit { feature: feature.clone(), job, outcome };
        take(&mut self.run, &Input::Report(report));
        self.approve(feature);
    }
}

#[test]
fn nobody_in_a_train_waits_more_than_three_times_the_median() {
    let (mut train, mut again) = (Train::new(), BTreeSet::new());
    for n in 0..60_usize {
        // A handful is there at once, and from then on one comes whenever one has landed.
        let minutes = LANDING * u64::try_from(n.saturating_sub(5)).unwrap();
        train.after(minutes, Deed::Approve(name(n)));
    }
    while let Some((now, deed)) = train.deeds.pop_first() {
        train.now = now;
        match deed {
            Deed::Approve(feature) => train.approve(feature),
            Deed::Merged(feature) => train.merge(feature),
            Deed::Gated(feature, job) => train.gated(feature, job, &mut again),
            Deed::Mended(feature, job) => train.mended(feature, job),
        }
        train.admit();
    }
    let (_, plan) = train.run.plan().unwrap();
    let landed = plan.features.values().filter(|f| matches!(f.state, FeatureState::Landed { .. }));
    assert_eq!(landed.count(), 20 + 5 + 10 + 5);
    train.waits.sort_unstable();
    let waits = &train.waits;
    assert_eq!(waits.len(), 70, "ten came twice");
    let (longest, median) = (waits[waits.len() - 1], waits[waits.len() / 2]);
    assert!(longest <= 3 * median, "{longest} is more than three times {median}: {waits:?}");
}
