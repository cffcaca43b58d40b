//! Streams of events: everything once, in order, at once, and from where the client left off.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::Value;
use tidegate_core::run::Input;

use super::served::{PATIENCE, Served, request};
use crate::views::tests::home::TestHome;
use crate::views::tests::works::launcher;

/// A stream that is read line by line; chunk sizes are passed over.
struct Feed {
    lines: BufReader<UnixStream>,
}

impl Feed {
    fn open(served: &Served, query: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = UnixStream::connect(served.socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut all = vec![("accept", "text/event-stream")];
        all.extend(headers);
        let path = format!("/api/v1/events{query}");
        stream.write_all(request("GET", &path, &all, "").as_bytes()).unwrap();
        let mut feed = Self { lines: BufReader::new(stream) };
        assert!(feed.line().unwrap().starts_with("HTTP/1.1 200"));
        while feed.line().unwrap() != ": here" {}
        feed
    }

    /// The next line; `None` at the end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.lines.read_line(&mut line).unwrap();
        (length > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event: its id, its name, its data.
    fn event(&mut self) -> Option<(u64, String, Value)> {
        let (mut id, mut kind) = (None, None);
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("id", value)) => id = value.parse().ok(),
                Some(("event", value)) => kind = Some(value.to_owned()),
                Some(("data", value)) => {
                    return Some((id?, kind?, serde_json::from_str(value).unwrap()));
                }
                Some(_) | None => {}
            }
        }
    }
}

#[test]
fn stream_goes_on_where_the_page_ended_and_wakes_by_itself() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, launcher(None, None, 1));
    let mut served = Served::of(home);
    let mut feed = Feed::open(&served, &format!("?run={}", run.id), &[]);
    let (first, kind, data) = feed.event().unwrap();
    assert_eq!((kind.as_str(), &data["runId"]), ("submitted", &Value::from(run.id.as_str())));
    assert_eq!(data["seq"], first);

    // Another run's events do not wake this reader with anything.
    served.home.submit("side", None, launcher(None, None, 1));
    served.home.claim(&mut run);
    served.inbox.publish(100);
    let (second, kind, _) = feed.event().unwrap();
    assert_eq!(kind, "daemon-claimed");
    assert!(second > first);
    assert_eq!(feed.event().unwrap().1, "job-created");

    served.home.input(&mut run, &Input::Cancel { actor: "ada".into() });
    served.inbox.publish(101);
    assert_eq!(feed.event().unwrap().1, "cancel-requested");

    let resumed = [("last-event-id", second.to_string())];
    let headers: Vec<(&str, &str)> = resumed.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let mut again = Feed::open(&served, &format!("?run={}", run.id), &headers);
    assert_eq!(again.event().unwrap().1, "job-created");

    served.stop();
    while feed.event().is_some() {}
    assert_eq!(feed.line(), None, "the stream ends with the server");
}

#[test]
fn stream_of_kinds_has_no_others() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, launcher(None, None, 1));
    home.claim(&mut run);
    home.submit("side", None, launcher(None, None, 1));
    let served = Served::of(home);
    let mut feed = Feed::open(&served, "?kind=submitted,daemon-claimed", &[]);
    let kinds: Vec<String> = (0..3).map(|_| feed.event().unwrap().1).collect();
    assert_eq!(kinds, ["submitted", "daemon-claimed", "submitted"]);
}

#[test]
fn page_of_events_is_asked_without_the_header() {
    let mut home = TestHome::new();
    let run = home.submit("main", None, launcher(None, None, 1));
    let served = Served::of(home);
    let path = format!("/api/v1/events?run={}&limit=1", run.id);
    let reply = served.ask("GET", &path, "");
    assert_eq!(reply.data()["events"][0]["type"], "submitted");
    let bad = served.send_with(
        "GET",
        &path,
        &[("accept", "text/event-stream"), ("last-event-id", "x")],
        "",
    );
    assert_eq!(bad.join().unwrap().code(), "invalid_input");
}
