//! The daemon as a process: its lock, its store, its threads, its socket, and its end.

mod backups;
mod daemon;
mod files;
mod log;
mod notify;
mod signals;
mod spool;
mod stranger;
mod takeover;
mod vigil;

pub use daemon::{HostError, Options, Outcome, run};
pub use files::{HomeFiles, prepare_home};
pub use log::{HomeLog, logs};
pub use notify::{Manager, Moment};
pub use spool::{leave_registration, place_of};
pub use stranger::{Stranger, stranger};
pub use takeover::{TakeoverError, takeover};
