//! How the identity of a process stands in a record.

use serde::{Deserialize, Serialize};
use tidegate_core::exit::Identity;

/// Mirror of [`Identity`] for serde, for `#[serde(with = "IdentityRecord")]`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Identity")]
pub(crate) struct IdentityRecord {
    pid: u32,
    start_ticks: u64,
    boot_id: String,
    #[serde(default)]
    pidfs_inode: u64,
}
