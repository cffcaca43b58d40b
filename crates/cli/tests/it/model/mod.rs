//! A model that plays a script: a server on loopback that speaks the protocols of three vendors as
//! far as their command-line agents need it. It knows neither Tidegate nor a particular agent.

mod anthropic;
mod chat;
mod exchange;
mod gemini;
mod question;
mod responses;
mod script;
mod server;
mod tool;
mod trouble;

pub(crate) use question::Question;
pub(crate) use script::{Act, Script};
pub(crate) use server::Model;
pub(crate) use trouble::Trouble;
