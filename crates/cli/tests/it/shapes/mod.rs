//! Repositories of unusual shape through the whole pipeline: each lands, or is refused in clear words, and what is the
//! user's stays the same bytes. `yards_*` build the shapes and prove that what makes them hard is really there.

mod histories;
mod mine;
mod names;
mod places;
mod sizes;
mod yards;
mod yards_history;
mod yards_names;
mod yards_place;

pub(crate) use mine::{Mine, changed};
pub(crate) use yards_place::submodules;
