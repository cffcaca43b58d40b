//! Where features of a plan stand.

use tidegate_core::run::{
    Block, Captured, Feature, FeatureState, Feedback, Finding, InLine, Inspection, LandStep,
    LockAhead, LockWait, Merged, PlannedChange, Round, Tested, Wait, WorkStep,
};

use tidegate_core::workplace::{Furnished, NotCopied};

use super::json::{record, tagged};

record!(Wait { until "until", ms "ms", about "about" });
record!(LockWait { ticket "ticket", ahead "ahead" });
record!(LockAhead { lock "lock", run "run", feature "feature", held "held" });
record!(InLine { wait "wait", since "since" });
record!(Tested { commit "commit", tree "tree" });
record!(Captured {
    number "n",
    commit "commit",
    files "files",
    left_out "notCaptured",
    cost_ms "costMs",
});
record!(Merged { onto "onto", commit "commit", tree "tree" });

record!(Feature {
    state "state",
    iteration "iteration",
    failures "failures",
    wait (later "wait"),
    limited (later "limited"),
    held_by (later "heldBy"),
    stand_in (later "standIn"),
    base "base",
    worktree "worktree",
    tested "tested",
    feedback "feedback",
    sync "sync",
    approved "approved",
    planned (or_default "planned"),
    conflict (or_default "conflict"),
    inspected (or_default "inspected"),
    reverts_accepted (or_default "revertsAccepted"),
    reconciliations (or_default "reconciliations"),
    reviews (or_default "reviews"),
    raised (later "raised"),
    run_raised (later "runRaised"),
    locked (later "locked"),
    in_line (later "inLine"),
    furnished (or_default "furnished"),
});

record!(Inspection { commit "commit", findings "findings" });

record!(Finding {
    kind "kind",
    path "path",
    line "line",
    excerpt "excerpt",
    stops "stops",
});

record!(PlannedChange {
    summary "summary",
    allowed "allowed",
    forbidden "forbidden",
    create "create",
    modify "modify",
    delete "delete",
    contracts "contracts",
    criteria "criteria",
    gates "gates",
});

record!(Furnished {
    making "making",
    ports "ports",
    included "included",
    left_out "leftOut",
    submodules "submodules",
    empty_submodules "emptySubmodules",
    pointers "pointers",
    sparse "sparse",
});

record!(NotCopied { path "path", why "why" });

tagged!(FeatureState by "word" {
    Queued "queued" {},
    Working "working" { role role "role", step step "step" },
    Verifying "verifying" { round round "round" },
    InReview "in_review" {},
    Landing "landing" { 0 step "step" },
    Blocked "blocked" { 0 block "block" },
    Landed "landed" { commit commit "commit" },
    Failed "failed" { reason reason "reason" },
    Cancelled "cancelled" { actor actor "actor" },
    Skipped "skipped" { cause cause "cause" },
});

tagged!(WorkStep by "word" {
    AwaitingSlot "awaiting_slot" {},
    Preparing "preparing" {},
    SettingUp "setting_up" { 0 job "job" },
    Agent "agent" { 0 job "job" },
    Committing "committing" { 0 job "job" },
    Reading "reading" { 0 job "job" },
    RollingBack "rolling_back" { 0 to "to" },
});

record!(Round { passed "passed", running "running", retried "retried", failed "failed" });

tagged!(LandStep by "word" {
    AwaitingTarget "awaiting_target" {},
    Merging "merging" {},
    Gates "gates" { merged merged "merged", round round "round" },
    Updating "updating" { merged merged "merged" },
});

tagged!(Block by "reason" {
    Conflict "conflict" { paths paths "paths" },
    TargetDirty "target_dirty" { paths paths "paths", why why "why" },
    TargetMissing "target_missing" {},
    RepoHeld "repo_held" { by by "by" },
    Resources "resources" { detail detail "detail" },
    Git "git" { detail detail "detail" },
    Collision "collision" { with with "with", paths paths "paths", waits waits "waits" },
    Input "input" { role role "role" },
    Auth "auth" { agent agent "agent", detail detail "detail", account account (later "account") },
    Review "review" { detail detail "detail" },
    NoProgress "no_progress" { times times "times", reason reason "why" },
    Budget "budget" { overrun overrun "overrun" },
    SilentRevert "silent_revert" { losses losses "losses" },
    PushRefused "push_refused" { detail detail "detail" },
    RemoteUnreachable "remote_unreachable" { detail detail "detail" },
    Diverged "diverged" { detail detail "detail" },
    LocalBehind "local_behind" { merged merged "merged", paths paths "paths", why why "why" },
    Quarantine "quarantine" { job job "job", detail detail "detail" },
});

tagged!(Feedback by "word" {
    Gate "gate" {
        gate gate "gate",
        commit commit "commit",
        job job "job",
        exit exit "exit",
        merged merged "merged",
        problems problems (later "problems"),
    },
    NoChange "no_change" {},
    HookRefused "hook_refused" { output output "output" },
    LeftBranch "left_branch" { found found "found" },
    SyncConflict "sync_conflict" { paths paths "paths" },
    Review "review" { by by "by", comments comments "comments" },
    Unusable "unusable" { detail detail "detail" },
    Unresolved "unresolved" { paths paths "paths" },
});
