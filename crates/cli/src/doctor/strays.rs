//! Jobs that the store does not know.

use tidegate_daemon::repair::{Stray, of_home};
use tidegate_daemon::views::open_problem;

use crate::error::CliError;
use crate::home::Home;

/// All of a home.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn all(home: &Home) -> Result<Vec<Stray>, CliError> {
    of_home(home.path()).map_err(|error| open_problem(&error).into())
}
