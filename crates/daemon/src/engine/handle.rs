//! The way into the engine: cheap to clone, never blocks.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tidegate_core::ids::RunId;
use tidegate_core::run::{EffectKey, Report};
use tidegate_protocol::{ErrorCode, Problem};
use tokio::sync::{oneshot, watch};

use super::command::{Command, Idempotency};

/// Requests of clients that may wait at once; a further one is answered `busy`.
const REQUESTS_MAX: usize = 1024;

/// The answer to a request.
pub type Answer = Result<serde_json::Value, Problem>;

/// A request and the place for its answer.
#[derive(Debug)]
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// Its name, where the client gave one.
    pub idempotency: Option<Idempotency>,
    /// Where the answer goes.
    pub reply: oneshot::Sender<Answer>,
}

/// Everything that reaches the engine.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "messages are handed on, never kept in numbers")]
pub enum Message {
    /// A client's request.
    Request(Box<Request>),
    /// What an adapter saw.
    Report {
        /// Of which run.
        run: RunId,
        /// The effect that it answers; a report without one is an observation.
        key: Option<EffectKey>,
        /// What.
        report: Report,
    },
    /// Are you there? The sender is dropped when the engine comes to it, and nothing is written.
    Beat(std::sync::mpsc::Sender<()>),
    /// End in good order; with `true` only once nothing runs or waits.
    Stop {
        /// Whether to wait for idle.
        drain: bool,
    },
}

/// The way in for clients.
#[derive(Debug, Clone)]
pub struct Handle {
    inbox: Sender<Message>,
    waiting: Arc<AtomicUsize>,
    seq: watch::Receiver<u64>,
    home: Arc<PathBuf>,
}

/// The way in for adapters: never refused, since there are no more reports than effects.
#[derive(Debug, Clone)]
pub struct Reports {
    inbox: Sender<Message>,
    waiting: Arc<AtomicUsize>,
}

/// The engine's end of the inbox.
#[derive(Debug)]
pub struct Inbox {
    messages: Receiver<Message>,
    waiting: Arc<AtomicUsize>,
    seq: watch::Sender<u64>,
    /// Whether the last group had several requests: then more are on their way.
    crowded: Cell<bool>,
}

/// How long a group waits for further requests while several clients send at once: a commit that
/// they share costs each of them less than one of its own.
const GATHER: Duration = Duration::from_millis(2);

/// Makes an inbox for the engine of `home`, and the ways into it.
pub fn inbox(home: &Path) -> (Handle, Reports, Inbox) {
    let (sender, messages) = channel();
    let (seq_sender, seq) = watch::channel(0);
    let waiting = Arc::new(AtomicUsize::new(0));
    let handle = Handle {
        inbox: sender.clone(),
        waiting: Arc::clone(&waiting),
        seq,
        home: Arc::new(home.to_owned()),
    };
    (
        handle,
        Reports { inbox: sender, waiting: Arc::clone(&waiting) },
        Inbox { messages, waiting, seq: seq_sender, crowded: Cell::new(false) },
    )
}

impl Handle {
    /// Hands a request to the engine. The receiver gets the answer after it is durable.
    pub fn call(
        &self,
        command: Command,
        idempotency: Option<Idempotency>,
    ) -> oneshot::Receiver<Answer> {
        let (reply, answer) = oneshot::channel();
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= REQUESTS_MAX {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            let problem = Problem::new(ErrorCode::Busy, "too many requests wait for the engine");
            let _ = reply.send(Err(problem));
            return answer;
        }
        let request = Box::new(Request { command, idempotency, reply });
        // When the engine is gone the reply is dropped with the request, and the receiver sees it.
        if self.inbox.send(Message::Request(request)).is_err() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        answer
    }

    /// The sequence number of the newest durable event.
    pub fn seq(&self) -> watch::Receiver<u64> {
        self.seq.clone()
    }

    /// The home's directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Whether the engine comes to what it is sent within `patience`. It writes nothing for it.
    pub fn beats_within(&self, patience: Duration) -> bool {
        let (sender, beat) = channel();
        let sent = self.inbox.send(Message::Beat(sender)).is_ok();
        sent && matches!(beat.recv_timeout(patience), Err(RecvTimeoutError::Disconnected))
    }

    /// Asks the engine to end; with `drain` only once nothing runs or waits.
    pub fn stop(&self, drain: bool) {
        // An engine that is gone has ended already.
        let _ = self.inbox.send(Message::Stop { drain });
    }
}

impl Reports {
    /// Hands an observation to the engine.
    pub fn send(&self, run: RunId, report: Report) {
        // An engine that is gone is replaced by one that observes anew.
        let _ = self.inbox.send(Message::Report { run, key: None, report });
    }

    /// Hands a command of the daemon's own to the engine and waits until it is durable; `None` when the engine is gone.
    pub fn record(&self, command: Command) -> Option<Answer> {
        let (reply, answer) = oneshot::channel();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let request = Box::new(Request { command, idempotency: None, reply });
        if self.inbox.send(Message::Request(request)).is_err() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        answer.blocking_recv().ok()
    }

    /// Hands the answer to an effect to the engine; it counts only while the effect is open.
    pub fn answer(&self, run: RunId, key: EffectKey, report: Report) {
        let _ = self.inbox.send(Message::Report { run, key: Some(key), report });
    }
}

impl Inbox {
    /// Waits for the next message, for `wait` at the most where it is given, and takes what else
    /// is there, `most` in all. `None` when nobody is left who could send.
    pub fn take(&self, most: usize, wait: Option<Duration>) -> Option<Vec<Message>> {
        let mut taken = Vec::new();
        match wait {
            None => taken.push(self.messages.recv().ok()?),
            Some(wait) => match self.messages.recv_timeout(wait) {
                Ok(message) => taken.push(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            },
        }
        let gather = if self.crowded.get() { GATHER } else { Duration::ZERO };
        let until = Instant::now() + gather;
        while taken.len() < most {
            let rest = until.saturating_duration_since(Instant::now());
            let Ok(next) = self.messages.recv_timeout(rest) else { break };
            taken.push(next);
        }
        let requests = taken.iter().filter(|message| matches!(message, Message::Request(_)));
        let count = requests.count();
        self.crowded.set(count > 1);
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        Some(taken)
    }

    /// Tells followers that events up to `seq` are durable.
    pub fn publish(&self, seq: u64) {
        self.seq.send_replace(seq);
    }
}
