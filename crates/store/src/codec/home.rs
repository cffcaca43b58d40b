//! Facts of the home.

use serde_json::Map;
use tidegate_core::cleanup::{CleanupEnd, CleanupScope, Kept, Proof, Removal, Restoration, Thing};
use tidegate_core::command::CommandFact;
use tidegate_core::home::{HomeEvent, Place};
use tidegate_core::pause::{Pause, Scope};

use super::event::{read_versioned, versioned};
use super::json::{Fields, Malformed, flattens, put, record, take, words};

record!(Pause { by "by", at "at", reason "reason" });
flattens!(Pause { "by", "at", "reason" });

record!(Scope { project "project", lane "lane" });
flattens!(Scope { "project", "lane" });

record!(Place { root "root", common_dir "commonDir" });
flattens!(Place { "root", "commonDir" });

words!(Thing {
    Worktree "worktree",
    Branch "branch",
    Ref "ref",
    Checkout "checkout",
    Job "job",
    Snapshots "snapshots",
});
words!(Proof {
    Ancestor "ancestor",
    PatchId "patch_id",
    Tree "tree",
    Branch "branch",
    Derived "derived",
    Recorded "recorded",
    Gone "gone",
});
record!(CleanupScope {
    project "project",
    run "run",
    ended_before "endedBefore",
    jobs_before "jobsBefore",
    delete "delete",
});
record!(Removal {
    what "what",
    name "name",
    project "project",
    run "run",
    feature "feature",
    proof "proof",
    commit "commit",
    snapshot "snapshot",
});
record!(Kept { what "what", name "name", project "project", run "run", why "why" });
record!(CleanupEnd { kept "kept", kept_more "keptMore", deleted "deleted" });

record!(Restoration { run "run", feature "feature", snapshot "snapshot" });
flattens!(Restoration { "run", "feature", "snapshot" });

record!(CommandFact {
    request "requestId",
    command "command",
    actor "actor",
    run "run",
    feature "featureId",
    code "code",
    at "at",
});
flattens!(CommandFact { "requestId", "command", "actor", "run", "featureId", "code", "at" });

/// The kinds of the home's facts.
pub const HOME_KINDS: &[&str] = &[
    "daemon-started",
    "daemon-stopped",
    "project-registered",
    "project-removed",
    "lane-paused",
    "lane-resumed",
    "cleanup-asked",
    "removal-proved",
    "cleanup-ended",
    "restore-asked",
    "restore-ended",
    "command-accepted",
    "command-completed",
    "command-failed",
    "background-ended",
];

/// The body of a fact of the home.
pub(crate) fn home_body(event: &HomeEvent) -> String {
    let mut map = Map::new();
    match event {
        HomeEvent::DaemonStarted { epoch, generation, pid, version, at } => {
            put!(map, epoch, "epoch");
            put!(map, generation, "generation");
            put!(map, pid, "pid");
            put!(map, version, "version");
            put!(map, at, "at");
        }
        HomeEvent::DaemonStopped { epoch, at } => {
            put!(map, epoch, "epoch");
            put!(map, at, "at");
        }
        HomeEvent::ProjectRegistered { project, place } => {
            put!(map, project, "project");
            put!(map, place, flat);
        }
        HomeEvent::ProjectRemoved { project } => {
            put!(map, project, "project");
        }
        HomeEvent::LanePaused { scope, pause } => {
            put!(map, scope, flat);
            put!(map, pause, flat);
        }
        HomeEvent::LaneResumed { scope, actor, at } => {
            put!(map, scope, flat);
            put!(map, actor, "actor");
            put!(map, at, "at");
        }
        HomeEvent::CleanupAsked { number, scope, actor, at } => {
            put!(map, number, "number");
            put!(map, scope, "scope");
            put!(map, actor, "actor");
            put!(map, at, "at");
        }
        HomeEvent::RemovalProved { number, removal } => {
            put!(map, number, "number");
            put!(map, removal, "removal");
        }
        HomeEvent::CommandAccepted(fact)
        | HomeEvent::CommandCompleted(fact)
        | HomeEvent::CommandFailed(fact)
        | HomeEvent::BackgroundEnded(fact) => {
            put!(map, fact, flat);
        }
        HomeEvent::CleanupEnded { number, end } => {
            put!(map, number, "number");
            put!(map, end, "end");
        }
        HomeEvent::RestoreAsked { number, restoration, actor, at } => {
            put!(map, number, "number");
            put!(map, restoration, flat);
            put!(map, actor, "actor");
            put!(map, at, "at");
        }
        HomeEvent::RestoreEnded { number, failure } => {
            put!(map, number, "number");
            put!(map, failure, "failure");
        }
    }
    versioned(map)
}

/// Reads a fact of the home back.
pub(crate) fn read_home_event(kind: &str, body: &str) -> Result<HomeEvent, Malformed> {
    let mut fields: Fields = read_versioned(body)?;
    let event = match kind {
        "daemon-started" => HomeEvent::DaemonStarted {
            epoch: take!(fields, "epoch"),
            generation: take!(fields, "generation"),
            pid: take!(fields, "pid"),
            version: take!(fields, "version"),
            at: take!(fields, "at"),
        },
        "daemon-stopped" => {
            HomeEvent::DaemonStopped { epoch: take!(fields, "epoch"), at: take!(fields, "at") }
        }
        "project-registered" => HomeEvent::ProjectRegistered {
            project: take!(fields, "project"),
            place: take!(fields, flat),
        },
        "project-removed" => HomeEvent::ProjectRemoved { project: take!(fields, "project") },
        "lane-paused" => {
            HomeEvent::LanePaused { scope: take!(fields, flat), pause: take!(fields, flat) }
        }
        "lane-resumed" => HomeEvent::LaneResumed {
            scope: take!(fields, flat),
            actor: take!(fields, "actor"),
            at: take!(fields, "at"),
        },
        "cleanup-asked" => HomeEvent::CleanupAsked {
            number: take!(fields, "number"),
            scope: take!(fields, "scope"),
            actor: take!(fields, "actor"),
            at: take!(fields, "at"),
        },
        "removal-proved" => HomeEvent::RemovalProved {
            number: take!(fields, "number"),
            removal: take!(fields, "removal"),
        },
        "restore-asked" => HomeEvent::RestoreAsked {
            number: take!(fields, "number"),
            restoration: take!(fields, flat),
            actor: take!(fields, "actor"),
            at: take!(fields, "at"),
        },
        "restore-ended" => HomeEvent::RestoreEnded {
            number: take!(fields, "number"),
            failure: take!(fields, "failure"),
        },
        "command-accepted" => HomeEvent::CommandAccepted(take!(fields, flat)),
        "command-completed" => HomeEvent::CommandCompleted(take!(fields, flat)),
        "background-ended" => HomeEvent::BackgroundEnded(take!(fields, flat)),
        "command-failed" => HomeEvent::CommandFailed(take!(fields, flat)),
        "cleanup-ended" => {
            HomeEvent::CleanupEnded { number: take!(fields, "number"), end: take!(fields, "end") }
        }
        _ => return Err(Malformed::new(format!("unknown kind {kind:?} of the home"))),
    };
    fields.end()?;
    Ok(event)
}
