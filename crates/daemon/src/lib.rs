//! The daemon of Tidegate as a library: the engine and its adapters, recovery, the views that
//! readers share with the API, and the HTTP server.
//!
//! State changes only in [`engine`]; [`adapters`] do the I/O that it asks for and report back;
//! [`views`] read the store and the job directories and write nothing; [`http`] and [`host`] are
//! the edges.
#![deny(clippy::wildcard_enum_match_arm)]

pub mod adapters;
mod agents_seen;
pub mod approval;
pub mod audit;
pub mod cleanup;
mod clock;
pub mod engine;
pub mod environment;
pub mod host;
pub mod http;
mod quota;
pub mod repair;
pub mod said;
pub mod spool;
pub mod views;

pub use quota::Bounds;

// What the command line shares: the grammar of names, the shim, identities, the files of launchers.
pub use tidegate_core::exit::Identity;
pub use tidegate_core::{ids, launcher, time};
pub use tidegate_git::Git;
pub use tidegate_process::control as terminal;
pub use tidegate_process::{
    ShimProgram, close_inherited_descriptors, helper, identity, kernel, output, peer, shim,
};
pub use tidegate_store::{OpenError, verify};
