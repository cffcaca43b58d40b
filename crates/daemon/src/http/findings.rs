//! What is wrong with a plan or its settings, for a client.

use serde_json::{Value, json};
use tidegate_config::{Diagnostic, Severity};
use tidegate_protocol::{ErrorCode, Problem};

/// All findings in one refusal.
pub(super) fn invalid_plan(found: &[Diagnostic]) -> Problem {
    let errors = found.iter().filter(|one| one.severity == Severity::Error);
    let first = errors.clone().next().map(ToString::to_string).unwrap_or_default();
    let message = match errors.count() {
        1 => first,
        count => format!("{count} errors, the first: {first}"),
    };
    Problem::new(ErrorCode::InvalidPlan, message).with("diagnostics", list(found))
}

/// Findings as data.
pub(super) fn list(found: &[Diagnostic]) -> Value {
    found
        .iter()
        .map(|one| {
            json!({
                "severity": one.severity.as_str(),
                "code": one.code.as_str(),
                "file": one.file,
                "line": one.line,
                "column": one.column,
                "message": one.message,
                "hint": one.hint,
            })
        })
        .collect()
}
