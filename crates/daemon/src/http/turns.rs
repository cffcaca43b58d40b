//! Commands about turns: pausing and resuming runs and lanes, and priorities. Only the user gives
//! them: a job must not clear its own way.

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use tidegate_core::ids::{LaneName, ProjectId};
use tidegate_core::pause::Scope;
use tidegate_protocol::{LanesRequest, PauseRequest, PriorityRequest, Problem};

use super::app::App;
use super::commands::{From, Order, Shared, name};
use super::peer::Caller;
use super::reply::reply;
use crate::engine::Command;

/// Longest reason, in bytes.
const REASON_BYTES_MAX: usize = 200;

pub(super) async fn pause(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    reply(hold(&app, &caller, &id, (&headers, &body), true).await)
}

pub(super) async fn resume(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    reply(hold(&app, &caller, &id, (&headers, &body), false).await)
}

async fn hold(
    app: &App,
    caller: &Caller,
    id: &str,
    (headers, body): (&HeaderMap, &Bytes),
    held: bool,
) -> Result<Value, Problem> {
    let order = Order::new(app, caller, headers, body)?;
    let (request, actor) = order.of_user::<PauseRequest>()?;
    let reason = reason(request.reason)?;
    let run = order.run(id).await?;
    let what = format!("{} {run}", if held { "pause" } else { "resume" });
    order.give(&what, Command::Hold { run, held, reason, actor }).await
}

pub(super) async fn priority(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<PriorityRequest>()?;
        let run = order.run(&id).await?;
        let what = format!("priority {run}");
        let priority = request.priority;
        order.give(&what, Command::Prioritise { run, priority, actor }).await
    };
    reply(work.await)
}

pub(super) async fn pause_lanes(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    reply(lanes(&app, &caller, &headers, &body, true).await)
}

pub(super) async fn resume_lanes(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    reply(lanes(&app, &caller, &headers, &body, false).await)
}

async fn lanes(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: &Bytes,
    paused: bool,
) -> Result<Value, Problem> {
    let order = Order::new(app, caller, headers, body)?;
    let (request, actor) = order.of_user::<LanesRequest>()?;
    let scope = Scope {
        project: request.project.as_deref().map(|id| name(id, ProjectId::new)).transpose()?,
        lane: request.lane.as_deref().map(|lane| name(lane, LaneName::new)).transpose()?,
    };
    let reason = reason(request.reason)?;
    if paused {
        order.give("pause lanes", Command::PauseLanes { scope, reason, actor }).await
    } else {
        order.give("resume lanes", Command::ResumeLanes { scope, actor }).await
    }
}

/// A reason as it is recorded: one line, bounded.
fn reason(text: Option<String>) -> Result<Option<String>, Problem> {
    let Some(text) = text else { return Ok(None) };
    if text.is_empty() || text.len() > REASON_BYTES_MAX || text.chars().any(char::is_control) {
        let message = format!("`reason` has 1 to {REASON_BYTES_MAX} bytes, none a control");
        return Err(Problem::invalid_input(message));
    }
    Ok(Some(text))
}
