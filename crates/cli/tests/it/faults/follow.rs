//! Follows the events of a run until a moment comes, by the product's own stream.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

use serde_json::Value;

use super::fault::Moment;
use crate::harness::{Home, LIMIT};

/// Kinds of the last event of a run.
const ENDS: &[&str] = &["run-completed", "run-failed", "run-cancelled"];

/// A follower of one run.
pub(super) struct Follower {
    child: Child,
    lines: Receiver<String>,
}

impl Follower {
    /// Starts to follow a run from its first event.
    pub(super) fn of(home: &Home, run: &str) -> Self {
        let mut call = home.call(&["--json", "events", "-f", run]);
        call.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = call.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits for a moment. False when the run ended before it came.
    pub(super) fn until(&self, moment: &Moment) -> bool {
        let Moment::Event { kind, number } = moment else { return true };
        let deadline = Instant::now() + LIMIT;
        let mut seen = 0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let event: Value = serde_json::from_str(&line).unwrap();
                    let word = event["data"]["type"].as_str().unwrap();
                    seen += usize::from(word == kind);
                    if seen == *number {
                        return true;
                    }
                    if ENDS.contains(&word) {
                        return false;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => panic!("{kind}#{number} does not come"),
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
