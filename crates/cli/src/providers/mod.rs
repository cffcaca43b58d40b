//! Built-in providers on this machine: which are there, and what they say of themselves.

mod asked;
mod found;

pub(crate) use found::all;
