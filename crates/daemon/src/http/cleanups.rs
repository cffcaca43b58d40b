//! Clean-ups, and worktrees put back after one: asking, and looking at how far it is. Only the user asks.

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use tidegate_core::cleanup::Restoration;
use tidegate_core::ids::FeatureId;
use tidegate_protocol::{CleanupRequest, Problem, RestoreRequest};

use super::commands::{From, Order, Shared, name};
use super::reply::reply;
use super::scope::scope_of;
use crate::clock;
use crate::engine::Command;

pub(super) async fn ask(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<CleanupRequest>()?;
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

pub(super) async fn restore(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<RestoreRequest>()?;
        let feature = name(&request.feature, FeatureId::new)?;
        let run = order.run(&id).await?;
        let (prefix, of) = (run.to_string(), request.feature.clone());
        let all = app.look(move |viewer| viewer.snapshots(&prefix, Some(&of))).await?.snapshots;
        let mut numbers = all.iter().filter(|one| one.feature == request.feature);
        let found = match request.snapshot {
            Some(number) => numbers.find(|one| one.number == number),
            None => numbers.next_back(),
        };
        let none = || {
            Problem::not_found(format!("{run} has no such snapshot of {feature}"))
                .hint(format!("`tidegate restore {run} --list` shows those that there are"))
        };
        let snapshot = found.ok_or_else(none)?.number;
        let what = format!("restore {run}");
        let restoration = Restoration { run, feature, snapshot };
        order.give(&what, Command::Restore { restoration, actor }).await
    };
    reply(work.await)
}
