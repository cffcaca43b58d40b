//! Plans as they were pinned at submit.

use tidegate_core::budget::{Budget, BudgetScope, Budgets, Overrun, Resource};
use tidegate_core::evidence::{CoverageRule, Measure, Promises};
use tidegate_core::integrity::Kind;
use tidegate_core::plan::{
    AgentSpec, CollisionPolicy, CommitRule, FeatureSpec, GateRun, GateSpec, IntegrityPolicy,
    LandingSpec, OnFailure, PlanSpec, PromptChannel, RemoteSync, ReviewPolicy, Role, RoleSpec,
    Strategy, WaveSpec,
};

use tidegate_core::run::{Added, Retry};
use tidegate_core::workplace::{HookSpec, LfsPolicy, SubmodulePolicy, WorktreeSpec};

use super::json::{flattens, record, tagged, words};

record!(PlanSpec {
    title "title",
    path "path",
    source "source",
    config "config",
    user_config (later "userConfig"),
    target "target",
    waves "waves",
    features "features",
    agents "agents",
    builder "builder",
    gates "gates",
    landing "landing",
    review "review",
    integrity (or_default "integrity"),
    integrity_by_kind (later "integrityByKind"),
    same_max (later "sameMax"),
    collisions (or_default "collisions"),
    on_failure "onFailure",
    commit "commit",
    active_max "activeMax",
    snapshot_every_ms (or_default "snapshotEveryMs"),
    env_pass "envPass",
    budgets (later "budgets"),
    retry (later "retry"),
    stall_after_ms (later "stallAfterMs"),
    worktree (or_default "worktree"),
});

record!(Budgets {
    feature (later "feature"),
    run (later "run"),
    attempt_micros (later "attemptMicros"),
});
record!(Budget {
    attempts (later "attempts"),
    time_ms (later "timeMs"),
    cost_micros (later "costMicros"),
});
record!(Overrun { scope "scope", resource "resource", spent "spent", cap "cap" });
words!(BudgetScope { Feature "feature", Run "run" });
words!(Resource { Attempts "attempts", Time "time", Cost "cost" });

record!(Added { features "features", agents "agents", gates "gates" });
flattens!(Added { "features", "agents", "gates" });

record!(Retry { backoff_ms "backoffMs", backoff_ms_max "backoffMsMax" });

record!(WorktreeSpec {
    setup "setup",
    teardown "teardown",
    setup_gates "setupGates",
    include "include",
    submodules "submodules",
    lfs "lfs",
    ports "ports",
    port_first "portFirst",
    port_last "portLast",
});

record!(HookSpec { run "run", env "env", timeout_ms "timeoutMs" });

words!(SubmodulePolicy { Off "off", Init "init" });
words!(LfsPolicy { Off "off", Pull "pull" });

record!(WaveSpec { number "number", name "name", features "features" });

record!(FeatureSpec {
    title "title",
    prompt "prompt",
    needs "needs",
    paths "paths",
    locks (later "locks"),
    gates "gates",
    agent "agent",
    crew (or_default "crew"),
    allow_no_change "allowNoChange",
    iterations_max "iterationsMax",
    attempts_max "attemptsMax",
});

words!(Role {
    Planner "planner",
    Builder "builder",
    Qa "qa",
    Reviewer "reviewer",
    Reconciler "reconciler",
});

record!(RoleSpec { name "name", agent "agent", fallback (later "fallback"), prompt (or_default "prompt"), retry (later "retry") });

record!(AgentSpec {
    argv "argv",
    prompt "prompt",
    env "env",
    timeout_ms "timeoutMs",
    grace_ms "graceMs",
    terminal (or_default "terminal"),
    manifest (later "manifest"),
});

words!(PromptChannel { Stdin "stdin", Argv "argv", File "file" });

record!(GateSpec {
    run "run",
    env "env",
    cache "cache",
    timeout_ms "timeoutMs",
    needs (later "needs"),
    retries (later "retries"),
    alone (later "alone"),
    promises (later "promises"),
});

record!(Promises {
    reports "reports",
    coverage "coverage",
    may_change "mayChange",
});

record!(CoverageRule { file "file", least "least", files "files" });

words!(Measure {
    Lines "lines",
    Branches "branches",
    Functions "functions",
    ChangedLines "changed_lines",
});

tagged!(GateRun by "word" {
    Argv "argv" { 0 argv "argv" },
    Script "script" { 0 script "script" },
});

record!(LandingSpec {
    strategy "strategy",
    merge_gates "mergeGates",
    message (or_default "message"),
    remote (or_default "remote"),
});

words!(Strategy { Merge "merge", Squash "squash", Rebase "rebase" });

words!(RemoteSync { Auto "auto", Off "off" });

words!(Kind {
    DeletedTestFile "deleted_test_file",
    DeletedTest "deleted_test",
    SkippedTest "skipped_test",
    FocusedTest "focused_test",
    EmptiedTest "emptied_test",
    RemovedAssertions "removed_assertions",
    WeakenedAssertion "weakened_assertion",
    Tautology "tautology",
    SwallowedFailure "swallowed_failure",
    ForcedSuccess "forced_success",
    UnreachedTests "unreached_tests",
    RestructuredTest "restructured_test",
    ChangedExpectation "changed_expectation",
    DeletedTestData "deleted_test_data",
    LoweredThreshold "lowered_threshold",
    LoweredLint "lowered_lint",
    ChangedTimeout "changed_timeout",
    ChangedGate "changed_gate",
    ChangedTestConfig "changed_test_config",
    ChangedCi "changed_ci",
    ChangedSnapshot "changed_snapshot",
    ChangedHook "changed_hook",
    IgnoredFailure "ignored_failure",
    BypassedHook "bypassed_hook",
    ExcludedTests "excluded_tests",
    ExcludedFromCoverage "excluded_from_coverage",
    OutsideDeclaredPaths "outside_declared_paths",
    CommitsAfterGate "commits_after_gate",
});

words!(IntegrityPolicy { Person "person", Note "note", Off "off" });
words!(ReviewPolicy { Auto "auto", Person "person", Agent "agent" });

words!(CollisionPolicy { Reject "reject", Serialise "serialise", Allow "allow" });
words!(OnFailure { Stop "stop", Continue "continue" });
words!(CommitRule { Auto "auto", Agent "agent" });
