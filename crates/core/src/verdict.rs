//! What the daemon concludes about an attempt from the facts in its job directory.
//!
//! One pure function over the table of the design (section 6): no pid is asked, no clock read.

use crate::exit::{Exit, Started};

/// What a job directory says, read without changing anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// The `started` record, if there is one of this attempt's nonce.
    pub started: Mark<Started>,
    /// Whether a living shim holds the lock.
    pub lock_held: bool,
    /// The `exit` record, if there is one of this attempt's nonce.
    pub exit: Mark<Exit>,
    /// Whether the records were made under the running kernel; true when there is no record.
    pub same_boot: bool,
}

/// A record of a job directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark<T> {
    /// There is none.
    Absent,
    /// It is there and reads well.
    Present(T),
    /// The daemon withdrew the attempt by a tombstone (only for `started`).
    Tombstone,
    /// It is there, but it does not parse or carries another nonce.
    Suspicious {
        /// What is wrong with it.
        detail: String,
    },
}

/// State of an attempt's row, as far as the verdict depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Committed, not known to have started.
    Launching,
    /// Known to have started.
    Running,
    /// Asked to end.
    Stopping,
    /// Its end is recorded.
    Finished,
}

/// What follows from row and observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Never started: spawn the same attempt again.
    Spawn,
    /// A shim is about to start it, or about to write its end: wait for the next change.
    Wait,
    /// Asked to end before it started: link a tombstone, then record `stopped`.
    Withdraw,
    /// Withdrawn for good: record `stopped`.
    Withdrawn,
    /// Alive under its shim: watch it (and ask it to stop when the row says stopping).
    Adopt(Started),
    /// Ended: record it once.
    Finished {
        /// The start, where its record survived.
        started: Option<Started>,
        /// The end.
        exit: Exit,
    },
    /// Its shim vanished: end survivors, then record `lost_shim`.
    Lost(Started),
    /// The host restarted: signal nothing, record `lost_reboot`.
    LostReboot(Started),
    /// Recorded as finished, yet alive: stop it and raise the alarm.
    Contradiction(Started),
    /// Nothing to do: the record is closed and the job is gone.
    Closed,
    /// The facts fit no row of the table: quarantine, ask a person.
    Quarantine {
        /// What does not fit.
        detail: String,
    },
}

/// The verdict table of the design, first match wins.
pub fn verdict(row: Row, seen: Observation) -> Verdict {
    let Observation { started, lock_held, exit, same_boot } = seen;
    let exit = match exit {
        Mark::Suspicious { detail } => return Verdict::Quarantine { detail },
        Mark::Tombstone => return quarantine("a tombstone stands in place of an exit record"),
        Mark::Absent => None,
        Mark::Present(exit) => Some(exit),
    };
    match started {
        Mark::Suspicious { detail } => Verdict::Quarantine { detail },
        Mark::Tombstone => tombstone(row, lock_held, exit.is_some()),
        Mark::Absent => not_started(row, lock_held, same_boot, exit),
        Mark::Present(started) => was_started(row, lock_held, same_boot, started, exit),
    }
}

fn tombstone(row: Row, lock_held: bool, exit: bool) -> Verdict {
    match (row, exit) {
        (Row::Finished, _) => Verdict::Closed,
        (Row::Running, _) => quarantine("recorded as running, but withdrawn by a tombstone"),
        (Row::Launching | Row::Stopping, true) => {
            quarantine("withdrawn by a tombstone, yet an exit record exists")
        }
        // A late shim that holds the lock will meet the tombstone and end with 76. The row may be
        // an older one than that of the daemon's who linked it: launching counts as stopping.
        (Row::Launching | Row::Stopping, false) if lock_held => Verdict::Wait,
        (Row::Launching | Row::Stopping, false) => Verdict::Withdrawn,
    }
}

fn not_started(row: Row, lock_held: bool, same_boot: bool, exit: Option<Exit>) -> Verdict {
    if let Some(exit) = exit {
        return match row {
            Row::Finished => Verdict::Closed,
            // A shim that cannot exec or store records its end without a start.
            Row::Launching | Row::Stopping if !lock_held && !exit.is_success() => {
                Verdict::Finished { started: None, exit }
            }
            Row::Launching | Row::Stopping if lock_held => Verdict::Wait,
            Row::Launching | Row::Stopping | Row::Running => {
                quarantine("an exit record without a started record")
            }
        };
    }
    match (row, lock_held) {
        (Row::Launching, false) => Verdict::Spawn,
        (Row::Stopping, false) => Verdict::Withdraw,
        (Row::Launching | Row::Stopping, true) if same_boot => Verdict::Wait,
        (Row::Launching | Row::Stopping, true) => quarantine("the lock is held under another boot"),
        (Row::Running, _) => quarantine("recorded as running, but its started record is gone"),
        (Row::Finished, false) => Verdict::Closed,
        (Row::Finished, true) => quarantine("recorded as finished, yet a shim is about to start"),
    }
}

fn was_started(
    row: Row,
    lock_held: bool,
    same_boot: bool,
    started: Started,
    exit: Option<Exit>,
) -> Verdict {
    match (row, lock_held, exit) {
        (Row::Finished, true, None) if same_boot => Verdict::Contradiction(started),
        (Row::Finished, true, None) => quarantine("the lock is held under another boot"),
        (Row::Finished, _, _) => Verdict::Closed,
        (Row::Launching | Row::Running | Row::Stopping, _, Some(exit)) => {
            Verdict::Finished { started: Some(started), exit }
        }
        (Row::Launching | Row::Running | Row::Stopping, true, None) if same_boot => {
            Verdict::Adopt(started)
        }
        (Row::Launching | Row::Running | Row::Stopping, true, None) => {
            quarantine("the lock is held under another boot")
        }
        (Row::Launching | Row::Running | Row::Stopping, false, None) if same_boot => {
            Verdict::Lost(started)
        }
        (Row::Launching | Row::Running | Row::Stopping, false, None) => {
            Verdict::LostReboot(started)
        }
    }
}

fn quarantine(detail: &str) -> Verdict {
    Verdict::Quarantine { detail: detail.to_owned() }
}
