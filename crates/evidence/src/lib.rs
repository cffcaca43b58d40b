//! What a gate left behind and what a change did to the checks: bytes and contents in, values out.
//!
//! Reads test reports and coverage, judges them by thresholds, and names what a feature changed in
//! the tests, gates, CI and hooks that judge it. It opens no file, starts nothing, and knows neither
//! where its input came from nor what becomes of its verdicts.
#![deny(clippy::wildcard_enum_match_arm)]

pub mod counts;
pub mod coverage;
mod error;
mod fingerprint;
mod freshness;
pub mod integrity;
mod left;
pub mod threshold;
mod xml;

pub use error::{Place, Problem, REPORT_BYTES_MAX, ReportError};
pub use fingerprint::fingerprint;
pub use freshness::{Expected, Supplied, Unusable, usable};
pub use left::{Left, evidence};
