//! Facts of runs. The kind stands in a column of its own; the body has the rest.

use serde_json::{Map, Value};
use tidegate_core::run::{Event, Talk, Telling};

use super::json::{Fields, Malformed, put, take};

/// The version of the bodies. Another form of an event gets another one.
const VERSION: u32 = 1;

/// The text of a body: its keys in order, and the version.
pub(super) fn versioned(mut map: Map<String, Value>) -> String {
    map.insert("v".to_owned(), Value::from(VERSION));
    map.sort_keys();
    Value::Object(map).to_string()
}

/// The fields of a body of a known version.
pub(super) fn read_versioned(body: &str) -> Result<Fields, Malformed> {
    let value = serde_json::from_str(body)
        .map_err(|error| Malformed::new(format!("is not JSON: {error}")))?;
    let mut fields = Fields::of(value)?;
    match fields.take::<u32>("v")? {
        VERSION => Ok(fields),
        other => Err(Malformed::new(format!("unknown version {other}")).inside("v")),
    }
}

/// Declares a set of facts: both ways of their bodies, and their kinds. One set may stand within another.
macro_rules! facts {
    (
        $type:ident by $put:ident, $take:ident, $kinds:ident $(around $($inner:ident by $put_inner:ident),*)?;
        $($variant:ident $kind:literal { $($place:tt $field:ident $how:tt),* $(,)? }),* $(,)?
    ) => {
        fn $put(fact: &$type) -> Map<String, Value> {
            let mut map = Map::new();
            match fact {
                $($($type::$inner(inner) => return $put_inner(inner),)*)?
                $($type::$variant { $($place: $field),* } => {
                    $( put!(map, $field, $how); )*
                })*
            }
            map
        }

        fn $take(kind: &str, fields: &mut Fields) -> Result<$type, Malformed> {
            Ok(match kind {
                $($kind => $type::$variant { $($place: take!(fields, $how)),* },)*
                _ => return Err(Malformed::new(format!("unknown kind {kind:?}"))),
            })
        }

        /// The kinds of a set of a run's facts.
        pub const $kinds: &[&str] = &[$($kind),*];
    };
}

facts! {
    Talk by put_talk, take_talk, TALK_KINDS;
    Asked "question-asked" { question question "question", asked asked flat },
    Answered "question-answered" {
        question question "question",
        feature feature "feature",
        answer answer flat,
    },
    Withdrawn "question-withdrawn" { question question "question", feature feature "feature" },
    MessageSent "message-sent" {
        feature feature "feature",
        message message "message",
        text text "text",
        interrupts interrupts (later "interrupts"),
        by by "by",
        at at "at",
    },
    MessageWritten "message-written" {
        feature feature "feature",
        message message "message",
        job job "job",
        way way "way",
    },
    MessageRefused "message-refused" { feature feature "feature", message message "message", job job "job" },
    MessageAccepted "message-accepted" { feature feature "feature", message message "message", job job "job" },
    MessageConsumed "message-consumed" { feature feature "feature", message message "message", job job "job" },
    MessageFailed "message-failed" { feature feature "feature", message message "message" },
}

facts! {
    Telling by put_telling, take_telling, TELLING_KINDS;
    SessionBegun "session-begun" { job job "job", conversation conversation "conversation" },
    Told "agent-told" { job job "job", told told "told" },
    Parked "account-limited" { feature feature "feature", limit limit "limit", wait wait "wait" },
    AccountHeld "account-held" { feature feature "feature", job job "job", by by "by" },
    StandsIn "agent-stands-in" { feature feature "feature", agent agent "agent" },
    Limited "limited" {
        feature feature "feature",
        job job "job",
        limit limit "limit",
        wait wait "wait",
    },
}

facts! {
    Event by put_event, take_event, KINDS around Talk by put_talk, Telling by put_telling;
    Submitted "submitted" { 0 submitted flat },
    Claimed "daemon-claimed" { supervisor supervisor "supervisorId", at at "at" },
    Adopted "daemon-adopted" { supervisor supervisor "supervisorId" },
    CancelRequested "cancel-requested" { actor actor "actor" },
    Held "run-held" { pause pause flat },
    Released "run-released" { actor actor "actor", at at "at" },
    PriorityChanged "priority-changed" { priority priority "priority", actor actor "actor" },
    FeaturesAdded "features-added" { wave wave "wave", added added flat, actor actor "actor" },
    Completed "run-completed" { at at "at" },
    Failed "run-failed" { at at "at", detail detail "detail" },
    Cancelled "run-cancelled" { at at "at", actor actor "actor" },
    JobCreated "job-created" {
        job job "job",
        purpose purpose "purpose",
        attempt attempt "attempt",
        nonce nonce "nonce",
        at at "at",
    },
    JobStarted "job-started" { job job "job", started started "started" },
    LauncherStarted "launcher-started" {
        job job "job",
        started started "started",
        resumed resumed "resumed",
    },
    JobStopping "job-stopping" { job job "job", actor actor "actor" },
    JobFinished "job-finished" { job job "job", exit exit "exit" },
    JobQuarantined "job-quarantined" { job job "job", detail detail "detail" },
    JobStalled "stalled" { job job "job", silent_ms silent_ms "silentMs", at at "at" },
    JobWentOn "stall-cleared" { job job "job" },
    Progress "progress" { journal journal "journal" },
    AgentRegistered "agent-registered" { agent agent "agentId", registered registered "registered" },
    AgentExited "agent-exited" { agent agent "agentId", end end "end" },
    AgentsAdopted "agent-runtime-adopted" { end end "end", agents agents "agentIds" },
    Resuming "launcher-resuming" { wave wave "wave" },
    StatusReconciled "launcher-status-reconciled" { settled settled flat },
    FailedBeforeStatus "failed-before-status" {
        settled settled flat,
        launcher_pid launcher_pid "launcherPid",
    },
    AgentsSwept "agents-swept" { remaining remaining "remaining" },
    FeatureAdmitted "feature-admitted" { feature feature "feature" },
    LocksAwaited "locks-awaited" { feature feature "feature", wait wait "place" },
    LocksTaken "locks-taken" { feature feature "feature", locks locks "locks", at at "at" },
    WorktreeReady "worktree-ready" { feature feature "feature", path path "path", base base "base" },
    WorktreeFurnished "worktree-furnished" {
        feature feature "feature",
        furnished furnished "furnished",
    },
    WorktreeSetUp "worktree-set-up" { feature feature "feature", job job "job" },
    AttemptFailed "attempt-failed" {
        feature feature "feature",
        job job "job",
        counted counted "counted",
        wait wait (later "wait"),
    },
    RetryDue "retry-due" { feature feature "feature" },
    BuilderFinished "builder-finished" { feature feature "feature", job job "job" },
    RoleFinished "role-finished" { feature feature "feature", role role "role", job job "job" },
    ResultRefused "result-refused" {
        feature feature "feature",
        job job "job",
        feedback feedback "feedback",
    },
    HandedOver "handed-over" { feature feature "feature", role role "role" },
    Planned "planned" { feature feature "feature", job job "job", planned planned "planned" },
    Checked "checked" { feature feature "feature", job job "job" },
    Reviewed "reviewed" {
        feature feature "feature",
        job job "job",
        approved approved "approved",
        comments comments "comments",
    },
    Inspected "inspected" { feature feature "feature", inspection inspection "inspection" },
    RevertAccepted "revert-accepted" { feature feature "feature", commit commit "commit", by by "by" },
    ConflictFound "conflict-found" { feature feature "feature", paths paths "paths" },
    SnapshotTaken "snapshot-taken" {
        feature feature "feature",
        job job "job",
        captured captured "snapshot",
    },
    RollbackRequested "rollback-requested" { feature feature "feature", to to "to", actor actor "actor" },
    RolledBack "rolled-back" { feature feature "feature", to to "to", captured captured "captured" },
    SnapshotSkipped "snapshot-skipped" { feature feature "feature", job job "job", why why "why" },
    Committed "committed" { feature feature "feature", tested tested "tested" },
    IterationFailed "iteration-failed" {
        feature feature "feature",
        feedback feedback "feedback",
        sync sync "sync",
        mark mark (later "mark"),
    },
    EvidenceRead "evidence-read" {
        feature feature "feature",
        gate gate "gate",
        job job "job",
        evidence evidence "evidence",
    },
    GatePassed "gate-passed" { feature feature "feature", gate gate "gate", job job "job" },
    GateFailed "gate-failed" { feature feature "feature", gate gate "gate", job job "job" },
    GateRetried "gate-retried" { feature feature "feature", gate gate "gate", job job "job" },
    Verified "verified" { feature feature "feature" },
    Approved "approved" { feature feature "feature", commit commit "commit", by by "by" },
    LandingAdmitted "landing-admitted" { feature feature "feature" },
    MergePrepared "merge-prepared" { feature feature "feature", merged merged "merged" },
    LandingIntended "landing-intended" { feature feature "feature", merged merged "merged" },
    TargetMoved "target-moved" { feature feature "feature" },
    Landed "landed" { feature feature "feature", commit commit "commit" },
    Blocked "feature-blocked" { feature feature "feature", block block "block" },
    Unblocked "feature-unblocked" { feature feature "feature" },
    FeatureFailed "feature-failed" { feature feature "feature", reason reason "reason" },
    FeatureSkipped "feature-skipped" { feature feature "feature", cause cause "cause" },
    FeatureCancelled "feature-cancelled" { feature feature "feature", actor actor "actor" },
    FeatureRetried "feature-retried" { feature feature "feature", actor actor "actor" },
}

/// The body of a fact.
pub(crate) fn event_body(event: &Event) -> String {
    let mut map = put_event(event);
    if let Some(pid) = launcher_pid(event) {
        map.insert("launcherPid".to_owned(), Value::from(pid));
    }
    versioned(map)
}

/// Reads a fact back.
pub(crate) fn read_event(kind: &str, body: &str) -> Result<Event, Malformed> {
    let mut fields = read_versioned(body)?;
    let told: Option<u32> = match kind {
        "launcher-started" => Some(fields.take("launcherPid")?),
        _ => None,
    };
    let event = if TALK_KINDS.contains(&kind) {
        Event::Talk(take_talk(kind, &mut fields)?)
    } else if TELLING_KINDS.contains(&kind) {
        Event::Telling(take_telling(kind, &mut fields)?)
    } else {
        take_event(kind, &mut fields)?
    };
    fields.end()?;
    if told != launcher_pid(&event) {
        return Err(Malformed::new("is not the pid of the start").inside("launcherPid"));
    }
    Ok(event)
}

/// The pid that the start of a launcher says twice: scripts look for it at the top.
fn launcher_pid(event: &Event) -> Option<u32> {
    if let Event::LauncherStarted { started, .. } = event { Some(started.child.pid) } else { None }
}
