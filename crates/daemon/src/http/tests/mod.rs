//! Tests of the API over a real socket, with the test in the place of the engine.
#![expect(clippy::unwrap_used, reason = "tests")]

mod commands;
mod edges;
mod scopes;
mod served;
mod streams;
mod submits;
