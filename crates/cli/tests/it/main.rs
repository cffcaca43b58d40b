//! End to end: the real binary, real git, real processes, and `kill -9` anywhere. Nothing here knows
//! the product from within: it has the command line, the socket, the files and the process table.
#![expect(clippy::unwrap_used, reason = "tests")]

#[cfg(feature = "failpoints")]
mod acknowledged;
mod agent_streams;
mod agent_tools;
mod agents;
mod attach;
mod audits;
#[cfg(feature = "failpoints")]
mod cancel_points;
mod cancels;
mod cleanups;
mod clocks;
mod codes;
mod commands;
mod completions;
mod conversations;
mod corrupt;
mod daemons;
mod disks;
mod events;
#[cfg(feature = "failpoints")]
mod faults;
#[cfg(feature = "failpoints")]
mod fenced;
mod first;
mod frozen;
mod harness;
mod hostile;
mod inits;
#[cfg(feature = "failpoints")]
mod kill_points;
mod launches;
mod messages;
mod model;
mod peer_faults;
mod people;
mod plan_budgets;
mod plan_consent;
mod plan_crew;
mod plan_dirty;
mod plan_ends;
mod plan_evidence;
mod plan_gates;
mod plan_hooks;
mod plan_landing;
mod plan_locks;
mod plan_pinned;
mod plan_places;
mod plan_remote;
mod plan_repair;
#[cfg(feature = "failpoints")]
mod plan_rival;
mod plan_snapshots;
mod plan_stage;
mod plan_waves;
mod plan_worktrees;
mod power;
mod providers;
mod queues;
mod quotas;
mod readers;
mod real;
mod restores;
mod resumes;
mod retries;
mod reviews;
mod rows;
mod scope;
mod scope_files;
mod services;
mod shapes;
mod snapshot_rounds;
mod stalls;
mod storm;
mod strangers;
mod takeover;
mod torture;
mod train;
mod turns;
mod upgrades;
mod versions;
mod waits;
mod waves;
