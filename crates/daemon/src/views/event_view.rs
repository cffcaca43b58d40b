//! Events of the log, as documents.

use serde_json::{Map, Value};
use tidegate_protocol::{ErrorCode, EventView, Problem};
use tidegate_store::EventRow;

use super::moment::stamp;

/// Keys of the recorded body that the view says at its top, under the same name.
const AT_THE_TOP: [&str; 3] = ["v", "runId", "feature"];
/// Keys that are nobody's business outside the daemon: a nonce lets its bearer speak to a shim.
const HIDDEN: [&str; 1] = ["nonce"];

/// One event of the log.
///
/// # Errors
/// [`ErrorCode::Corrupt`] when its body is no object.
pub fn event_view(row: EventRow) -> Result<EventView, Problem> {
    let mut body: Map<String, Value> = serde_json::from_str(&row.body).map_err(|error| {
        Problem::new(ErrorCode::Corrupt, format!("the body of event {}: {error}", row.seq))
    })?;
    for key in AT_THE_TOP.iter().chain(&HIDDEN) {
        body.remove(*key);
    }
    // The order in the queue has the name that the event's own number has here.
    if let Some(seq) = body.remove("seq") {
        body.insert("runSeq".to_owned(), seq);
    }
    shorten_work(&mut body);
    let subject = match (&row.run, &row.feature) {
        (Some(run), Some(feature)) => format!("feature:{run}/{feature}"),
        (Some(run), None) => format!("run:{run}"),
        (None, Some(_) | None) => "home".to_owned(),
    };
    Ok(EventView {
        seq: row.seq,
        n: row.n,
        subject,
        kind: row.kind,
        run_id: row.run.map(|run| run.to_string()),
        feature: row.feature.map(|feature| feature.to_string()),
        recorded_at: stamp(row.at),
        body,
    })
}

/// A whole plan is no part of a stream of events: its kind and title are.
fn shorten_work(body: &mut Map<String, Value>) {
    let Some(work) = body.remove("work") else { return };
    let kind = work.get("word").cloned().unwrap_or_default();
    let spec = work.get("spec");
    body.insert("kind".to_owned(), kind);
    for key in ["title", "path", "argv", "selection"] {
        if let Some(value) = spec.and_then(|spec| spec.get(key)) {
            body.insert(key.to_owned(), value.clone());
        }
    }
}
