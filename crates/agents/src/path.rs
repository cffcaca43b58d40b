//! Dotted paths into a JSON value.

use serde_json::Value;
use tidegate_core::manifest::{Match, Scalar};

/// The value at a path; a part that is a number counts in a list, a negative one from its end.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, part| match value {
        Value::Object(map) => map.get(part),
        Value::Array(items) => {
            let index: i64 = part.parse().ok()?;
            let from_end = usize::try_from(index.unsigned_abs()).ok()?;
            let index = if index < 0 { items.len().checked_sub(from_end)? } else { from_end };
            items.get(index)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Whether a line holds all of these.
pub(crate) fn holds(value: &Value, all: &[Match]) -> bool {
    all.iter().all(|one| at(value, &one.path).is_some_and(|found| is(found, &one.is)))
}

fn is(found: &Value, wanted: &Scalar) -> bool {
    match (found, wanted) {
        (Value::String(found), Scalar::Text(wanted)) => found == wanted,
        (Value::Number(found), Scalar::Number(wanted)) => found.as_i64() == Some(*wanted),
        (Value::Bool(found), Scalar::Flag(wanted)) => found == wanted,
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            Scalar::Text(_) | Scalar::Number(_) | Scalar::Flag(_),
        ) => false,
    }
}

/// A text at a path; what is no text is written as JSON.
pub(crate) fn text(value: &Value, path: Option<&String>) -> Option<String> {
    match at(value, path?)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Some(other.to_string())
        }
    }
}

/// A number at a path that is not below nothing, `scale` times and rounded.
pub(crate) fn scaled(value: &Value, path: Option<&String>, scale: f64) -> Option<u64> {
    let number = at(value, path?)?.as_f64()?;
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    format!("{:.0}", number * scale).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_through_objects_and_lists() {
        let value = serde_json::json!({"a": {"b": [{"c": 7}, {"c": "x"}]}, "d": null});
        assert_eq!(at(&value, "a.b.0.c"), Some(&Value::from(7)));
        assert_eq!(at(&value, "a.b.-1.c"), Some(&Value::from("x")));
        for path in ["a.b.2.c", "a.b.-3.c", "a.c", "a.b.x", "d.e", "", "a..b"] {
            assert_eq!(at(&value, path), None, "{path}");
        }
    }

    #[test]
    fn figures_are_rounded_and_never_negative() {
        let value = serde_json::json!({"cost": 0.007_14, "minus": -1, "text": "7"});
        let path = |name: &str| Some(name.to_owned());
        assert_eq!(scaled(&value, path("cost").as_ref(), 1e6), Some(7_140));
        assert_eq!(scaled(&value, path("minus").as_ref(), 1.0), None);
        assert_eq!(scaled(&value, path("text").as_ref(), 1.0), None);
    }
}
