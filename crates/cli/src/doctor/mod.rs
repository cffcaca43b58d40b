//! `tidegate doctor`: what is looked at, and the repairs that a person may ask for.

mod check;
mod home;
mod machine;
mod place;
mod store;
mod strays;

pub(crate) use check::{Check, Severity};
pub(crate) use store::{audit, verify};
pub(crate) use strays::all as strays;

use crate::home::Home;

/// Looks at the machine and at the home.
pub(crate) fn checks(home: &Home) -> Vec<Check> {
    let mut found = machine::checks();
    found.extend(place::checks(home.path()));
    found.extend(home::checks(home));
    found
}
