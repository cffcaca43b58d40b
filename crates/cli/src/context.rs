//! What every verb gets: the home that it speaks about, and the output.

use std::path::PathBuf;

use crate::error::CliError;
use crate::home::Home;
use crate::output::Out;

/// The surroundings of one verb.
pub(crate) struct Context {
    home: Option<PathBuf>,
    /// Standard output.
    pub(crate) out: Out,
}

impl Context {
    /// `home` is the value of `--home`; `json` asks for envelopes.
    pub(crate) fn new(home: Option<PathBuf>, json: bool) -> Self {
        Self { home, out: Out::new(json) }
    }

    /// The home.
    ///
    /// # Errors
    /// When nothing says where it is.
    pub(crate) fn home(&self) -> Result<Home, CliError> {
        Home::resolve(self.home.as_deref())
    }

    /// The home of a verb that a launcher calls: `--home`, else the one of its job directory.
    ///
    /// # Errors
    /// As [`Context::home`].
    pub(crate) fn home_of_job(&self, job: Option<&std::path::Path>) -> Result<Home, CliError> {
        match (&self.home, job.and_then(Home::of_job)) {
            (None, Some(home)) => Ok(home),
            (Some(_), _) | (None, None) => self.home(),
        }
    }
}
