//! The API as a bare client sees it: one request on the socket, one answer. No library, no retry.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::place::Place;

static KEYS: AtomicU64 = AtomicU64::new(0);

/// Submits a launcher and gives the answer and how long it took to come.
pub(crate) fn submit(
    place: &Place,
    queue: Option<&str>,
    argv: &[&str],
) -> Result<(Value, Duration)> {
    let work = json!({"launcher": {"argv": argv, "autoNext": false}});
    let mut request = json!({
        "cwd": place.repository(),
        "actor": "bench",
        "env": [["PATH", std::env::var("PATH").unwrap_or_default()]],
        "work": work,
    });
    if let Some(queue) = queue {
        request["adhocRun"] = json!(queue);
    }
    post(place, "/runs", &request)
}

/// Asks for the end of a run.
pub(crate) fn cancel(place: &Place, run: &str) -> Result<()> {
    post(place, &format!("/runs/{run}/cancel"), &json!({})).map(|_| ())
}

/// Changes the priority of a run that waits; how long that took.
pub(crate) fn prioritise(place: &Place, run: &str, priority: u32) -> Result<Duration> {
    let (_, took) =
        post(place, &format!("/runs/{run}/priority"), &json!({ "priority": priority }))?;
    Ok(took)
}

fn post(place: &Place, path: &str, body: &Value) -> Result<(Value, Duration)> {
    let body = body.to_string();
    let key = KEYS.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let head = format!(
        "POST /api/v1{path} HTTP/1.1\r\nhost: tidegate\r\ncontent-type: application/json\r\n\
         tidegate-version: {}\r\nidempotency-key: bench-{process}-{key}\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        env!("CARGO_PKG_VERSION"),
        body.len(),
    );
    let begun = Instant::now();
    let mut stream = UnixStream::connect(place.home().join("daemon.sock"))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let took = begun.elapsed();
    let (_, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    let start = body.find('{').context("an answer without an envelope")?;
    let envelope: Value = serde_json::Deserializer::from_str(&body[start..])
        .into_iter()
        .next()
        .context("an empty answer")??;
    ensure!(envelope["ok"] == true, "{path}: {}", envelope["error"]);
    Ok((envelope["data"].clone(), took))
}
