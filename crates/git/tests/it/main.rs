//! Tests with the real git program, in repositories of their own.
#![expect(clippy::unwrap_used, reason = "tests")]

mod checkouts;
mod commits;
mod conflicts;
mod crashes;
mod discovery;
mod dying_exec;
mod half_made;
mod landings;
mod merges;
mod movers;
mod rebases;
mod remotes;
mod revert_rounds;
mod sandbox;
mod scenarios;
mod scene;
mod silent_reverts;
mod snapshot_crashes;
mod snapshots;
mod snapshots_collect;
mod snapshots_sparse;
mod stacks;
mod worktrees;
