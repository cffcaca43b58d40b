//! Thresholds over coverage: what is asked, what was reached, and which files are to blame.

mod changed;
mod judge;
mod rule;
mod verdict;

pub use changed::ChangedLines;
pub use judge::{Measured, judge};
pub use rule::{InvalidPattern, Minimum, PathRule, Rules};
pub use verdict::{Shortfall, Verdict, WorstFile};
