//! A served home, a client of bytes, and the engine's end of the inbox in the hands of the test.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tidegate_core::time::WallMs;
use tidegate_git::{Git, StdExec};
use tidegate_protocol::VERSION;

use crate::engine::{Answer, Command, Handle, Idempotency, Inbox, Message, inbox};
use crate::http::{Server, Site, start};
use crate::views::tests::home::TestHome;

/// How long a test waits for what must come.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A home with its server; the test answers for the engine.
pub(super) struct Served {
    pub(super) home: TestHome,
    pub(super) handle: Handle,
    pub(super) inbox: Inbox,
    server: Option<Server>,
    socket: PathBuf,
}

impl Served {
    pub(super) fn new() -> Self {
        Self::of(TestHome::new())
    }

    pub(super) fn of(home: TestHome) -> Self {
        let socket = home.path().join("daemon.sock");
        let (handle, _, inbox) = inbox(home.path());
        let site = Site {
            handle: handle.clone(),
            home_id: home.home_id(),
            git: Git::new(Arc::new(StdExec)),
            version: VERSION,
            supervisor: "home-1".into(),
            token: (0, 1),
            started_at: WallMs(0),
        };
        let server = start(UnixListener::bind(&socket).unwrap(), site).unwrap();
        Self { home, handle, inbox, server: Some(server), socket }
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Sends a request from another thread, so that the test can be the engine meanwhile.
    pub(super) fn send(&self, method: &str, path: &str, body: &str) -> JoinHandle<Reply> {
        self.send_with(method, path, &[], body)
    }

    pub(super) fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> JoinHandle<Reply> {
        let socket = self.socket.clone();
        let request = request(method, path, headers, body);
        std::thread::spawn(move || exchange(&socket, &request))
    }

    /// Sends a request and waits for an answer that needs no engine.
    pub(super) fn ask(&self, method: &str, path: &str, body: &str) -> Reply {
        self.send(method, path, body).join().unwrap()
    }

    /// The next command, answered with `answer`.
    pub(super) fn engine(&self, answer: Answer) -> (Command, Option<Idempotency>) {
        let mut taken = self.inbox.take(1, Some(PATIENCE)).unwrap();
        match taken.pop() {
            Some(Message::Request(request)) => {
                request.reply.send(answer).unwrap();
                (request.command, request.idempotency)
            }
            Some(other) => panic!("expected a request, not {other:?}"),
            None => panic!("no request came"),
        }
    }

    /// The next message, whatever it is.
    pub(super) fn message(&self) -> Option<Message> {
        self.inbox.take(1, Some(PATIENCE)).unwrap().pop()
    }

    /// Whether nothing has reached the engine.
    pub(super) fn is_idle(&self) -> bool {
        self.inbox.take(1, Some(Duration::ZERO)).unwrap().is_empty()
    }

    pub(super) fn stop(&mut self) {
        self.server.take().unwrap().stop();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Reply {
    /// The code of a refusal; its envelope is checked on the way.
    pub(super) fn code(&self) -> &str {
        assert_eq!(self.body["ok"], false, "{self:?}");
        let details = &self.body["error"]["details"];
        assert!(details["retryable"].is_boolean() && details["requires_human"].is_boolean());
        assert!(self.status >= 400, "{self:?}");
        self.body["error"]["code"].as_str().unwrap()
    }

    /// The data of an answer.
    pub(super) fn data(&self) -> &Value {
        assert_eq!((self.status, &self.body["ok"]), (200, &Value::Bool(true)), "{self:?}");
        &self.body["data"]
    }
}

pub(super) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nhost: tidegate\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.extend([*name, ": ", *value, "\r\n"]);
    }
    text + "\r\n" + body
}

/// Sends bytes and reads the answer to its end.
pub(super) fn exchange(socket: &Path, request: &str) -> Reply {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // A server that refuses early may close before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, body: serde_json::from_str(body).unwrap() }
}
