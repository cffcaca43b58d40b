//! One event on one line.

use std::fmt::Write;

use serde_json::Value;
use tidegate_protocol::EventView;

use super::style;
use crate::error::printable;

/// `TIME SEQ RUN TYPE FEATURE key=value ...`; nested records are left to `--json`.
pub(crate) fn event(event: &EventView) -> String {
    let (faint, strong) = (style::FAINT, style::STRONG);
    let time = event.recorded_at.as_str();
    let mut line = format!(
        "{faint}{time} {:>6}{faint:#} {} {strong}{}{strong:#}",
        event.seq,
        event.run_id.as_deref().unwrap_or("home"),
        event.kind,
    );
    if let Some(feature) = &event.feature {
        line.push(' ');
        line.push_str(feature);
    }
    for (key, value) in event.body.iter().filter(|(key, value)| is_shown(key, value)) {
        let _ = write!(line, " {faint}{key}={faint:#}{}", shown(value));
    }
    line
}

/// What a line has room for: no nested records, which `--json` gives, and no time said twice.
fn is_shown(key: &str, value: &Value) -> bool {
    const LEFT_OUT: [&str; 2] = ["at", "env"];
    match value {
        Value::Null | Value::Object(_) => false,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            !LEFT_OUT.contains(&key)
        }
    }
}

/// A value without its quotes where it is one plain word.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        Value::String(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_) => printable(&value.to_string()),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| !c.is_whitespace() && !c.is_control() && c != '"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tidegate_protocol::Timestamp;

    #[test]
    fn event_is_one_line_without_nulls() {
        let view = EventView {
            seq: 7,
            n: 2,
            subject: "run:r0000010000".into(),
            kind: "launcher-started".into(),
            run_id: Some("r0000010000".into()),
            feature: None,
            recorded_at: Timestamp::from_ms(0),
            body: json!({
                "at": 5, "launcherPid": 4711, "resumed": false, "started": {"at": 5},
                "wave": null, "why": "two words",
            })
            .as_object()
            .cloned()
            .unwrap_or_default(),
        };
        let line = event(&view);
        insta::assert_snapshot!(anstream::adapter::strip_str(&line).to_string(), @r#"1970-01-01T00:00:00.000Z      7 r0000010000 launcher-started launcherPid=4711 resumed=false why="two words""#);
    }
}
