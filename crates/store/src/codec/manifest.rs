//! Manifests of agents as they were pinned at submit, and what agents told.

use tidegate_core::manifest::{
    ClassRule, Emit, EventRule, Manifest, Match, Permissions, Protocol, Scalar, SessionRule,
    StreamForm, UsageRule, UsageScope,
};
use tidegate_core::run::{Conversation, Limit};
use tidegate_core::told::{Class, Outcome, Told, Usage};

use super::json::{record, tagged, words};

record!(Manifest {
    provider (later "provider"),
    stream (later "stream"),
    session (later "session"),
    resume (later "resume"),
    events (later "events"),
    classes (later "classes"),
    errors (later "errors"),
    gone (later "gone"),
    exit (later "exit"),
    protocol (later "protocol"),
    permissions (later "permissions"),
    account (later "account"),
});

words!(Protocol {
    None "none",
    ClaudeStream "claude_stream",
    CodexAppServer "codex_app_server",
});

words!(Permissions { Given "given", Asked "asked" });

words!(StreamForm { Text "text", Jsonl "jsonl" });

record!(SessionRule { given (later "given"), when (later "when"), key (later "key") });

record!(Match { path "path", is "is" });

tagged!(Scalar by "type" {
    Text "text" { 0 text "text" },
    Number "number" { 0 number "number" },
    Flag "flag" { 0 flag "flag" },
});

record!(EventRule {
    when "when",
    emit "emit",
    text (later "text"),
    status (later "status"),
    delay_ms (later "delayMs"),
    until (later "until"),
    name (later "name"),
    id (later "id"),
    class (later "class"),
    usage (later "usage"),
});

words!(Emit {
    Text "text",
    ToolStart "tool_start",
    ToolEnd "tool_end",
    Waiting "waiting",
    Usage "usage",
    Error "error",
    Completed "completed",
    Failed "failed",
    Interrupted "interrupted",
    Limit "limit",
});

record!(UsageRule {
    input (later "input"),
    cached (later "cached"),
    output (later "output"),
    cost (later "cost"),
    scope (later "of"),
});

words!(UsageScope { Process "process", Step "step", Turn "turn", Session "session" });

record!(ClassRule { pattern "pattern", class "class" });

words!(Class {
    RateLimit "rate_limit",
    UsageLimit "usage_limit",
    Auth "auth",
    BadModel "bad_model",
    BadRequest "bad_request",
    TooLong "too_long",
    Server "server",
    Network "network",
    Permission "permission",
    Other "other",
});

record!(Told {
    session "session",
    outcome "outcome",
    detail "detail",
    reset "reset",
    usage "usage",
    cumulative "cumulative",
    gone "gone",
});

record!(Conversation { id "id", resumed "resumed", superseded "superseded" });

record!(Limit {
    class "class",
    until "until",
    told "told",
    detail "detail",
    times "times",
    ms "ms",
    again "again",
    shared (later "shared"),
    account (later "account"),
});

tagged!(Outcome by "word" {
    Completed "completed" {},
    Failed "failed" { 0 class "class" },
    Interrupted "interrupted" {},
    Limit "limit" {},
    Unknown "unknown" {},
});

record!(Usage { input "input", cached "cached", output "output", cost_micros "costMicros" });
