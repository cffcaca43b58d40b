//! The product as bench, faults and races use it: a home, a repository, verbs, the bare API, and what the kernel says of
//! its processes. Knows no figure and no fault.

mod place;
mod process;
pub(crate) mod wire;

pub(crate) use place::{Place, appears, poll, quietly, run_id};
pub(crate) use process::{
    busy, children, kill, private_dirty, resident, tagged, with_argument, writes,
};
