//! Coverage: which lines, branches and functions the tests of a gate reached, per file.

mod cobertura;
mod file;
mod lcov;
mod lcov2;
mod measure;
mod total;

pub use cobertura::parse as parse_cobertura;
pub use file::{BranchId, FileCoverage};
pub use lcov::parse as parse_lcov;
pub use measure::{Measure, Ratio};
pub use total::{Coverage, FileMismatch};
