//! Registering, forgetting and moving repositories.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use tidegate_core::home::Place;
use tidegate_core::ids::ProjectId;
use tidegate_protocol::{MoveProjectRequest, Problem, ProjectRequest, Text};

use super::app::{App, block};
use super::body::{idempotency, parse};
use super::commands::name;
use super::peer::Caller;
use super::reply::reply;
use super::repository::find_place;
use super::scope::scope_of;
use crate::engine::Command;

type Shared = State<Arc<App>>;
type From = ConnectInfo<Caller>;

pub(super) async fn register(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let asked = Asked { app: &app, caller: &caller, headers: &headers, body: &body };
        asked.allowed()?;
        let request: ProjectRequest = parse(&body)?;
        let place = asked.place(request.root).await?;
        asked.give("register", Command::RegisterProject { place }).await
    };
    reply(work.await)
}

pub(super) async fn remove(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let asked = Asked { app: &app, caller: &caller, headers: &headers, body: &body };
        asked.allowed()?;
        let project = name(&id, ProjectId::new)?;
        asked.give(&format!("remove {id}"), Command::RemoveProject { project }).await
    };
    reply(work.await)
}

pub(super) async fn relocate(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let asked = Asked { app: &app, caller: &caller, headers: &headers, body: &body };
        asked.allowed()?;
        let project = name(&id, ProjectId::new)?;
        let request: MoveProjectRequest = parse(&body)?;
        let place = asked.place(request.root).await?;
        asked.give(&format!("move {id}"), Command::MoveProject { project, place }).await
    };
    reply(work.await)
}

/// A request about a project.
struct Asked<'a> {
    app: &'a App,
    caller: &'a Caller,
    headers: &'a HeaderMap,
    body: &'a Bytes,
}

impl Asked<'_> {
    fn allowed(&self) -> Result<(), Problem> {
        scope_of(self.app, self.caller)?.require_user()
    }

    async fn place(&self, root: Text) -> Result<Place, Problem> {
        let git = self.app.site.git.clone();
        let path = PathBuf::from(std::ffi::OsString::from(root));
        block(move || find_place(&git, &path)).await
    }

    async fn give(&self, what: &str, command: Command) -> Result<Value, Problem> {
        let actor = scope_of(self.app, self.caller)?.actor();
        let key = idempotency(self.headers, &actor, what, self.body)?;
        self.app.call(command, key).await
    }
}
