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
mod manifest;
mod people;
mod plan;
mod run;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
mod text;

pub use event::{KINDS, TALK_KINDS, TELLING_KINDS};
pub(crate) use event::{event_body, read_event};
pub use home::HOME_KINDS;
pub(crate) use home::{home_body, read_home_event};
pub(crate) use text::{decode, encode};
