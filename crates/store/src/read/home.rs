//! The home's own row: its id, its owner, and how far its log is.

use tidegate_core::time::WallMs;

use super::{View, corrupt};
use crate::error::StoreError;
use crate::store::Token;

/// What is recorded of the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeRow {
    /// Its id, for the tag of its jobs.
    pub home_id: String,
    /// The newest token.
    pub token: Token,
    /// Transactions so far.
    pub turn: u64,
    /// The newest event.
    pub last_seq: u64,
    /// The newest daemon, if there was one.
    pub daemon: Option<DaemonRow>,
}

/// What is recorded of a daemon. Whether it lives is told by its lock alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonRow {
    /// Its process id.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// When it took its epoch, on the wall clock.
    pub started_at: WallMs,
    /// When it ended in good order.
    pub stopped_at: Option<WallMs>,
}

impl View<'_> {
    /// The home's own row.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it does not read back.
    pub fn home_row(&self) -> Result<HomeRow, StoreError> {
        let row = self.row(
            "SELECT home_id, generation, epoch, turn, seq, daemon_pid, daemon_version,
             daemon_started_at, daemon_stopped_at FROM home_state WHERE id = 1",
            [],
            "read the home's row",
            |row| {
                let daemon: (Option<u32>, Option<String>, Option<u64>) =
                    (row.get(5)?, row.get(6)?, row.get(7)?);
                let stopped_at: Option<u64> = row.get(8)?;
                let daemon = match daemon {
                    (Some(pid), Some(version), Some(started_at)) => Some(DaemonRow {
                        pid,
                        version,
                        started_at: WallMs(started_at),
                        stopped_at: stopped_at.map(WallMs),
                    }),
                    // A CHECK says that the three are there or absent together.
                    (Some(_) | None, Some(_) | None, Some(_) | None) => None,
                };
                Ok(HomeRow {
                    home_id: row.get(0)?,
                    token: Token { generation: row.get(1)?, epoch: row.get(2)? },
                    turn: row.get(3)?,
                    last_seq: row.get(4)?,
                    daemon,
                })
            },
        )?;
        Ok(row.ok_or_else(|| corrupt(None, &"its row is missing"))?)
    }

    /// The number of the newest event; 0 when there is none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn last_seq(&self) -> Result<u64, StoreError> {
        let sql = "SELECT seq FROM home_state WHERE id = 1";
        let seq = self.row(sql, [], "read the newest event's number", |row| row.get(0))?;
        Ok(seq.unwrap_or(0))
    }

    /// When the newest event was recorded, on the wall clock; `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn newest_event_at(&self) -> Result<Option<WallMs>, StoreError> {
        let sql = "SELECT at FROM events ORDER BY seq DESC LIMIT 1";
        self.row(sql, [], "read the newest event's moment", |row| row.get(0).map(WallMs))
    }
}
