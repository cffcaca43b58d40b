//! Reads of the command runtime: what was asked, where it stands, what is under way.

use axum::extract::{ConnectInfo, Path, Query, State};
use axum::response::Response;
use serde::Deserialize;
use tidegate_protocol::{CommandPage, Problem};

use super::app::App;
use super::commands::{From, Shared};
use super::peer::Caller;
use super::reply::reply;
use super::scope::scope_of;
use crate::views::{CommandQuery, Viewer};

/// Query of `GET /commands`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Commands {
    status: Option<String>,
    run: Option<String>,
    command: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

pub(super) async fn commands(
    State(app): Shared,
    ConnectInfo(caller): From,
    query: Result<Query<Commands>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let query = query.map(|Query(query)| query);
    let query = query.map_err(|error| Problem::invalid_input(error.body_text()));
    reply(list(&app, &caller, query).await)
}

async fn list(
    app: &App,
    caller: &Caller,
    query: Result<Commands, Problem>,
) -> Result<CommandPage, Problem> {
    scope_of(app, caller)?.require_user()?;
    let Commands { status, run, command, limit, cursor } = query?;
    let query = CommandQuery { status, run, command, limit, cursor };
    app.look(move |viewer| viewer.commands(&query)).await
}

pub(super) async fn command(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
) -> Response {
    if let Err(refusal) = scope_of(&app, &caller).and_then(|scope| scope.require_user()) {
        return super::reply::problem(refusal);
    }
    reply(app.look(move |viewer| viewer.command(&id)).await)
}

pub(super) async fn runtime(State(app): Shared, ConnectInfo(caller): From) -> Response {
    if let Err(refusal) = scope_of(&app, &caller).and_then(|scope| scope.require_user()) {
        return super::reply::problem(refusal);
    }
    reply(app.look(Viewer::runtime).await)
}
