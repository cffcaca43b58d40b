//! The client against daemons that break off, are busy, or come back.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_protocol::{ErrorCode, EventView};

use super::{Client, Feed, Filter, Starting, Wake};
use crate::home::Home;

/// What the daemon does with one connection.
enum Act {
    /// Reads the request and breaks off.
    BreakOff,
    /// Answers with these bytes and ends the connection.
    Answer(String),
}

/// A daemon that does one thing per connection, and gives the requests that it read.
fn daemon(acts: Vec<Act>) -> (TempDir, Home, JoinHandle<Vec<String>>) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(dir.path())).unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    let serve = move || {
        let mut requests = Vec::new();
        for act in acts {
            let (mut stream, asked) = loop {
                let (mut stream, _) = listener.accept().unwrap();
                let asked = request(&mut stream);
                // A follower asks beside its stream whether anybody is there.
                if !asked.starts_with("GET /healthz ") {
                    break (stream, asked);
                }
            };
            requests.push(asked);
            match act {
                Act::BreakOff => {}
                Act::Answer(answer) => stream.write_all(answer.as_bytes()).unwrap(),
            }
        }
        requests
    };
    (dir, home, std::thread::spawn(serve))
}

/// The head of a request, and its body.
fn request(stream: &mut UnixStream) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with("\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        text.push(char::from(byte[0]));
    }
    let length = header(&text, "content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    text + &String::from_utf8(body).unwrap()
}

fn header(request: &str, name: &str) -> Option<String> {
    let lines = request.lines().filter_map(|line| line.split_once(": "));
    let mut named = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.to_owned())
}

fn answer(status: u16, body: &Value) -> Act {
    let body = body.to_string();
    let length = body.len();
    Act::Answer(format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n\r\n{body}"))
}

fn refusal(code: ErrorCode) -> Act {
    let problem = tidegate_protocol::Problem::new(code, "no");
    answer(code.http_status(), &json!({ "ok": false, "error": problem }))
}

fn fine() -> Act {
    answer(200, &json!({ "ok": true, "data": { "runId": "r1" } }))
}

#[test]
fn command_whose_connection_breaks_is_sent_again_under_the_same_key() {
    let (_dir, home, daemon) =
        daemon(vec![Act::BreakOff, refusal(ErrorCode::Busy), Act::BreakOff, fine()]);
    let client = Client::new(&home).unwrap();
    let body = json!({ "a": 1 });
    let data: Value = client.post("/runs", &body, Starting::Never).unwrap();
    assert_eq!(data, json!({ "runId": "r1" }));
    let requests = daemon.join().unwrap();
    let keys: Vec<_> = requests.iter().map(|one| header(one, "idempotency-key")).collect();
    assert_eq!(keys.len(), 4);
    assert!(keys[0].as_ref().is_some_and(|key| key.len() == 32), "{keys:?}");
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert!(requests.iter().all(|one| one.starts_with("POST /api/v1/runs ")), "{requests:?}");
    assert!(requests.iter().all(|one| one.ends_with(r#"{"a":1}"#)), "{requests:?}");
}

#[test]
fn two_commands_have_two_keys() {
    let (_dir, home, daemon) = daemon(vec![fine(), fine()]);
    let client = Client::new(&home).unwrap();
    for _ in 0..2 {
        let _: Value = client.post("/runs", &json!({}), Starting::Never).unwrap();
    }
    let requests = daemon.join().unwrap();
    assert_ne!(header(&requests[0], "idempotency-key"), header(&requests[1], "idempotency-key"));
}

#[test]
fn refusal_is_given_as_it_is() {
    let (_dir, home, daemon) = daemon(vec![refusal(ErrorCode::InvalidStatusTransition)]);
    let client = Client::new(&home).unwrap();
    let error = client.post::<Value>("/runs/r1/cancel", &json!({}), Starting::Never).unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::InvalidStatusTransition));
    daemon.join().unwrap();
}

#[test]
fn command_without_a_daemon_is_unreachable_and_may_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(dir.path())).unwrap();
    let client = Client::new(&home).unwrap();
    let error = client.post::<Value>("/runs", &json!({}), Starting::Never).unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::DaemonUnreachable));
    assert_eq!(error.exit().code(), 4);
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none(), "the home stays empty");
}

fn stream(events: &[u64]) -> Act {
    let events: Vec<String> = events.iter().map(|seq| sse(*seq)).collect();
    // Without a length the stream lasts until the connection ends.
    Act::Answer(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hi\n\n{}",
        events.concat()
    ))
}

fn sse(seq: u64) -> String {
    let data = json!({
        "seq": seq, "n": seq, "subject": "run:r1", "type": "submitted", "runId": "r1",
        "feature": null, "recordedAt": "2026-01-31T09:15:00.250Z",
    });
    format!("id: {seq}\nevent: submitted\ndata: {data}\n\n")
}

#[test]
fn follower_goes_on_behind_what_it_saw() {
    let (_dir, home, daemon) = daemon(vec![stream(&[3, 5]), stream(&[]), stream(&[8])]);
    let client = Client::new(&home).unwrap();
    let seen: Vec<u64> = client.block_on(async {
        let filter = Filter { run: Some("r1".to_owned()), ..Filter::default() };
        let mut feed = Feed::new(&home, filter).unwrap();
        let mut seen = Vec::new();
        while seen.last() != Some(&8) {
            match feed.next(None, std::future::pending()).await.unwrap() {
                Wake::Events(events) => {
                    seen.extend(events.iter().map(|event: &EventView| event.seq));
                }
                Wake::Connected => {}
                Wake::Extra | Wake::Interrupted | Wake::TimedOut => panic!("nothing else happens"),
            }
        }
        seen
    });
    assert_eq!(seen, [3, 5, 8]);
    let requests = daemon.join().unwrap();
    let asked: Vec<&str> = requests.iter().filter_map(|one| one.split(' ').nth(1)).collect();
    let path = "/api/v1/events";
    let expected = [0, 5, 5].map(|after| format!("{path}?after={after}&run=r1"));
    assert_eq!(asked, expected);
    assert!(
        requests.iter().all(|one| header(one, "accept").as_deref() == Some("text/event-stream"))
    );
}

#[test]
fn follower_ends_at_its_deadline() {
    // Nobody listens any more after the first connection, and the deadline has passed by then.
    let (_dir, home, daemon) = daemon(vec![stream(&[])]);
    let client = Client::new(&home).unwrap();
    client.block_on(async {
        let mut feed = Feed::new(&home, Filter::default()).unwrap();
        assert!(matches!(feed.next(None, std::future::pending()).await, Ok(Wake::Connected)));
        let past = Some(tokio::time::Instant::now());
        let woken = feed.next(past, std::future::pending()).await;
        assert!(matches!(woken, Ok(Wake::TimedOut)), "{woken:?}");
    });
    daemon.join().unwrap();
}
