//! What a gate is to leave: `reports`, `coverage` and `may_change` of `[gate.NAME]`.

use std::collections::BTreeMap;

use tidegate_core::evidence::{CoverageRule, Measure, Promises};

use crate::check::is_fit_glob;
use crate::diagnostic::{Code, Sink};
use crate::fields::{Fields, string_of, wrong_type};
use crate::near::quoted;
use crate::node::{Entry, Node, Table, Value};
use crate::span::Spanned;

/// Basis points of the whole.
const WHOLE: u32 = 10_000;

/// Reads what one gate is to leave.
pub(crate) fn promises_of(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Promises {
    let reports = fields.strings("reports", sink).map(|list| list.value).unwrap_or_default();
    let reports = reports.into_iter().filter(|glob| is_report(glob, sink));
    let reports = reports.map(|glob| glob.value).collect();
    let may_change = fields.boolean("may_change", sink).is_some_and(|said| said.value);
    let coverage = fields.table("coverage", sink).and_then(|(table, entry)| {
        let mut inner = Fields::new("the coverage of a gate", table, entry.key.span.clone());
        let rule = coverage_of(&mut inner, sink);
        inner.finish(sink);
        rule
    });
    Promises { reports, coverage, may_change }
}

/// A glob or path below the root of a checkout that may be written there.
fn is_report(glob: &Spanned<String>, sink: &mut Sink<'_>) -> bool {
    let git = glob.value.split('/').any(|part| part.eq_ignore_ascii_case(".git"));
    if git || glob.value.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        let message = format!("{} cannot be a report", quoted(&glob.value));
        let hint = "a path or glob below the root of the checkout, such as \"target/junit.xml\"";
        sink.error_hint(Code::BadPath, &glob.span, message, hint);
        return false;
    }
    is_fit_glob(&glob.value, &glob.span, sink)
}

fn coverage_of(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Option<CoverageRule> {
    let file = fields.required_string("file", "file = \"lcov.info\"", sink);
    let mut least = BTreeMap::new();
    for measure in Measure::ALL {
        if let Some(entry) = fields.take(measure.word())
            && let Some(points) = percentage(measure.word(), &entry.node, sink)
        {
            least.insert(measure, points);
        }
    }
    let files = fields.table("files", sink).map(|(table, _)| files_of(table, sink));
    let file = file.filter(|file| {
        let plain = !file.value.contains(['*', '?', '[', '{']);
        if !plain {
            let message = format!("{} is no path of one file", quoted(&file.value));
            sink.error(Code::BadPath, &file.span, message);
        }
        plain && is_report(file, sink)
    })?;
    Some(CoverageRule { file: file.value, least, files: files.unwrap_or_default() })
}

fn files_of(table: &Table, sink: &mut Sink<'_>) -> BTreeMap<String, u32> {
    let mut files = BTreeMap::new();
    for Entry { key, node } in &table.entries {
        let points = percentage(&key.value, node, sink);
        if is_fit_glob(&key.value, &key.span, sink)
            && let Some(points) = points
        {
            files.insert(key.value.clone(), points);
        }
    }
    files
}

/// A number of percent with two decimals at most, in basis points.
fn percentage(what: &str, node: &Node, sink: &mut Sink<'_>) -> Option<u32> {
    let text = match &node.value {
        Value::Integer(number) => number.to_string(),
        Value::Number(text) => text.clone(),
        Value::String(_) => {
            let text = string_of(&quoted(what), node, sink)?.value;
            text.strip_suffix('%').unwrap_or(&text).trim().to_owned()
        }
        Value::Null | Value::Boolean(_) | Value::Date(_) | Value::Array(_) | Value::Table(_) => {
            wrong_type(&quoted(what), "a number of percent", node, sink);
            return None;
        }
    };
    let points = basis_points(&text).filter(|points| *points <= WHOLE);
    if points.is_none() {
        let message = format!("{} is {}", quoted(what), quoted(&text));
        let hint = "a number of percent from 0 to 100, with two decimals at most";
        sink.error_hint(Code::IllegalValue, &node.span, message, hint);
    }
    points
}

fn basis_points(text: &str) -> Option<u32> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || rest.len() > 2 || !digits(whole) || !digits(rest) {
        return None;
    }
    let rest: u32 = format!("{rest:0<2}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(rest)
}

#[cfg(test)]
mod tests {
    use super::basis_points;

    #[test]
    fn percent_with_two_decimals_are_basis_points_and_nothing_else_is() {
        let good = [("80", 8_000), ("66.6", 6_660), ("0.05", 5), ("100", 10_000)];
        assert!(good.into_iter().all(|(text, points)| basis_points(text) == Some(points)));
        for bad in ["", "-1", "1.234", "1e2", "99999999999", ".5", "8 0"] {
            assert_eq!(basis_points(bad), None, "{bad}");
        }
    }
}
