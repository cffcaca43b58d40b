//! Reads: the documents of the views. A process inside a job reads its own run only.

use std::sync::Arc;

use axum::extract::{ConnectInfo, Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tidegate_protocol::{DaemonDoc, Problem, RunPage, RunStatus, WaveDoc};

use super::app::App;
use super::peer::Caller;
use super::reply::reply;
use super::scope::{Scope, scope_of};
use crate::views::{RunQuery, Viewer, WaveQuery};

type Shared = State<Arc<App>>;
type From = ConnectInfo<Caller>;

/// Query of `GET /runs`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Runs {
    status: Option<String>,
    project: Option<String>,
    lane: Option<String>,
    adhoc: Option<String>,
    #[serde(default)]
    all: bool,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// Query of `GET /waves/{wave}`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wave {
    project: Option<String>,
    lane: Option<String>,
    adhoc: Option<String>,
    agent: Option<String>,
}

/// Query of `GET /runs/{id}/explain`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Explain {
    feature: Option<String>,
}

pub(super) async fn runs(
    State(app): Shared,
    ConnectInfo(caller): From,
    query: Result<Query<Runs>, axum::extract::rejection::QueryRejection>,
) -> Response {
    reply(list(&app, &caller, query.map(|Query(query)| query).map_err(bad_query)).await)
}

async fn list(
    app: &App,
    caller: &Caller,
    query: Result<Runs, Problem>,
) -> Result<RunPage, Problem> {
    scope_of(app, caller)?.require_user()?;
    let query = query?;
    let status = match query.status.as_deref() {
        None => None,
        Some(word) => Some(RunStatus::from_word(word).ok_or_else(|| {
            let known: Vec<&str> = RunStatus::ALL.iter().map(|one| one.as_str()).collect();
            Problem::invalid_input(format!("`status` is one of {}", known.join(", ")))
        })?),
    };
    let query = RunQuery {
        status,
        project: query.project,
        lane: query.lane,
        adhoc: query.adhoc,
        all: query.all,
        limit: query.limit,
        cursor: query.cursor,
    };
    app.look(move |viewer| viewer.runs(&query)).await
}

pub(super) async fn run(state: Shared, from: From, Path(id): Path<String>) -> Response {
    reply(of_run(state, from, id, Viewer::run).await)
}

pub(super) async fn features(state: Shared, from: From, Path(id): Path<String>) -> Response {
    reply(of_run(state, from, id, Viewer::features).await)
}

pub(super) async fn jobs(state: Shared, from: From, Path(id): Path<String>) -> Response {
    reply(of_run(state, from, id, Viewer::jobs).await)
}

pub(super) async fn explain(
    state: Shared,
    from: From,
    Path(id): Path<String>,
    query: Result<Query<Explain>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let Query(Explain { feature }) = match query {
        Ok(query) => query,
        Err(error) => return super::reply::problem(bad_query(error)),
    };
    let ask = move |viewer: &mut Viewer, id: &str| viewer.explain(id, feature.as_deref());
    reply(of_run(state, from, id, ask).await)
}

pub(super) async fn review(
    state: Shared,
    from: From,
    Path(id): Path<String>,
    query: Result<Query<Explain>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let Query(Explain { feature }) = match query {
        Ok(query) => query,
        Err(error) => return super::reply::problem(bad_query(error)),
    };
    let Some(feature) = feature else {
        return super::reply::problem(Problem::invalid_input("`feature` is missing"));
    };
    // Who cannot consent gets no token.
    let for_user = matches!(scope_of(&state.0, &from.0), Ok(Scope::User { .. }));
    let ask = move |viewer: &mut Viewer, id: &str| viewer.review(id, &feature, for_user);
    reply(of_run(state, from, id, ask).await)
}

/// Asks about one run, if the caller may read it.
async fn of_run<T: Serialize + Send + 'static>(
    State(app): Shared,
    ConnectInfo(caller): From,
    id: String,
    ask: impl FnOnce(&mut Viewer, &str) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let scope = scope_of(&app, &caller)?;
    app.look(move |viewer| {
        let run = viewer.resolve(&id).map_err(|refusal| hidden(&scope, refusal))?;
        scope.require_own(&run)?;
        ask(viewer, run.as_str())
    })
    .await
}

/// A job does not learn which other runs there are.
fn hidden(scope: &Scope, refusal: Problem) -> Problem {
    match scope.require_user() {
        Ok(()) => refusal,
        Err(forbidden) => forbidden,
    }
}

pub(super) async fn wave(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(wave): Path<String>,
    query: Result<Query<Wave>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let query = query.map(|Query(query)| query).map_err(bad_query);
    reply(summary(&app, &caller, &wave, query).await)
}

async fn summary(
    app: &App,
    caller: &Caller,
    wave: &str,
    query: Result<Wave, Problem>,
) -> Result<Option<WaveDoc>, Problem> {
    scope_of(app, caller)?.require_user()?;
    let query = query?;
    let wave = wave.parse().map_err(|_| Problem::invalid_input("a wave is a number"))?;
    let (project, lane, adhoc) = (query.project, query.lane, query.adhoc);
    let query = WaveQuery { wave, project, lane, adhoc, agent: query.agent };
    app.look(move |viewer| viewer.wave(&query)).await
}

pub(super) async fn projects(State(app): Shared, ConnectInfo(caller): From) -> Response {
    if let Err(refusal) = scope_of(&app, &caller).and_then(|scope| scope.require_user()) {
        return super::reply::problem(refusal);
    }
    reply(app.look(Viewer::projects).await)
}

pub(super) async fn lanes(State(app): Shared, ConnectInfo(caller): From) -> Response {
    if let Err(refusal) = scope_of(&app, &caller).and_then(|scope| scope.require_user()) {
        return super::reply::problem(refusal);
    }
    reply(app.look(Viewer::lanes).await)
}

pub(super) async fn daemon(State(app): Shared, ConnectInfo(caller): From) -> Response {
    let allowed = scope_of(&app, &caller).and_then(|scope| scope.require_user());
    reply(match allowed {
        Ok(()) => app.look(|viewer| Ok::<DaemonDoc, _>(viewer.daemon().clone())).await,
        Err(refusal) => Err(refusal),
    })
}

/// Whether the store can be read and the engine takes commands.
pub(super) async fn ready(State(app): Shared) -> Response {
    let (supervisor, epoch) = (app.site.supervisor.clone(), app.site.token.1);
    let started_at = app.site.started_at.0;
    reply(app.look(Viewer::last_seq).await.map(|seq| {
        serde_json::json!({
            "ready": true,
            "lastSeq": seq,
            "supervisorId": supervisor,
            "epoch": epoch,
            "startedAt": tidegate_protocol::Timestamp::from_ms(started_at),
        })
    }))
}

/// What is wrong with a query.
#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
fn bad_query(error: axum::extract::rejection::QueryRejection) -> Problem {
    Problem::invalid_input(error.body_text())
}
