//! The product as bench and races use it: a home, a repository, verbs, the bare API, and what the kernel says of
//! its processes. Knows no figure.

mod place;
mod process;
pub(crate) mod wire;

pub(crate) use place::{Place, appears, poll, quietly, run_id};
pub(crate) use process::{
    busy, busy_with_children, kill, private_dirty, resident, sweep, with_argument, writes,
};
