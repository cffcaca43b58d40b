//! What a change did to the checks that judge it, as it was found before the review.

use super::feature::Feature;
use crate::ids::Oid;

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
    /// Whether a landing waits for a person because of it.
    pub stops: bool,
}

impl Feature {
    /// The commit and its base, while nobody has looked at what it did to its checks.
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

    /// Whether something was found that stops a landing.
    pub fn is_suspect(&self) -> bool {
        self.findings().iter().any(|finding| finding.stops)
    }
}
