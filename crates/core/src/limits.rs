//! The limits that hold when neither the config nor a flag says otherwise.

/// Features of one run that may be active at once.
pub const FEATURES_PER_RUN: u32 = 5;
/// Gate jobs of one home that may run at once.
pub const GATES_PER_HOME: u32 = 3;
/// Iterations of a feature before it fails.
pub const ITERATIONS_MAX: u32 = 6;
/// Failures of one tree for one reason, one after the other, after which a person is asked.
pub const SAME_FAILURES_MAX: u32 = 3;
/// Attempts of one job within an iteration.
pub const ATTEMPTS_MAX: u32 = 3;
/// Questions of one job that may be open at once.
pub const QUESTIONS_OPEN_MAX: usize = 16;
/// Messages to one feature that may wait to be acted on.
pub const MESSAGES_OPEN_MAX: usize = 64;
/// Times that conflicts of one feature are given to its reconciler before a person is asked.
pub const RECONCILIATIONS_MAX: u32 = 3;
/// Wait before the second retry of a job, in milliseconds; it doubles from one to the next.
pub const BACKOFF_MS: u64 = 2_000;
/// The longest wait before a retry, in milliseconds.
pub const BACKOFF_MS_MAX: u64 = 5 * 60 * 1000;
/// Silence of a job, without output and without work of its processes, after which it is said, in
/// milliseconds.
pub const STALL_AFTER_MS: u64 = 10 * 60 * 1000;
/// Times that a launcher is started again without progress.
pub const RESUMES_MAX: u32 = 1;
/// A heartbeat of a remote agent counts as life for this long.
pub const HEARTBEAT_FRESH_MS: u64 = 30_000;
/// Time between TERM and the end of the tree.
pub const GRACE_MS: u64 = 5_000;
/// Time that a job's pipes are read after its main process ended and others still hold them.
pub const DRAIN_MS: u64 = 300;
/// How long an agent may run when its config does not say.
pub const AGENT_TIMEOUT_MS: u64 = 2 * 60 * 60 * 1000;
/// How long the setup of a worktree may run when its config does not say.
pub const SETUP_TIMEOUT_MS: u64 = 10 * 60 * 1000;
/// How long the teardown of a worktree may run when its config does not say.
pub const TEARDOWN_TIMEOUT_MS: u64 = 60 * 1000;
/// First TCP port that features are given when the config does not say. The range lies below that of the ports that
/// kernels hand out by themselves.
pub const PORT_FIRST: u32 = 20_000;
/// Last of them.
pub const PORT_LAST: u32 = 29_999;
/// TCP ports that one feature may have.
pub const PORTS_MAX: u32 = 64;
/// How long a gate may run when its config does not say.
pub const GATE_TIMEOUT_MS: u64 = 30 * 60 * 1000;
/// Shortest time between two snapshots of a worktree in which an agent works.
pub const SNAPSHOT_EVERY_MS: u64 = 30_000;
/// A snapshot that took long is followed by the next one after this many times as long.
pub const SNAPSHOT_REST: u32 = 50;
/// Size of one output segment, in bytes.
pub const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;
/// Output kept per job, in bytes; older segments go first.
pub const OUTPUT_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Space on the disk of a home that output of jobs leaves free, in bytes: the store's own needs.
pub const OUTPUT_RESERVE_BYTES: u64 = 8 * 1024 * 1024;
/// Prompts above this size never go by argument, in bytes.
pub const ARGV_PROMPT_BYTES_MAX: usize = 100_000;
/// Waves and features of one plan.
pub const FEATURES_PER_PLAN: usize = 2_000;
/// Features of one plan, as text and specs together, in bytes.
pub const PLAN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How long commands and their answers are remembered, in milliseconds.
pub const COMMANDS_KEPT_MS: u64 = 7 * 24 * 60 * 60 * 1000;
