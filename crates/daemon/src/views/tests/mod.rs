//! Tests of the views on a real store, with job directories as shims leave them.
#![expect(clippy::unwrap_used, reason = "tests")]

pub(crate) mod home;
mod lists;
mod plans;
mod readers;
mod rows;
mod waits;
pub(crate) mod works;
