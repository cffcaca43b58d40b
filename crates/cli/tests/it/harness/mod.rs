//! What every test stands on: a home of its own with a repository, the verbs as a user calls them,
//! waiting for conditions, and facts about processes. It knows no test.

mod desk;
mod dice;
mod home;
mod namespace;
mod network;
mod output;
mod processes;
mod repo;
mod tree;
mod until;
mod wire;

pub(crate) use desk::Desk;
pub(crate) use dice::Dice;
pub(crate) use home::Home;
pub(crate) use namespace::namespace;
pub(crate) use network::in_own_network;
pub(crate) use output::Output;
#[cfg(feature = "failpoints")]
pub(crate) use processes::proved_signal;
pub(crate) use processes::{Fence, end, is_gone, mentioning, signal, sweep};
pub(crate) use repo::Repo;
pub(crate) use tree::{digest, is_as_before};
pub(crate) use until::{LIMIT, let_pass, until};
pub(crate) use wire::post;
