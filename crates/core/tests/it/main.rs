//! Tests of the pure domain through its public face: matrices, tables and properties.
#![expect(clippy::unwrap_used, reason = "tests")]

mod accounts;
mod admission;
mod backoff;
mod budgets;
mod capturing;
mod conversing;
mod crew;
mod evidence;
mod fixture;
mod home;
mod hooks;
mod ids;
mod joining;
mod judging;
mod launcher_fixture;
mod launcher_matrix;
mod launcher_world;
mod locks;
mod matrix;
mod oracle;
mod people;
mod pipeline;
mod plan_crew;
mod plan_git;
mod plan_world;
mod progress;
mod properties;
mod resume;
mod review;
mod rounds;
mod supervisor;
mod tape;
mod telling;
mod train;
mod verdict;
