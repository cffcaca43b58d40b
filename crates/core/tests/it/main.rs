//! Tests of the pure domain through its public face: matrices, tables and properties.
#![expect(clippy::unwrap_used, reason = "tests")]

mod fixture;
mod launcher_fixture;
mod launcher_matrix;
mod matrix;
mod oracle;
mod plan_git;
mod plan_world;
mod properties;
mod resume;
mod supervisor;
mod tape;
mod telling;
