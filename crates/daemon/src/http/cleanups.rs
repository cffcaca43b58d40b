//! Clean-ups: asking for one, and looking at how far it is. Only the user asks.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use tidegate_protocol::{CleanupRequest, Problem};

use super::app::App;
use super::body::parse;
use super::commands::{Order, actor};
use super::peer::Caller;
use super::reply::reply;
use super::scope::scope_of;
use crate::clock;
use crate::engine::Command;

type Shared = State<Arc<App>>;
type From = ConnectInfo<Caller>;

pub(super) async fn ask(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        order.scope.require_user()?;
        let request: CleanupRequest = parse(&body)?;
        let actor = actor(&order.scope, request.actor.as_deref())?;
        let now = clock::wall();
        let scope = app.look(move |viewer| viewer.cleanup_scope(&request, now)).await?;
        order.give("cleanup", Command::CleanUp { scope, actor }).await
    };
    reply(work.await)
}

pub(super) async fn show(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(number): Path<String>,
) -> Response {
    let work = async {
        scope_of(&app, &caller)?.require_user()?;
        let parsed = number.parse().ok();
        let missing = || Problem::not_found(format!("there is no clean-up `{number}`"));
        let number: u64 = parsed.ok_or_else(missing)?;
        app.look(move |viewer| viewer.cleanup(number)).await
    };
    reply(work.await)
}
