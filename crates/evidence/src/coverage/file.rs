//! Coverage of one file; merging takes the union of what exists and the sum of what was reached.

use std::collections::BTreeMap;

use super::measure::{Measure, Ratio};

/// A way out of a decision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchId {
    /// Line of the decision, from 1.
    pub line: u32,
    /// The decision's number, as its tool counts.
    pub block: String,
    /// The way's number or text.
    pub branch: String,
}

/// Coverage of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileCoverage {
    /// How often each line with code ran.
    pub lines: BTreeMap<u32, u64>,
    /// How often each way was taken; never, too, when its decision was not reached.
    pub branches: BTreeMap<BranchId, u64>,
    /// How often each function was called.
    pub functions: BTreeMap<String, u64>,
}

impl FileCoverage {
    /// Counts of a measure.
    pub fn ratio(&self, measure: Measure) -> Ratio {
        match measure {
            Measure::Lines => ratio(self.lines.values()),
            Measure::Branches => ratio(self.branches.values()),
            Measure::Functions => ratio(self.functions.values()),
        }
    }

    /// Adds what another run or section says of the same file.
    pub fn merge(&mut self, other: Self) {
        for (line, count) in other.lines {
            add(self.lines.entry(line).or_default(), count);
        }
        for (branch, count) in other.branches {
            add(self.branches.entry(branch).or_default(), count);
        }
        for (name, count) in other.functions {
            add(self.functions.entry(name).or_default(), count);
        }
    }

    /// Lines with code that did not run, in order.
    pub fn missed_lines(&self) -> impl Iterator<Item = u32> + '_ {
        self.lines.iter().filter(|(_, count)| **count == 0).map(|(line, _)| *line)
    }
}

pub(super) fn add(to: &mut u64, count: u64) {
    *to = to.saturating_add(count);
}

fn ratio<'a>(counts: impl Iterator<Item = &'a u64>) -> Ratio {
    counts.fold(Ratio::default(), |ratio, count| {
        ratio + Ratio { hit: u64::from(*count > 0), found: 1 }
    })
}
