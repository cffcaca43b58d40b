//! The durable store of a home: an append-only log of events with a hash chain per subject, rows
//! projected from it for readers, and the outbox of effects, all in one SQLite database.
//!
//! One owner writes. It takes an epoch ([`Store::begin_epoch`]) and then records groups of inputs
//! ([`Store::turn`]), each input in a savepoint of its own ([`Turn::input`]). Every transaction
//! proves that its epoch is still the newest one. What a turn acknowledges is durable in the
//! database and noted in the highwater file, so that a store that lost its newest transactions is
//! found out at the next start.
//!
//! Readers ([`Reader`]) change no byte of the home. All questions are methods of [`View`].
//!
//! The events are the truth: [`View::rebuild`] makes a run of them, and rows are there for lists
//! and indexes. No SQL leaves this crate, for another database is to stand behind the same
//! interface one day.

mod backup;
mod ballast;
mod chain;
mod codec;
mod connection;
mod epoch;
mod error;
mod files;
mod highwater;
mod migrate;
mod read;
mod reader;
mod restore;
mod row;
mod store;
mod turn;
mod verify;
mod write;

pub use backup::{BackupInfo, backups, inspect_backup, peek_backup};
pub use chain::blob_id;
pub use codec::{HOME_KINDS, KINDS, TALK_KINDS, TELLING_KINDS};
pub use error::{Corrupt, OpenError, StoreError};
pub use highwater::{Acknowledged, acknowledged};
pub use migrate::Migration;
pub use read::{
    CommandFilter, DaemonRow, EventFilter, EventRow, HomeRow, KnownJob, LandedRow, ListFilter,
    Listed, OutboxRow, Page, QuarantinedRow, Resolved, TurnRow, View, WaveFilter,
};
pub use reader::{Reader, advise};
pub use restore::{KEPT_STORE, install};
pub use row::{
    AgentRow, Disposition, FeatureRow, JobRow, LauncherRow, MessageRow, PlanRow, QuestionRow,
    Recovery, ResumeAction, RunRow, RunStatus, Unknown, WorkRow,
};
pub use store::{Began, Options, Store, Token, WentBack};
pub use turn::Turn;
pub use verify::{Broken, VerifyReport, verify};
pub use write::{Background, CommandEnd, CommandRecord, Savepoint};
