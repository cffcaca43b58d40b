//! What a submit is made of: the repository, the files of a plan, the caller.

mod caller;
mod files;
mod findings;
mod repository;

pub(crate) use caller::{actor, environment};
pub(crate) use files::{config_files, gather, wire_bundle};
pub(crate) use findings::{Findings, invalid_plan};
pub(crate) use repository::Repository;
