//! `GET /runs/{id}/terminal`: an upgrade of the connection to a terminal's frames.
//!
//! After `101 Switching Protocols` both sides speak the frames of a shim's control socket and no more
//! HTTP: one byte of kind, four of length (little-endian), the payload. From the server: 1 all that
//! an empty terminal must be sent to look alike, 2 output, 3 a size (rows, columns, two bytes each),
//! 4 the end of the job. To the server: 16 what was typed, 17 the size of the window.

use serde::{Deserialize, Serialize};

/// The protocol that the connection is upgraded to.
pub const TERMINAL_UPGRADE: &str = "tidegate-terminal";

/// What the route is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalQuery {
    /// The job.
    pub job: String,
    /// Rows of the client's window.
    pub rows: u16,
    /// Its columns.
    pub cols: u16,
    /// Nothing that is typed reaches the job, and the window does not count.
    #[serde(default)]
    pub read_only: bool,
    /// What has scrolled off the screen is shown first.
    #[serde(default)]
    pub history: bool,
}
