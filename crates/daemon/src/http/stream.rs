//! `GET /events`: a page, or a stream that goes on. Woken by the engine after each durable group;
//! it never asks on a timer.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use tidegate_protocol::{EventPage, EventView, Problem, STREAM_HEARTBEAT_MS};
use tidegate_store::EventFilter;
use tokio::sync::watch;

use super::app::{App, block};
use super::peer::Caller;
use super::reply;
use super::scope::{Scope, forbidden, scope_of};
use crate::views::{EventQuery, Viewer};

/// Events that are read and sent together.
const CHUNK: u32 = 500;

pub(super) async fn events(
    State(app): State<Arc<App>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let asked = query_of(query.as_deref().unwrap_or_default())
        .and_then(|query| resume(query, &headers))
        .and_then(|query| narrow(query, &scope_of(&app, &caller)?));
    let query = match asked {
        Ok(query) => query,
        Err(refusal) => return reply::problem(refusal),
    };
    let wants_stream = headers
        .get(header::ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/event-stream"));
    if wants_stream { follow(&app, query).await } else { page(&app, query).await }
}

async fn page(app: &App, query: EventQuery) -> Response {
    let found: Result<EventPage, Problem> = app.look(move |viewer| viewer.events(&query)).await;
    reply::reply(found)
}

/// Reads `after`, `run`, `feature`, `kind` (several by commas or repetition), `since` and `until`
/// (milliseconds since the Unix epoch) and `limit`.
fn query_of(text: &str) -> Result<EventQuery, Problem> {
    let mut query = EventQuery::default();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let number = || {
            value.parse::<u64>().map_err(|_| {
                Problem::invalid_input(format!("`{}` is not a number", key.escape_debug()))
            })
        };
        match key {
            "after" => query.after = number()?,
            "limit" => query.limit = Some(u32::try_from(number()?).unwrap_or(u32::MAX)),
            "since" => query.since = Some(number()?),
            "until" => query.until = Some(number()?),
            "run" => query.run = Some(value.to_owned()),
            "feature" => query.feature = Some(value.to_owned()),
            "kind" | "kinds" => {
                let kinds = value.split(',').filter(|kind| !kind.is_empty());
                query.kinds.extend(kinds.map(str::to_owned));
            }
            _ => {
                let message = format!("`{}` is no field of this query", key.escape_debug());
                return Err(Problem::invalid_input(message));
            }
        }
    }
    Ok(query)
}

/// A client that comes back says what it has seen.
fn resume(mut query: EventQuery, headers: &HeaderMap) -> Result<EventQuery, Problem> {
    if let Some(last) = headers.get("last-event-id") {
        let last = last.to_str().ok().and_then(|last| last.trim().parse().ok());
        query.after = last.ok_or_else(|| {
            Problem::invalid_input("`Last-Event-ID` is not the number of an event")
        })?;
    }
    Ok(query)
}

/// A job sees the events of its own run.
fn narrow(mut query: EventQuery, scope: &Scope) -> Result<EventQuery, Problem> {
    let Scope::Job(job) = scope else { return Ok(query) };
    let own = job.run().as_str();
    match &query.run {
        Some(run) if run != own => Err(forbidden("a process inside a job reads its own run only")),
        Some(_) | None => {
            query.run = Some(own.to_owned());
            Ok(query)
        }
    }
}

/// A stream at work.
struct Follow {
    viewer: Option<Viewer>,
    filter: EventFilter,
    after: u64,
    seq: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
}

async fn follow(app: &App, query: EventQuery) -> Response {
    let (seq, stopping) = (app.site.handle.seq(), app.stopping.clone());
    let after = query.after;
    let opened = app.look(move |viewer| viewer.event_filter(&query)).await;
    let home = app.site.handle.home().to_owned();
    let opened = match opened {
        Ok(filter) => block(move || Ok((Viewer::open(&home)?, filter))).await,
        Err(refusal) => Err(refusal),
    };
    let (viewer, filter) = match opened {
        Ok(opened) => opened,
        Err(refusal) => return reply::problem(refusal),
    };
    let follow = Follow { viewer: Some(viewer), filter, after, seq, stopping };
    let chunks = stream::unfold(follow, |mut follow| async move {
        let chunk = follow.next_chunk().await?;
        Some((Ok::<Bytes, Infallible>(chunk), follow))
    });
    // A first comment sends the head at once: the client knows that it is connected.
    let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b": here\n\n")) });
    let body = Body::from_stream(futures_util::StreamExt::chain(first, chunks));
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    let store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, store);
    response
}

impl Follow {
    /// The next bytes: events as soon as there are any, a comment when there are none for long.
    /// `None` ends the stream.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            if *self.stopping.borrow() {
                return None;
            }
            // Before the read: what becomes durable after it wakes the wait below.
            self.seq.mark_unchanged();
            match self.read().await {
                Ok(events) if events.is_empty() => {}
                Ok(events) => {
                    self.after = events.last().map_or(self.after, |event| event.seq);
                    return Some(render(&events));
                }
                Err(refusal) => {
                    tracing::warn!(%refusal, "a stream of events ends");
                    return None;
                }
            }
            tokio::select! {
                changed = self.seq.changed() => changed.ok()?,
                _ = self.stopping.wait_for(|stop| *stop) => return None,
                () = tokio::time::sleep(Duration::from_millis(STREAM_HEARTBEAT_MS)) => {
                    return Some(Bytes::from_static(b": beat\n\n"));
                }
            }
        }
    }

    async fn read(&mut self) -> Result<Vec<EventView>, Problem> {
        let mut viewer = self.viewer.take().ok_or_else(super::app::stopping)?;
        let (after, filter) = (self.after, self.filter.clone());
        let (viewer, page) = block(move || {
            let page = viewer.events_after(after, &filter, CHUNK);
            Ok((viewer, page))
        })
        .await?;
        self.viewer = Some(viewer);
        Ok(page?.events)
    }
}

fn render(events: &[EventView]) -> Bytes {
    let mut text = String::new();
    for event in events {
        let data = serde_json::to_string(event).unwrap_or_default();
        // JSON without line breaks is one line of data.
        let _ = write!(text, "id: {}\nevent: {}\ndata: {data}\n\n", event.seq, event.kind);
    }
    Bytes::from(text)
}
