//! The smaller commands: who may give them, what they ask, and their hand-over to the engine.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tidegate_core::ids::{AgentId, FeatureId, InvalidName, RoleName, RunId};
use tidegate_protocol::{
    AnswerRequest, ApproveRequest, Asked, CleanupRequest, DenyRequest, LanesRequest, LaunchRequest,
    PauseRequest, PriorityRequest, Problem, RestoreRequest, ResumeFeatureRequest, RetryRequest,
    RollbackRequest, SendRequest, StartAgentRequest, StopDaemonRequest, Text,
};

use super::app::App;
use super::body::{idempotency, parse};
use super::peer::Caller;
use super::reply::reply;
use super::scope::{Scope, scope_of};
use crate::engine::Command;

pub(super) type Shared = State<Arc<App>>;
pub(super) type From = ConnectInfo<Caller>;

/// Longest name of an actor, in bytes.
const ACTOR_BYTES_MAX: usize = 64;

/// What commands without further fields may say.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Plain {
    #[serde(default)]
    actor: Option<String>,
}

/// A body that may name who asks.
pub(super) trait Named {
    /// The name, as it came.
    fn named(&self) -> Option<&str>;
}

/// Declares bodies whose field `actor` is that name.
macro_rules! named {
    ($($body:ty),* $(,)?) => {
        $(impl Named for $body {
            fn named(&self) -> Option<&str> {
                self.actor.as_deref()
            }
        })*
    };
}

named!(
    AnswerRequest,
    ApproveRequest,
    CleanupRequest,
    DenyRequest,
    LanesRequest,
    LaunchRequest,
    ResumeFeatureRequest,
    PauseRequest,
    PriorityRequest,
    RestoreRequest,
    RetryRequest,
    RollbackRequest,
    SendRequest,
);

/// One command at work.
pub(super) struct Order<'a> {
    app: &'a App,
    pub(super) scope: Scope,
    headers: &'a HeaderMap,
    body: &'a Bytes,
}

impl<'a> Order<'a> {
    pub(super) fn new(
        app: &'a App,
        caller: &Caller,
        headers: &'a HeaderMap,
        body: &'a Bytes,
    ) -> Result<Self, Problem> {
        Ok(Self { app, scope: scope_of(app, caller)?, headers, body })
    }

    /// What only the user may ask: the body, and the name of who asks.
    pub(super) fn of_user<R: DeserializeOwned + Named>(&self) -> Result<(R, String), Problem> {
        self.scope.require_user()?;
        let request: R = parse(self.body)?;
        let actor = actor(&self.scope, request.named())?;
        Ok((request, actor))
    }

    /// The run that the path names.
    pub(super) async fn run(&self, id: &str) -> Result<RunId, Problem> {
        let id = id.to_owned();
        if let Ok(whole) = RunId::new(id.as_str()) {
            // The engine says whether it exists.
            return Ok(whole);
        }
        self.app.look(move |viewer| viewer.resolve(&id)).await
    }

    pub(super) async fn give(&self, what: &str, command: Command) -> Result<Value, Problem> {
        let key = idempotency(self.headers, &self.scope.actor(), what, self.body)?;
        self.app.call(command, key).await
    }
}

/// The name of who asks: the one in the request, else the caller's own.
pub(super) fn actor(scope: &Scope, named: Option<&str>) -> Result<String, Problem> {
    match (scope, named) {
        (Scope::User { .. }, Some(name)) => {
            let control = name.chars().any(char::is_control);
            if name.is_empty() || name.len() > ACTOR_BYTES_MAX || control {
                let message = format!("`actor` has 1 to {ACTOR_BYTES_MAX} bytes, none a control");
                return Err(Problem::invalid_input(message));
            }
            Ok(name.to_owned())
        }
        // A job speaks for itself, whatever it says.
        (Scope::User { .. }, None) | (Scope::Job(_), _) => Ok(scope.actor()),
    }
}

/// Reads a name of a request.
pub(super) fn name<T>(
    text: &str,
    parse: impl Fn(String) -> Result<T, InvalidName>,
) -> Result<T, Problem> {
    parse(text.to_owned()).map_err(|error| Problem::invalid_input(error.to_string()))
}

/// Reads an argv: not empty, text, no zero bytes.
pub(super) fn argv(parts: &[Text]) -> Result<Vec<String>, Problem> {
    if parts.first().is_none_or(|program| program.as_bytes().is_empty()) {
        return Err(Problem::invalid_input("`argv` has no program"));
    }
    let read = |part: &Text| match part.as_str() {
        Some(text) if !text.contains('\0') => Ok(text.to_owned()),
        Some(_) => Err(Problem::invalid_input("an argument holds a zero byte")),
        None => {
            let message = format!("the argument {:?} is not UTF-8", part.to_lossy());
            Err(Problem::invalid_input(message).hint("let a script hold it, and start that script"))
        }
    };
    parts.iter().map(read).collect()
}

pub(super) async fn cancel(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let plain: Plain = parse(&body)?;
        let actor = actor(&order.scope, plain.actor.as_deref())?;
        let run = order.run(&id).await?;
        order.scope.require_child(&app, &run).await?;
        let what = format!("cancel {run}");
        order.give(&what, Command::Cancel { run, actor }).await
    };
    reply(work.await)
}

pub(super) async fn retry(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<RetryRequest>()?;
        let run = order.run(&id).await?;
        let what = format!("retry {run}");
        let Some(feature) = request.feature else {
            return order.give(&what, Command::RetryRun { run, actor }).await;
        };
        let feature = name(&feature, FeatureId::new)?;
        let named = feature.to_string();
        let mut data = order.give(&what, Command::RetryFeature { run, feature, actor }).await?;
        add(&mut data, "feature", named.into());
        Ok(data)
    };
    reply(work.await)
}

pub(super) async fn rollback(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<RollbackRequest>()?;
        let feature = name(&request.feature, FeatureId::new)?;
        let run = order.run(&id).await?;
        let what = format!("rollback {run}");
        let command = Command::Rollback { run, feature, to: request.to, actor };
        let mut data = order.give(&what, command).await?;
        add(&mut data, "feature", request.feature.into());
        add(&mut data, "to", request.to.into());
        Ok(data)
    };
    reply(work.await)
}

pub(super) async fn start_agent(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let request: StartAgentRequest = parse(&body)?;
        let agent = name(&request.agent_id, AgentId::new)?;
        let role = request.role.as_deref().map(|role| name(role, RoleName::new)).transpose()?;
        let argv = argv(&request.argv)?;
        let run = order.run(&id).await?;
        order.scope.require_own(&run)?;
        let (what, run_id) = (format!("agents {run}"), run.to_string());
        let command = Command::StartAgent { run, agent, role, argv, terminal: request.terminal };
        let mut data = order.give(&what, command).await?;
        add(&mut data, "runId", run_id.into());
        add(&mut data, "agentId", request.agent_id.into());
        Ok(data)
    };
    reply(work.await)
}

pub(super) async fn nudge(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let run = order.run(&id).await?;
        order.scope.require_own(&run)?;
        app.call(Command::Nudge { run }, None).await
    };
    reply(work.await)
}

pub(super) async fn stop(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = || {
        let order = Order::new(&app, &caller, &headers, &body)?;
        order.scope.require_user()?;
        let request: StopDaemonRequest = parse(&body)?;
        app.site.handle.stop(request.drain);
        Ok(Asked { accepted: true })
    };
    reply(work())
}

/// Adds to an answer what the engine does not repeat.
fn add(data: &mut Value, key: &str, value: Value) {
    match data {
        Value::Object(map) => {
            map.entry(key).or_insert(value);
        }
        Value::Null => *data = json!({ key: value }),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}
