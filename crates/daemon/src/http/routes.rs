//! Which path leads where.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware;
use axum::response::Response;
use axum::routing::{delete, get, post};
use serde_json::json;
use tidegate_protocol::{ErrorCode, Problem};

use super::app::App;
use super::guard::guard;
use super::{
    cleanups, commands, give, launch, people, projects, reads, reply, reviews, runtime, stream,
    submit, terminal, turns,
};

/// All routes of the API.
pub(super) fn router(app: Arc<App>) -> Router {
    let api = Router::new()
        .route("/runs", get(reads::runs).post(submit::submit))
        .route("/runs/{id}", get(reads::run))
        .route("/runs/{id}/features", get(reads::features))
        .route("/runs/{id}/jobs", get(reads::jobs))
        .route("/runs/{id}/explain", get(reads::explain))
        .route("/runs/{id}/cancel", post(commands::cancel))
        .route("/runs/{id}/retry", post(commands::retry))
        .route("/runs/{id}/review", get(reads::review))
        .route("/runs/{id}/approve", post(reviews::approve))
        .route("/runs/{id}/deny", post(reviews::deny))
        .route("/runs/{id}/rollback", post(commands::rollback))
        .route("/runs/{id}/restore", post(cleanups::restore))
        .route("/runs/{id}/agents", post(commands::start_agent))
        .route("/runs/{id}/terminal", get(terminal::attach))
        .route("/runs/{id}/nudge", post(commands::nudge))
        .route("/runs/{id}/pause", post(turns::pause))
        .route("/runs/{id}/resume", post(turns::resume))
        .route("/runs/{id}/priority", post(turns::priority))
        .route("/runs/{id}/send", post(people::send))
        .route("/questions", post(people::ask))
        .route("/questions/{id}/answer", post(people::answer))
        .route("/messages/received", post(people::received))
        .route("/inbox", get(people::inbox))
        .route("/launches", post(launch::launch))
        .route("/features/{id}/resume", post(launch::resume))
        .route("/lanes", get(reads::lanes))
        .route("/lanes/pause", post(turns::pause_lanes))
        .route("/lanes/resume", post(turns::resume_lanes))
        .route("/waves/{wave}", get(reads::wave))
        .route("/cleanups", post(cleanups::ask))
        .route("/cleanups/{number}", get(cleanups::show))
        .route("/events", get(stream::events))
        .route("/commands", get(runtime::commands).post(give::give))
        .route("/commands/{id}", get(runtime::command))
        .route("/runtime", get(runtime::runtime))
        .route("/daemon", get(reads::daemon))
        .route("/daemon/stop", post(commands::stop))
        .route("/projects", get(reads::projects).post(projects::register))
        .route("/projects/{id}", delete(projects::remove))
        .route("/projects/{id}/move", post(projects::relocate));
    Router::new()
        .nest("/api/v1", api)
        .route("/healthz", get(healthy))
        .route("/readyz", get(reads::ready))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        // The guard has read the body, up to the limit.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

async fn healthy() -> Response {
    reply::data(json!({ "healthy": true }))
}

async fn unknown(uri: Uri) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    reply::problem(Problem::not_found(format!("there is no route {path}")))
}

async fn wrong_method(uri: Uri) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    let message = format!("{path} is not asked by this method");
    reply::problem(Problem::new(ErrorCode::UnsupportedCommand, message))
}
