//! What became of an assertion that is no longer in its test: moved, or folded into a table.

use std::collections::{BTreeMap, BTreeSet};

use super::assertion::Assertion;
use super::inventory::Inventory;
use super::matching::Matching;

/// What a change added, from which losses can be made good. What made good one loss is used up.
pub(super) struct Additions {
    texts: BTreeMap<String, usize>,
    /// Strings and numbers of tests that were added and can fail.
    literals: BTreeSet<String>,
}

impl Additions {
    pub(super) fn of(inventory: &Inventory, matching: &Matching) -> Self {
        let mut texts: BTreeMap<String, usize> = BTreeMap::new();
        for assertion in inventory.new.entries.iter().flat_map(|entry| entry.block.effective()) {
            *texts.entry(assertion.text.clone()).or_default() += 1;
        }
        for assertion in inventory.old.entries.iter().flat_map(|entry| entry.block.effective()) {
            if let Some(number) = texts.get_mut(&assertion.text) {
                *number = number.saturating_sub(1);
            }
        }
        let added = matching.added.iter().map(|index| &inventory.new.entries[*index].block);
        let alive =
            added.filter(|block| block.skip.is_none() && block.effective().next().is_some());
        let literals = alive.flat_map(|block| block.literals.iter().cloned()).collect();
        Self { texts, literals }
    }

    /// Whether the same assertion was added elsewhere.
    pub(super) fn take(&mut self, text: &str) -> bool {
        match self.texts.get_mut(text) {
            Some(number) if *number > 0 => {
                *number -= 1;
                true
            }
            Some(_) | None => false,
        }
    }

    /// Whether all values of these assertions stand in `own` or in tests that were added.
    pub(super) fn keep_values(&self, lost: &[&Assertion], own: &BTreeSet<String>) -> bool {
        let mut values = lost.iter().flat_map(|assertion| &assertion.literals).peekable();
        values.peek().is_some()
            && values.all(|value| own.contains(value) || self.literals.contains(value))
    }
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
