//! Values of columns as JSON text.

use super::json::{Json, Malformed};

/// The text of a value.
pub(crate) fn encode(value: &impl Json) -> String {
    value.to_json().to_string()
}

/// The value of a text.
pub(crate) fn decode<T: Json>(text: &str) -> Result<T, Malformed> {
    let value = serde_json::from_str(text)
        .map_err(|error| Malformed::new(format!("is not JSON: {error}")))?;
    T::from_json(value)
}
