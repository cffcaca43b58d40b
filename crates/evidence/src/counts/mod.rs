//! Test reports: what ran, what it said, and whether the report agrees with itself.

mod junit;
mod report;
mod tap;

pub use junit::parse as parse_junit;
pub use report::{CaseOutcome, Claim, Contradiction, Counts, Failure, TestReport};
pub use tap::parse as parse_tap;
