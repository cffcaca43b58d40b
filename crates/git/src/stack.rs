//! Several features as a stack of merges on one target, so that gates run once, on its top. It must not know gates, only
//! what they said.

use std::collections::BTreeMap;

use tidegate_core::ids::Oid;

use crate::error::Result;
use crate::identity::Identity;
use crate::merge::{MergeOutcome, MergeRequest, Strategy};
use crate::repo::Repo;

/// What to stack. The same request gives the same object names, however often it is made.
#[derive(Debug, Clone)]
pub struct StackRequest {
    /// The commit of the target.
    pub target_tip: Oid,
    /// The features, in the order in which they shall land.
    pub members: Vec<StackMember>,
    /// Time of the new commits in Unix seconds; recorded with the intent, so that it stays the same.
    pub when_unix_s: i64,
    /// Author and committer.
    pub identity: Identity,
    /// A ref below `refs/tidegate/` that keeps the top, and so the whole, from garbage collection.
    pub keep_as: Option<String>,
}

/// One feature of a stack.
#[derive(Debug, Clone)]
pub struct StackMember {
    /// What the caller calls it.
    pub name: String,
    /// The commit to land.
    pub branch_tip: Oid,
    /// How.
    pub strategy: Strategy,
    /// Message of its commit.
    pub message: String,
}

/// A stack; without layers if none of the members could be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// The commit that it stands on.
    pub onto: Oid,
    /// One for each feature that is in it, from the bottom.
    pub layers: Vec<Layer>,
    /// The features that are not, and why: conflicts with what lies below, nothing to land.
    pub left_out: Vec<(String, MergeOutcome)>,
}

/// One feature in a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// What the caller calls it.
    pub name: String,
    /// What it stands on: the layer below, or the target.
    pub onto: Oid,
    /// The last commit of it.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
}

/// What to do next about a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe<'a> {
    /// Run the gates on this layer.
    Test(&'a Layer),
    /// The top passed: all of it may land.
    AllGood,
    /// All below this layer may land, and it may not.
    Offender(&'a Layer),
    /// There is nothing in it.
    Empty,
}

impl Stack {
    /// What to do next, given what the gates said about commits so far. The top comes first; if it failed, the layer that
    /// brought the failure is searched by halves. The target itself counts as good.
    ///
    /// Verdicts that contradict each other (a flaky gate) lead to the lowest failure: nothing above it lands.
    pub fn probe(&self, verdicts: &BTreeMap<Oid, bool>) -> Probe<'_> {
        let Some(top) = self.layers.last() else { return Probe::Empty };
        let verdict = |layer: &Layer| verdicts.get(&layer.commit).copied();
        let Some(bad) = self.layers.iter().position(|layer| verdict(layer) == Some(false)) else {
            return if verdict(top) == Some(true) { Probe::AllGood } else { Probe::Test(top) };
        };
        let below = &self.layers[..bad];
        let good = below.iter().rposition(|layer| verdict(layer) == Some(true));
        let first = good.map_or(0, |good| good + 1);
        if first == bad {
            return Probe::Offender(&self.layers[bad]);
        }
        Probe::Test(&self.layers[first + (bad - first - 1) / 2])
    }

    /// The highest commit that is proved fit to land: the top of the layers below the first failure, if it passed.
    pub fn landable(&self, verdicts: &BTreeMap<Oid, bool>) -> Option<&Layer> {
        let good = |layer: &&Layer| verdicts.get(&layer.commit) == Some(&true);
        let bad = |layer: &Layer| verdicts.get(&layer.commit) == Some(&false);
        let end = self.layers.iter().position(bad).unwrap_or(self.layers.len());
        self.layers[..end].iter().rfind(good)
    }
}

impl Repo {
    /// Merges each feature on top of the former ones, without touching a worktree or a branch. One that does not merge is
    /// left out, and the others go on without it.
    ///
    /// # Errors
    /// As [`Repo::merge`].
    pub fn stack(&self, request: &StackRequest) -> Result<Stack> {
        let onto = request.target_tip.clone();
        let mut stack = Stack { onto, layers: Vec::new(), left_out: Vec::new() };
        for member in &request.members {
            let below = stack.layers.last().map_or(&stack.onto, |layer| &layer.commit).clone();
            let merge = MergeRequest {
                target_tip: below.clone(),
                branch_tip: member.branch_tip.clone(),
                strategy: member.strategy,
                message: member.message.clone(),
                when_unix_s: request.when_unix_s,
                identity: request.identity.clone(),
                keep_as: request.keep_as.clone(),
            };
            let name = member.name.clone();
            match self.merge(&merge)? {
                MergeOutcome::Merged { commit, tree } => {
                    stack.layers.push(Layer { name, onto: below, commit, tree });
                }
                other @ (MergeOutcome::Conflict { .. }
                | MergeOutcome::NoChange { .. }
                | MergeOutcome::Unrelated) => stack.left_out.push((name, other)),
            }
        }
        Ok(stack)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn oid(n: usize) -> Oid {
        Oid::new(format!("{n:040x}")).unwrap()
    }

    fn stack(height: usize) -> Stack {
        let layer = |n: usize| Layer {
            name: format!("f{n}"),
            onto: oid(n),
            commit: oid(n + 1),
            tree: oid(100 + n),
        };
        Stack { onto: oid(0), layers: (0..height).map(layer).collect(), left_out: Vec::new() }
    }

    #[test]
    fn bisect_finds_every_offender_in_few_runs() {
        for height in 1..=16_usize {
            for offender in 0..=height {
                let stack = stack(height);
                let mut verdicts = BTreeMap::new();
                let found = loop {
                    match stack.probe(&verdicts) {
                        Probe::Test(layer) => {
                            let at = stack.layers.iter().position(|l| l == layer).unwrap();
                            let again = verdicts.insert(layer.commit.clone(), at < offender);
                            assert_eq!(again, None, "tested twice");
                        }
                        Probe::AllGood => break height,
                        Probe::Offender(layer) => {
                            break stack.layers.iter().position(|l| l == layer).unwrap();
                        }
                        Probe::Empty => panic!("it has layers"),
                    }
                };
                assert_eq!(found, offender);
                let runs = verdicts.len();
                let bound = 1 + usize::BITS as usize - height.leading_zeros() as usize;
                assert!(runs <= bound, "{height} {offender}: {runs} runs");
                let expected = offender.checked_sub(1).map(|at| &stack.layers[at]);
                assert_eq!(stack.landable(&verdicts), expected, "{height} {offender}");
            }
        }
    }

    #[test]
    fn contradicting_verdicts_lead_to_the_lowest_failure() {
        let stack = stack(4);
        let verdicts = BTreeMap::from([(oid(1), true), (oid(2), false), (oid(4), true)]);
        assert_eq!(stack.probe(&verdicts), Probe::Offender(&stack.layers[1]));
        assert_eq!(stack.landable(&verdicts), Some(&stack.layers[0]));
        assert_eq!(self::stack(0).probe(&verdicts), Probe::Empty);
    }
}
