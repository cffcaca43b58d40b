//! The store from outside: one test program, one file per subject.
#![expect(clippy::unwrap_used, reason = "tests")]

mod builders;
mod commands;
mod compat;
mod conformance;
mod damage;
mod driver;
mod epochs;
mod full_disk;
mod readers;
mod replay;
mod turns;
