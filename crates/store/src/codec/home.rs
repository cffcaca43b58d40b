//! Facts of the home.

use serde_json::Map;
use tidegate_core::home::{HomeEvent, Place};

use super::event::{read_versioned, versioned};
use super::json::{Fields, Malformed, flattens, put, record, take};

record!(Place { root "root", common_dir "commonDir" });
flattens!(Place { "root", "commonDir" });

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
        _ => return Err(Malformed::new(format!("unknown kind {kind:?} of the home"))),
    };
    fields.end()?;
    Ok(event)
}
