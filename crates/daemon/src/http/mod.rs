//! The HTTP API over the home's socket: parses requests, checks who asks, hands commands to the
//! engine, and answers reads by the views.
//!
//! It decides nothing about runs. Every answer is an envelope; nothing here writes to the store.

mod app;
mod body;
mod cleanups;
mod commands;
mod findings;
mod give;
mod guard;
mod launch;
mod peer;
mod people;
mod projects;
mod reads;
mod reply;
mod repository;
mod reviews;
mod routes;
mod runtime;
mod scope;
mod server;
mod stream;
mod submit;
mod submit_launcher;
mod submit_plan;
mod terminal;
#[cfg(test)]
mod tests;
mod turns;

pub use app::Site;
pub use scope::user_name;
pub use server::{Server, start};
