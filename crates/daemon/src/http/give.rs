//! `POST /commands`: a command by its name, handed on to the route that takes it. What it means, who may
//! give it and how it is answered is told there.

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, Request, header};
use axum::response::Response;
use serde_json::Value;
use tidegate_protocol::{ErrorCode, GiveRequest, Problem};
use tower::ServiceExt as _;

use super::body::parse;
use super::commands::{From, Shared};
use super::reply;
use super::routes::router;

/// Where a command is taken: its route below `/api/v1`, in which `{run}`, `{feature}` and `{question}` are
/// filled in, and whether the feature stands in the body too.
const COMMANDS: [(&str, &str, bool); 20] = [
    ("run.submit", "/runs", false),
    ("run.cancel", "/runs/{run}/cancel", false),
    ("run.retry", "/runs/{run}/retry", false),
    ("run.pause", "/runs/{run}/pause", false),
    ("run.resume", "/runs/{run}/resume", false),
    ("run.prioritise", "/runs/{run}/priority", false),
    ("feature.retry", "/runs/{run}/retry", true),
    ("feature.rollback", "/runs/{run}/rollback", true),
    ("feature.restore", "/runs/{run}/restore", true),
    ("feature.resume", "/features/{feature}/resume", false),
    ("feature.send", "/runs/{run}/send", true),
    ("review.approve", "/runs/{run}/approve", true),
    ("review.deny", "/runs/{run}/deny", true),
    ("question.answer", "/questions/{question}/answer", false),
    ("launch.submit", "/launches", false),
    ("lane.pause", "/lanes/pause", false),
    ("lane.resume", "/lanes/resume", false),
    ("home.cleanup", "/cleanups", false),
    ("agent.start", "/runs/{run}/agents", false),
    ("project.register", "/projects", false),
];

pub(super) async fn give(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut inner = match inner(&body) {
        Ok(inner) => inner,
        Err(refusal) => return reply::problem(refusal),
    };
    for (name, value) in &headers {
        if *name != header::CONTENT_LENGTH {
            inner.headers_mut().insert(name.clone(), value.clone());
        }
    }
    // The route asks the same caller for its scope.
    inner.extensions_mut().insert(ConnectInfo(caller));
    match router(app).oneshot(inner).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// The request that the command's own route would get.
fn inner(body: &Bytes) -> Result<Request<Body>, Problem> {
    let request: GiveRequest = parse(body)?;
    let known = COMMANDS.iter().find(|(name, ..)| *name == request.command);
    let Some((_, route, feature_in_body)) = known else {
        let name: String = request.command.chars().take(64).collect();
        let names: Vec<&str> = COMMANDS.iter().map(|(name, ..)| *name).collect();
        let message = format!("there is no command `{}`", name.escape_debug());
        return Err(Problem::new(ErrorCode::UnsupportedCommand, message).with("known", names));
    };
    let mut args = request.args;
    let path = fill(route, "{run}", "run_id", request.run_id.as_deref())?;
    let path = fill(&path, "{feature}", "feature_id", request.feature_id.as_deref())?;
    let question = args.remove("question").and_then(|id| Some(id.as_str()?.to_owned()));
    let path = fill(&path, "{question}", "args.question", question.as_deref())?;
    if *feature_in_body && let Some(feature) = request.feature_id {
        args.insert("feature".to_owned(), Value::String(feature));
    }
    let body = Value::Object(args).to_string();
    Request::builder()
        .method(Method::POST)
        .uri(format!("/api/v1{path}"))
        .body(Body::from(body))
        .map_err(|error| Problem::internal(format!("the command cannot be handed on: {error}")))
}

/// Fills in a name of the route. It is one part of a path, whatever it holds: the route says whether it is a
/// name at all.
fn fill(route: &str, place: &str, field: &str, name: Option<&str>) -> Result<String, Problem> {
    if !route.contains(place) {
        return Ok(route.to_owned());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = name.filter(|name| !name.is_empty() && name.chars().all(plain));
    let name = name.filter(|name| !name.starts_with('.'));
    let name =
        name.ok_or_else(|| Problem::invalid_input(format!("`{field}` is missing or no name")))?;
    Ok(route.replace(place, name))
}
