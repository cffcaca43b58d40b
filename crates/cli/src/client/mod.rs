//! The way to the daemon: HTTP/1.1 over the home's socket, for commands and for following. Reads
//! never come here.

mod command;
mod connection;
mod follow;
mod socket;
mod sse;
mod start;
mod terminal;
#[cfg(test)]
mod tests;
mod vigil;

pub(crate) use command::{Client, Starting};
pub(crate) use follow::{Feed, Filter, Wake};
pub(crate) use socket::nudge;
pub(crate) use start::{Started, ensure};
pub(crate) use terminal::TerminalLink;
