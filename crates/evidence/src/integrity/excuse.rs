//! What became of an assertion that is no longer in its test: moved, or folded into a table.

use std::collections::{BTreeMap, BTreeSet};

use super::assertion::Assertion;
use super::inventory::Inventory;
use super::matching::Matching;
use super::outline::Block;

/// What a change added, from which losses can be made good. What made good one loss is used up.
pub(super) struct Additions {
    texts: BTreeMap<String, usize>,
    /// Strings and numbers of tests that were added and can fail.
    literals: BTreeSet<String>,
    /// Assertions of those tests that made good nothing yet.
    spare: usize,
}

impl Additions {
    pub(super) fn of(inventory: &Inventory, matching: &Matching) -> Self {
        let (old, new) = (&inventory.old.entries, &inventory.new.entries);
        // A function that is no test and that none of them calls checks nothing.
        let calls = new.iter().flat_map(|entry| &entry.block.calls);
        let calls: BTreeSet<&str> = calls.map(String::as_str).collect();
        let runs = |block: &Block| {
            block.skip.is_none() && (block.is_test || calls.contains(block.short_name()))
        };
        let added = matching.added.iter().map(|index| &new[*index].block);
        let alive: Vec<&Block> = added.filter(|block| runs(block)).collect();
        let pairs = matching.pairs.iter().map(|(old_at, new_at)| (&old[*old_at], &new[*new_at]));
        let gained = pairs
            .filter(|(_, is)| runs(&is.block))
            .flat_map(|(was, is)| difference(is.block.effective(), was.block.effective()));
        let mut texts: BTreeMap<String, usize> = BTreeMap::new();
        for assertion in gained.chain(alive.iter().flat_map(|block| block.effective())) {
            *texts.entry(assertion.text.clone()).or_default() += 1;
        }
        let literals = alive.iter().flat_map(|block| block.literals.iter().cloned()).collect();
        let spare = alive.iter().map(|block| block.effective().count()).sum();
        Self { texts, literals, spare }
    }

    /// Whether the same assertion was added elsewhere.
    pub(super) fn take(&mut self, text: &str) -> bool {
        match self.texts.get_mut(text) {
            Some(number) if *number > 0 => {
                *number -= 1;
                self.spare = self.spare.saturating_sub(1);
                true
            }
            Some(_) | None => false,
        }
    }

    /// Whether all values of these assertions stand in tests that were added, and these have as
    /// many assertions to spare.
    pub(super) fn keep_values(&mut self, lost: &[&Assertion]) -> bool {
        // Short values stand everywhere: they tell nothing.
        let telling = lost.iter().flat_map(|assertion| &assertion.literals).any(|literal| {
            literal.len() > if literal.starts_with(|c: char| c.is_ascii_digit()) { 1 } else { 4 }
        });
        let kept = telling && lost.len() <= self.spare && all_in(lost, &self.literals);
        if kept {
            self.spare -= lost.len();
        }
        kept
    }
}

/// Whether these assertions have values and all of them stand in `values`.
pub(super) fn all_in(lost: &[&Assertion], values: &BTreeSet<String>) -> bool {
    let mut literals = lost.iter().flat_map(|assertion| &assertion.literals).peekable();
    literals.peek().is_some() && literals.all(|literal| values.contains(literal))
}

/// What is in `from` and, counted by text, not in `without`.
pub(super) fn difference<'a>(
    from: impl Iterator<Item = &'a Assertion>,
    without: impl Iterator<Item = &'a Assertion>,
) -> Vec<&'a Assertion> {
    let mut number: BTreeMap<&str, usize> = BTreeMap::new();
    for assertion in without {
        *number.entry(assertion.text.as_str()).or_default() += 1;
    }
    let left = |assertion: &&Assertion| match number.get_mut(assertion.text.as_str()) {
        Some(number) if *number > 0 => {
            *number -= 1;
            false
        }
        Some(_) | None => true,
    };
    from.filter(left).collect()
}
