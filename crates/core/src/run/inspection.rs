//! What a change did to the checks that judge it, as it was found before the review.

use super::feature::{Feature, FeatureState};
use super::state::Run;
use crate::ids::{FeatureId, Oid};
use crate::plan::{IntegrityPolicy, PlanSpec};

/// What was found in one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The commit.
    pub commit: Oid,
    /// What was found, in order of place.
    pub findings: Vec<Finding>,
}

/// One thing that a person has to know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is, in a word of the evidence crate.
    pub kind: String,
    /// The file.
    pub path: String,
    /// The line, from 1; 0 for the whole file.
    pub line: u32,
    /// The line's text, or what it is about.
    pub excerpt: String,
    /// Whether its kind is one that stops, unless the config says otherwise.
    pub stops: bool,
}

impl Finding {
    /// Where it is: `PATH:LINE`, or the path of a whole file.
    pub fn place(&self) -> String {
        let Self { path, line, .. } = self;
        if *line == 0 { path.clone() } else { format!("{path}:{line}") }
    }
}

impl Run {
    /// The base and the commit of a feature that passed its gates, while it waits for a look at what
    /// it did to them. Nobody is asked for a word on it before.
    pub fn look_due(&self, id: &FeatureId) -> Option<(&Oid, &Oid)> {
        let (spec, plan) = self.plan()?;
        let feature = plan.features.get(id)?;
        let is_at_it = match &feature.state {
            FeatureState::Verifying { .. } => self.round_is_passed(id),
            // Of a log of before, which says so first and looks then.
            FeatureState::InReview => true,
            FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Landing(_)
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => false,
        };
        feature.uninspected().filter(|_| is_at_it && spec.inspects())
    }
}

impl Feature {
    /// The base and the commit, while nobody has looked at what it did to its checks.
    pub fn uninspected(&self) -> Option<(&Oid, &Oid)> {
        let (base, commit) = (self.base.as_ref()?, &self.tested.as_ref()?.commit);
        let known = self.inspected.as_ref().is_some_and(|found| found.commit == *commit);
        (!known && base != commit).then_some((base, commit))
    }

    /// What was found in the commit that is to land.
    pub fn findings(&self) -> &[Finding] {
        let commit = self.tested.as_ref().map(|tested| &tested.commit);
        match &self.inspected {
            Some(found) if Some(&found.commit) == commit => &found.findings,
            Some(_) | None => &[],
        }
    }

    /// What was found in it that a person is to decide about.
    pub fn suspicions<'a>(&'a self, spec: &'a PlanSpec) -> impl Iterator<Item = &'a Finding> {
        let asks = |finding: &&Finding| spec.integrity_of(finding) == IntegrityPolicy::Person;
        self.findings().iter().filter(asks)
    }
}
