//! The store from outside: one test program, one file per subject.
#![expect(clippy::unwrap_used, reason = "tests")]

mod builders;
mod epochs;
mod turns;
