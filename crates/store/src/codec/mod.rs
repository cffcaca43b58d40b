//! How core values are written into the store and read back.
//!
//! Core knows no wire format, so the forms are declared here, type by type, in the words of the
//! vocabulary and with camel-case keys. A value that does not read back exactly is refused: an
//! unknown word, a missing or an extra key is corruption, never a default.

mod event;
mod exit;
mod feature;
mod home;
mod ids;
pub(crate) mod json;
mod launcher;
mod plan;
mod run;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub(crate) use event::{event_body, read_event};
pub(crate) use home::{home_body, read_home_event};

use json::{Json, Malformed};

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
