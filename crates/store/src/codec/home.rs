//! Facts of the home.

use serde_json::Map;
use tidegate_core::home::{HomeEvent, Place};
use tidegate_core::pause::{Pause, Scope};

use super::event::{read_versioned, versioned};
use super::json::{Fields, Malformed, flattens, put, record, take};

record!(Pause { by "by", at "at", reason "reason" });
flattens!(Pause { "by", "at", "reason" });

record!(Scope { project "project", lane "lane" });
flattens!(Scope { "project", "lane" });

record!(Place { root "root", common_dir "commonDir" });
flattens!(Place { "root", "commonDir" });

/// The kinds of the home's facts.
pub const HOME_KINDS: &[&str] = &[
    "daemon-started",
    "daemon-stopped",
    "project-registered",
    "project-removed",
    "lane-paused",
    "lane-resumed",
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
        _ => return Err(Malformed::new(format!("unknown kind {kind:?} of the home"))),
    };
    fields.end()?;
    Ok(event)
}
