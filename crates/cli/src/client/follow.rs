//! Following the events of a home: pushed by the daemon, over any number of its lives. A daemon
//! that died is started again; what was seen is not seen twice.

use std::fmt::Write;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use tidegate_protocol::{API_PREFIX, EventView, STREAM_HEARTBEAT_MS, VERSION, VERSION_HEADER};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, timeout};

use super::command::{Starting, unreachable};
use super::connection::{Trouble, envelope, send};
use super::sse::Parser;
use super::start;
use super::vigil::Vigil;
use crate::error::CliError;
use crate::home::Home;

/// Silence after which a stream counts as broken: three heartbeats.
const SILENCE_LIMIT: Duration = Duration::from_millis(3 * STREAM_HEARTBEAT_MS);
/// How long the head of the answer is waited for.
const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// How long another daemon is waited for, before one is started: `daemon restart` brings its own.
const SUCCESSOR_LIMIT: Duration = Duration::from_millis(500);
/// Pause between two tries to connect.
const PAUSE: Duration = Duration::from_millis(10);
/// Tries in a row that end without a single event, before the follower gives up.
const FAILURES_MAX: u32 = 20;

/// Which events are followed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Only those of a run.
    pub(crate) run: Option<String>,
    /// Only those of a feature of the run.
    pub(crate) feature: Option<String>,
    /// Only those of these kinds; all when empty.
    pub(crate) kinds: Vec<String>,
    /// Only those recorded then or later, in milliseconds since the Unix epoch.
    pub(crate) since: Option<u64>,
    /// Only those recorded before then, in milliseconds since the Unix epoch.
    pub(crate) until: Option<u64>,
    /// Only those with a higher number.
    pub(crate) after: u64,
}

/// Why a follower woke up.
#[derive(Debug)]
pub(crate) enum Wake {
    /// The stream is open: what is recorded from now on will come. Look at the state now.
    Connected,
    /// These were recorded.
    Events(Vec<EventView>),
    /// What the caller waits for beside the events has happened.
    Extra,
    /// Ctrl-C.
    Interrupted,
    /// The deadline passed.
    TimedOut,
}

/// A stream of events. It must be used within the client's runtime.
pub(crate) struct Feed<'h> {
    home: &'h Home,
    filter: Filter,
    open: Option<(Incoming, Parser)>,
    was_open: bool,
    failures: u32,
    interrupt: Signal,
    _vigil: Vigil,
}

impl<'h> Feed<'h> {
    /// Prepares to follow; the first [`Feed::next`] connects. From now on Ctrl-C is an answer of
    /// [`Feed::next`], not the end of the program.
    ///
    /// # Errors
    /// When the signal cannot be listened for.
    pub(crate) fn new(home: &'h Home, filter: Filter) -> Result<Self, CliError> {
        let interrupt = signal(SignalKind::interrupt()).map_err(CliError::bug)?;
        let vigil = Vigil::begin(home);
        let open = None;
        Ok(Self { home, filter, open, was_open: false, failures: 0, interrupt, _vigil: vigil })
    }

    /// The number of the newest event that was seen.
    pub(crate) fn after(&self) -> u64 {
        self.filter.after
    }

    /// Waits for what happens first: events, `extra`, Ctrl-C, or the deadline.
    ///
    /// # Errors
    /// A refusal of the daemon, or that none answers and none can be started.
    pub(crate) async fn next(
        &mut self,
        deadline: Option<Instant>,
        extra: impl Future<Output = ()>,
    ) -> Result<Wake, CliError> {
        let Self { home, filter, open, was_open, failures, interrupt, _vigil } = self;
        let mut stream = Stream { home, filter, open, was_open, failures };
        let passed = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = interrupt.recv() => Ok(Wake::Interrupted),
            wake = stream.next() => wake,
            () = extra => Ok(Wake::Extra),
            () = passed => Ok(Wake::TimedOut),
        }
    }
}

/// The stream itself, borrowed from its feed beside the signal.
struct Stream<'f> {
    home: &'f Home,
    filter: &'f mut Filter,
    open: &'f mut Option<(Incoming, Parser)>,
    was_open: &'f mut bool,
    failures: &'f mut u32,
}

impl Stream<'_> {
    async fn next(&mut self) -> Result<Wake, CliError> {
        loop {
            let Some((body, parser)) = self.open.as_mut() else {
                self.connect().await?;
                *self.was_open = true;
                return Ok(Wake::Connected);
            };
            let Ok(Some(Ok(frame))) = timeout(SILENCE_LIMIT, body.frame()).await else {
                *self.open = None;
                continue;
            };
            let Ok(chunk) = frame.into_data() else { continue };
            let Ok(events) = parser.push(&chunk) else {
                *self.open = None;
                continue;
            };
            let events: Vec<EventView> =
                events.iter().filter_map(|event| serde_json::from_str(&event.data).ok()).collect();
            if let Some(last) = events.last() {
                self.filter.after = self.filter.after.max(last.seq);
                *self.failures = 0;
                return Ok(Wake::Events(events));
            }
        }
    }

    async fn connect(&mut self) -> Result<(), CliError> {
        let successor = Instant::now() + SUCCESSOR_LIMIT;
        loop {
            match send(self.home, self.request()?, HEAD_LIMIT).await {
                Ok(response) if response.status().is_success() => {
                    *self.open = Some((response.into_body(), Parser::default()));
                    return Ok(());
                }
                Ok(response) => {
                    if let Ok(Err(problem)) = envelope(response, HEAD_LIMIT).await
                        && !problem.details.retryable
                    {
                        return Err(problem.into());
                    }
                    self.count_failure("the daemon refuses the stream")?;
                }
                Err(Trouble::Absent(_)) if *self.was_open && Instant::now() < successor => {}
                Err(Trouble::Absent(_)) => {
                    self.count_failure("the daemon ends again and again right after its start")?;
                    self.start().await?;
                }
                Err(trouble @ (Trouble::Broken(_) | Trouble::Silent(_) | Trouble::Garbled(_))) => {
                    self.count_failure(&trouble.to_string())?;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Starts a daemon without keeping Ctrl-C waiting.
    async fn start(&self) -> Result<(), CliError> {
        let home = self.home.clone();
        let started =
            tokio::task::spawn_blocking(move || start::ensure(&home, Starting::WhenAbsent));
        started.await.map_err(CliError::bug)?.map(|_| ())
    }

    fn count_failure(&mut self, why: &str) -> Result<(), CliError> {
        *self.failures += 1;
        if *self.failures > FAILURES_MAX { Err(unreachable(why, self.home)) } else { Ok(()) }
    }

    fn request(&self) -> Result<Request<Full<Bytes>>, CliError> {
        Request::get(format!("{API_PREFIX}/events?{}", self.filter.query()))
            .header("host", "tidegate")
            .header("accept", "text/event-stream")
            .header(VERSION_HEADER, VERSION)
            .body(Full::default())
            .map_err(CliError::bug)
    }
}

impl Filter {
    /// The query of the route. Its values are names and numbers, which need no escapes.
    fn query(&self) -> String {
        let named = [("run", &self.run), ("feature", &self.feature)];
        let mut query = format!("after={}", self.after);
        for (key, value) in named {
            if let Some(value) = value {
                let _ = write!(query, "&{key}={value}");
            }
        }
        if !self.kinds.is_empty() {
            let _ = write!(query, "&kind={}", self.kinds.join(","));
        }
        for (key, moment) in [("since", self.since), ("until", self.until)] {
            if let Some(moment) = moment {
                let _ = write!(query, "&{key}={moment}");
            }
        }
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_of_each_field_is_in_the_query() {
        assert_eq!(Filter::default().query(), "after=0");
        let filter = Filter {
            run: Some("r0000010000".into()),
            feature: Some("berths".into()),
            kinds: vec!["submitted".into(), "landed".into()],
            since: Some(5),
            until: Some(9),
            after: 7,
        };
        let told = "after=7&run=r0000010000&feature=berths&kind=submitted,landed&since=5&until=9";
        assert_eq!(filter.query(), told);
    }
}
