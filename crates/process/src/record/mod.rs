//! The files of a job directory: a frozen, versioned format that outlives both shim and daemon.
//!
//! Every record carries `"v": 1`. Fields may be added; none is renamed or changes its meaning.
//! Records know nothing of directories, locks or processes.

mod agent;
mod exit;
mod identity;
mod spec;
mod started;
mod text;

pub use agent::AgentRecord;
pub use exit::{Bytes, ExitRecord, ReasonRecord, Usage};
pub(crate) use identity::IdentityRecord;
pub use spec::{Limits, OutputMode, Spec, Stdin};
pub use started::{StartedFile, StartedRecord, WithdrawnRecord};
pub use text::Text;

/// Version of every record written by this program.
pub const VERSION: u32 = 1;
