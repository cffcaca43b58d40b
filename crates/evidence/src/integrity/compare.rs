//! Compares each test with what it was: marks, assertions, and what it drops.

use std::collections::{BTreeMap, BTreeSet};

use super::assertion::Assertion;
use super::change::Change;
use super::conventions::Conventions;
use super::excuse::{Additions, all_in, difference};
use super::expression::Strength;
use super::finding::{Finding, Kind};
use super::inventory::{Entry, Half, Inventory, left_tests};
use super::matching::{Matching, pair_up};

/// Findings over the tests of a change.
pub(super) fn compare(change: &Change, conventions: &Conventions) -> Vec<Finding> {
    let inventory = Inventory::of(change, conventions);
    let matching = pair_up(&inventory);
    let additions = Additions::of(&inventory, &matching);
    let mut comparison = Comparison {
        old: Weights::of(&inventory.old),
        new: Weights::of(&inventory.new),
        additions,
        findings: Vec::new(),
    };
    for (old, new) in &matching.pairs {
        comparison.pair(&inventory.old.entries[*old], &inventory.new.entries[*new]);
    }
    for index in &matching.added {
        comparison.added(&inventory.new.entries[*index]);
    }
    comparison.gone(change, conventions, &inventory, &matching);
    comparison.findings.extend(modules(change, conventions, &inventory));
    comparison.findings
}

/// What calls of helpers are worth on one side.
struct Weights<'a> {
    helpers: BTreeMap<&'a str, usize>,
    hollow: BTreeSet<&'a str>,
    /// Functions that can be called by name.
    functions: BTreeSet<&'a str>,
}

impl<'a> Weights<'a> {
    fn of(half: &'a Half) -> Self {
        let functions = half.entries.iter().map(|entry| entry.block.short_name()).collect();
        Self { helpers: half.helpers(), hollow: half.hollow(), functions }
    }

    /// Assertions that can fail, without calls of helpers that assert nothing.
    fn effective<'e>(&self, entry: &'e Entry) -> Vec<&'e Assertion> {
        let solid = |assertion: &&Assertion| {
            let name = assertion.text.split(' ').next().unwrap_or_default();
            !self.hollow.contains(name)
        };
        entry.block.effective().filter(solid).collect()
    }

    /// Assertions that it makes through helpers, each of which counts once.
    fn through_helpers(&self, entry: &Entry) -> usize {
        let own = entry.block.name.as_str();
        let calls = entry.block.calls.iter().filter(|name| *name != own);
        let names: BTreeSet<&str> = calls.map(String::as_str).collect();
        names.into_iter().filter_map(|name| self.helpers.get(name)).sum()
    }
}

struct Comparison<'a> {
    old: Weights<'a>,
    new: Weights<'a>,
    additions: Additions,
    findings: Vec<Finding>,
}

impl Comparison<'_> {
    fn push(&mut self, kind: Kind, path: &str, line: u32, excerpt: &str) {
        self.findings.push(Finding::new(kind, path, line, excerpt));
    }

    fn pair(&mut self, old: &Entry, new: &Entry) {
        let (was, is) = (&old.block, &new.block);
        if let (None, Some(mark)) = (&was.skip, &is.skip) {
            self.push(
                Kind::SkippedTest,
                &new.path,
                mark.line,
                &format!("{}: {}", is.name, mark.text),
            );
        }
        if let (None, Some(mark)) = (&was.focus, &is.focus) {
            self.push(
                Kind::FocusedTest,
                &new.path,
                mark.line,
                &format!("{}: {}", is.name, mark.text),
            );
        }
        if let (None, Some(mark)) = (&was.inverted, &is.inverted) {
            let excerpt = format!("{}: {}", is.name, mark.text);
            self.push(Kind::WeakenedAssertion, &new.path, mark.line, &excerpt);
        }
        if is.swallows.len() > was.swallows.len() {
            let line = is.swallows.last().copied().unwrap_or(is.line);
            self.push(Kind::SwallowedFailure, &new.path, line, &is.name);
        }
        if is.exits.len() > was.exits.len() {
            let line = is.exits.first().copied().unwrap_or(is.line);
            self.push(Kind::ForcedSuccess, &new.path, line, &is.name);
        }
        if was.name == "(script)" {
            self.uncalled(old, new);
        }
        if was.body != is.body {
            self.assertions(old, new);
        }
    }

    /// Tests of a shell script that it still has and no longer calls.
    fn uncalled(&mut self, old: &Entry, new: &Entry) {
        let (was, is) = (&old.block.calls, &new.block.calls);
        let lost: Vec<&String> = was
            .iter()
            .filter(|name| !is.contains(name) && self.new.functions.contains(name.as_str()))
            .collect();
        for name in lost {
            let finding = Finding::new(Kind::UnreachedTests, &new.path, new.block.line, name);
            self.findings.push(finding);
        }
    }

    fn assertions(&mut self, old: &Entry, new: &Entry) {
        let (was, is) = (self.old.effective(old), self.new.effective(new));
        let idle = |entry: &Entry| {
            let all = entry.block.assertions.iter();
            all.filter(|a| a.strength == Strength::Nothing).cloned().collect::<Vec<_>>()
        };
        let (idle_old, idle_new) = (idle(old), idle(new));
        let tautologies = difference(idle_new.iter(), idle_old.iter());
        for assertion in &tautologies {
            self.push(Kind::Tautology, &new.path, assertion.line, &assertion.text);
        }
        let (through_old, through_new) =
            (self.old.through_helpers(old), self.new.through_helpers(new));
        let mut lost = difference(was.iter().copied(), is.iter().copied());
        let gained = difference(is.iter().copied(), was.iter().copied());
        let before = lost.len();
        lost.retain(|assertion| !self.additions.take(&assertion.text));
        let (old_weight, new_weight) =
            (was.len() + through_old, is.len() + through_new + before - lost.len());
        let (path, block) = (new.path.as_str(), &new.block);
        if new_weight == 0 && old_weight > 0 {
            self.push(Kind::EmptiedTest, path, block.line, &block.name);
        } else if new_weight < old_weight
            && tautologies.is_empty()
            && (block.is_test || !lost.is_empty())
        {
            let excerpt = lost.first().map_or(block.name.as_str(), |lost| lost.text.as_str());
            // Folded into a table of its own, or into tests that were added.
            let folded = block.table && !old.block.table && all_in(&lost, &block.literals);
            let kept = folded || self.additions.keep_values(&lost);
            let kind = if kept { Kind::RestructuredTest } else { Kind::RemovedAssertions };
            self.push(kind, path, block.line, excerpt);
        } else if !lost.is_empty() && through_new <= through_old {
            self.changed(new, lost, gained);
        }
    }

    fn changed(&mut self, new: &Entry, mut lost: Vec<&Assertion>, mut gained: Vec<&Assertion>) {
        lost.sort_by_key(|assertion| std::cmp::Reverse(assertion.strength));
        gained.sort_by_key(|assertion| std::cmp::Reverse(assertion.strength));
        let weaker =
            lost.iter().zip(&gained).find(|(lost, gained)| gained.strength < lost.strength);
        if let Some((lost, gained)) = weaker {
            let excerpt = format!("{} (was: {})", gained.text, lost.text);
            self.push(Kind::WeakenedAssertion, &new.path, gained.line, &excerpt);
            return;
        }
        let values = |all: &[&Assertion]| -> BTreeSet<String> {
            all.iter().flat_map(|assertion| assertion.literals.iter().cloned()).collect()
        };
        if let Some(first) = gained.first().filter(|_| values(&lost) != values(&gained)) {
            self.push(Kind::ChangedExpectation, &new.path, first.line, &first.text);
        }
    }

    fn added(&mut self, new: &Entry) {
        let block = &new.block;
        for assertion in block.assertions.iter().filter(|a| a.strength == Strength::Nothing) {
            self.push(Kind::Tautology, &new.path, assertion.line, &assertion.text);
        }
        if let Some(mark) = &block.focus {
            self.push(Kind::FocusedTest, &new.path, mark.line, &block.name);
        }
        if let Some(mark) = &block.skip {
            let finding = Finding::new(Kind::SkippedTest, &new.path, mark.line, &block.name);
            self.findings.push(finding.noted());
        }
        if let Some(line) = block.exits.first().filter(|_| block.name != "(script)") {
            self.push(Kind::ForcedSuccess, &new.path, *line, &block.name);
        }
    }

    fn gone(
        &mut self,
        change: &Change,
        conventions: &Conventions,
        inventory: &Inventory,
        matching: &Matching,
    ) {
        let mut lost_by_file: BTreeMap<usize, Vec<&Entry>> = BTreeMap::new();
        let gone = matching.gone.iter().map(|index| &inventory.old.entries[*index]);
        for entry in gone.filter(|entry| entry.block.is_test) {
            let was = self.old.effective(entry);
            let number = was.len();
            let left: Vec<&Assertion> =
                was.into_iter().filter(|a| !self.additions.take(&a.text)).collect();
            let moved = number > 0 && left.is_empty();
            if moved || self.additions.keep_values(&left) {
                self.push(Kind::RestructuredTest, &entry.path, entry.block.line, &entry.block.name);
            } else if !(entry.block.name == "(script)" && number == 0) {
                lost_by_file.entry(entry.file).or_default().push(entry);
            }
        }
        for (index, file) in change.files.iter().enumerate() {
            let old_path = file.old.as_ref().map_or("", |side| side.path.as_str());
            let lost = lost_by_file.remove(&index).unwrap_or_default();
            let all = inventory.old.entries.iter().filter(|e| e.file == index && e.block.is_test);
            let whole = left_tests(file, conventions);
            if whole && !lost.is_empty() && lost.len() == all.count() {
                let number = lost.len();
                self.push(Kind::DeletedTestFile, old_path, 0, &format!("{number} tests"));
                continue;
            }
            if whole && lost.is_empty() && file.new.is_none() && !moved_whole(change, index) {
                let has_tests = inventory.old.entries.iter().any(|entry| entry.file == index);
                if !has_tests {
                    self.push(Kind::DeletedTestData, old_path, 0, old_path);
                }
            }
            for entry in lost {
                self.push(Kind::DeletedTest, old_path, entry.block.line, &entry.block.name);
            }
        }
    }
}

/// Whether the same content was added under another path.
fn moved_whole(change: &Change, index: usize) -> bool {
    let old = change.files[index].old_text();
    let added = change.files.iter().filter(|file| file.old.is_none());
    !old.is_empty() && added.into_iter().any(|file| file.new_text() == old)
}

/// Modules of tests that are declared no more, or under a condition that never holds.
fn modules(change: &Change, conventions: &Conventions, inventory: &Inventory) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, module) in &inventory.old.modules {
        let changed = &change.files[*file];
        let path = changed.path();
        if !(module.for_tests || conventions.is_test(path)) || module.disabled {
            continue;
        }
        let ends = [format!("/{}.rs", module.name), format!("/{}/mod.rs", module.name)];
        let deleted = change.files.iter().filter(|file| file.new.is_none());
        let mut deleted = deleted.filter(|file| {
            ends.iter().any(|end| format!("/{}", file.path()).ends_with(end.as_str()))
        });
        let mut same = inventory.new.modules.iter().filter(|(_, new)| new.name == module.name);
        let here = same.clone().find(|(index, _)| index == file);
        let (lost, line) = match here {
            Some((_, new)) => (new.disabled, new.line),
            // Deleted with its file, whose tests are looked for one by one; or declared elsewhere.
            None => (deleted.next().is_none() && same.next().is_none(), module.line),
        };
        if lost && changed.new.is_some() {
            let excerpt = format!("mod {}", module.name);
            findings.push(Finding::new(Kind::UnreachedTests, path, line, &excerpt));
        }
    }
    findings
}
