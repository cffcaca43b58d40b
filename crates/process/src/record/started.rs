//! `started`: an attempt began, or was withdrawn, once. Made by `link(2)`, never replaced.

use serde::{Deserialize, Serialize};
use tidegate_core::exit::{Identity, Started};
use tidegate_core::time::WallMs;

use super::{IdentityRecord, Text};

/// Content of the file `started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StartedFile {
    /// A shim started the attempt.
    Started(StartedRecord),
    /// The daemon withdrew it before any shim did.
    Withdrawn(WithdrawnRecord),
}

/// An attempt that began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedRecord {
    /// Version of the record.
    pub v: u32,
    /// Job id.
    pub job: String,
    /// Attempt number.
    pub attempt: u32,
    /// Nonce of the spec.
    pub nonce: String,
    /// Generation of the spec.
    pub generation: u64,
    /// Epoch of the spec.
    pub epoch: u64,
    /// The shim.
    #[serde(with = "IdentityRecord")]
    pub shim: Identity,
    /// The main process. It leads its process group.
    #[serde(with = "IdentityRecord")]
    pub child: Identity,
    /// Directory of the control group that the main process was put into, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<Text>,
    /// Wall time in milliseconds.
    pub at_wall_ms: u64,
    /// `CLOCK_MONOTONIC` in milliseconds, of the boot in `shim`.
    pub at_mono_ms: u64,
}

impl StartedRecord {
    /// The part that decisions need.
    pub fn to_core(&self) -> Started {
        Started { shim: self.shim.clone(), child: self.child.clone(), at: WallMs(self.at_wall_ms) }
    }
}

/// An attempt that will never begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithdrawnRecord {
    /// Version of the record.
    pub v: u32,
    /// Job id.
    pub job: String,
    /// Nonce of the spec.
    pub nonce: String,
    /// Wall time in milliseconds.
    pub at_wall_ms: u64,
}
