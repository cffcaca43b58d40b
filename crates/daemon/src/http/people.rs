//! Questions, answers, messages and the inbox: what passes between agents and people.
//!
//! A process inside a job asks for its own job and receives what its own job was sent; only the user
//! answers and sends.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use tidegate_core::ids::{FeatureId, JobId, QuestionId};
use tidegate_protocol::{
    AnswerRequest, AskRequest, InboxDoc, Problem, ReceivedRequest, SendRequest,
};

use super::app::App;
use super::body::parse;
use super::commands::{From, Order, Shared, name};
use super::peer::Caller;
use super::reply::reply;
use super::scope::{Scope, forbidden, scope_of};
use crate::engine::{Command, Wording};
use crate::views::InboxQuery;

/// Longest question, answer or message, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Answers that one question may offer.
const CHOICES_MAX: usize = 20;
/// Longest of them, in bytes.
const CHOICE_BYTES_MAX: usize = 400;

/// Query of `GET /inbox`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Inbox {
    run: Option<String>,
    #[serde(default)]
    all: bool,
}

pub(super) async fn ask(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let job = own_job(&order.scope)?;
        let request: AskRequest = parse(&body)?;
        let text = plain("question", &request.question, TEXT_BYTES_MAX)?;
        if request.choices.len() > CHOICES_MAX {
            let message = format!("`choices` has {CHOICES_MAX} entries at most");
            return Err(Problem::invalid_input(message));
        }
        let choice = |text: &String| plain("choices", text, CHOICE_BYTES_MAX);
        let choices = request.choices.iter().map(choice).collect::<Result<_, _>>()?;
        let waits = request.waits;
        order.give("ask", Command::Ask { job, text, choices, waits }).await
    };
    reply(work.await)
}

pub(super) async fn answer(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<AnswerRequest>()?;
        let answer = match (request.text, request.choice) {
            (Some(text), None) => Wording::Text(plain("text", &text, TEXT_BYTES_MAX)?),
            (None, Some(choice)) => Wording::Choice(choice),
            (None, None) | (Some(_), Some(_)) => {
                return Err(Problem::invalid_input("an answer has `text` or `choice`"));
            }
        };
        let question = question(&order, &id).await?;
        let what = format!("answer {question}");
        order.give(&what, Command::AnswerQuestion { question, answer, actor }).await
    };
    reply(work.await)
}

pub(super) async fn send(
    State(app): Shared,
    ConnectInfo(caller): From,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<SendRequest>()?;
        let feature = name(&request.feature, FeatureId::new)?;
        let text = plain("message", &request.message, TEXT_BYTES_MAX)?;
        let run = order.run(&id).await?;
        let what = format!("send {run}");
        let interrupts = request.interrupt;
        order.give(&what, Command::Send { run, feature, text, interrupts, actor }).await
    };
    reply(work.await)
}

pub(super) async fn received(
    State(app): Shared,
    ConnectInfo(caller): From,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let job = own_job(&order.scope)?;
        let request: ReceivedRequest = parse(&body)?;
        let (messages, acted) = (request.messages, request.acted);
        order.give("receive", Command::Receive { job, messages, acted }).await
    };
    reply(work.await)
}

pub(super) async fn inbox(
    State(app): Shared,
    ConnectInfo(caller): From,
    query: Result<Query<Inbox>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let query = query.map(|Query(query)| query);
    let query = query.map_err(|error| Problem::invalid_input(error.body_text()));
    reply(look(&app, &caller, query).await)
}

async fn look(
    app: &Arc<App>,
    caller: &Caller,
    query: Result<Inbox, Problem>,
) -> Result<InboxDoc, Problem> {
    let scope = scope_of(app, caller)?;
    let Inbox { run, all } = query?;
    match scope {
        Scope::User { .. } => {
            let query = InboxQuery { run, all };
            app.look(move |viewer| viewer.inbox(&query)).await
        }
        Scope::Job(job) => app.look(move |viewer| viewer.inbox_of_job(&job)).await,
    }
}

/// The job that the caller is a part of.
fn own_job(scope: &Scope) -> Result<JobId, Problem> {
    match scope {
        Scope::Job(job) => Ok(job.clone()),
        Scope::User { .. } => {
            Err(forbidden("only a process inside a job does this, for its own job")
                .hint("`tidegate send` tells an agent something, `tidegate answer` answers it"))
        }
    }
}

/// The question that a path names, its run perhaps by the beginning of its id.
async fn question(order: &Order<'_>, text: &str) -> Result<QuestionId, Problem> {
    let wrong = || Problem::invalid_input("a question is named as `<run>-q<number>`");
    let (run, number) = text.split_once("-q").ok_or_else(wrong)?;
    let run = order.run(run).await?;
    QuestionId::parse(&format!("{run}-q{number}")).map_err(|_| wrong())
}

/// Text without control characters but ends of lines and tabs: it is shown in terminals, and typed
/// into them.
fn plain(field: &str, text: &str, bytes_max: usize) -> Result<String, Problem> {
    let text = text.trim();
    let odd = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if text.is_empty() || text.len() > bytes_max || text.chars().any(odd) {
        let message =
            format!("`{field}` has 1 to {bytes_max} bytes, none a control but ends of lines");
        return Err(Problem::invalid_input(message));
    }
    Ok(text.to_owned())
}
