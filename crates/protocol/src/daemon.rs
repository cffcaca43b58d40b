//! What is known of the daemon of a home.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The daemon of a home. Read from its lock and the home alone; the daemon is not asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonDoc {
    /// Whether one holds the lock.
    pub running: bool,
    /// Its process id.
    pub pid: Option<u32>,
    /// Its fencing epoch.
    pub epoch: Option<u64>,
    /// Its version.
    pub version: Option<String>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// Its name in events: `<home id>:<epoch>`.
    pub supervisor_id: Option<String>,
    /// When it took the lock.
    pub acquired_at: Option<Timestamp>,
    /// The home.
    pub home: String,
    /// Its socket.
    pub socket: String,
    /// The version of the program that reads this.
    pub client_version: String,
}
