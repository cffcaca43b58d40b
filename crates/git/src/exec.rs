//! The seam through which git processes are started. It must not know what git is.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// One program to run to its end.
#[derive(Debug, Clone)]
pub struct Call {
    /// Program (looked up on the `PATH` of `env`) and arguments.
    pub argv: Vec<OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// The complete environment; nothing else may be added.
    pub env: Vec<(OsString, OsString)>,
    /// Everything that the program may read; then end of file.
    pub stdin: Vec<u8>,
    /// Read instead of `stdin`, from where it stands: what is too large to be held.
    pub source: Option<Arc<File>>,
    /// Where stdout goes instead of into [`Done::stdout`], from where it stands.
    pub sink: Option<Arc<File>>,
    /// After this long the program and its process group are killed.
    pub timeout: Duration,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// A program that has ended.
#[derive(Debug, Clone)]
pub struct Done {
    /// How.
    pub ending: Ending,
    /// All it wrote to stdout; nothing when that went to a file.
    pub stdout: Vec<u8>,
    /// All it wrote to stderr.
    pub stderr: Vec<u8>,
}

impl Done {
    /// The exit code, if it had one.
    pub fn code(&self) -> Option<i32> {
        match self.ending {
            Ending::Exited(code) => Some(code),
            Ending::Signalled(_) => None,
        }
    }

    /// Whether it ended with exit code 0.
    pub fn success(&self) -> bool {
        self.ending == Ending::Exited(0)
    }
}

/// Runs programs. The daemon passes one whose children die with it.
pub trait Exec: Send + Sync {
    /// Runs `call` and waits for its end.
    ///
    /// # Errors
    /// `NotFound` when there is no such program, `TimedOut` when it was killed after `call.timeout`, anything else when
    /// it could not be started or watched. A program that fails is not an error.
    fn exec(&self, call: &Call) -> io::Result<Done>;
}
