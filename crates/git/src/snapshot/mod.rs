//! Snapshots of worktrees: everything that an agent wrote, uncommitted work included, in a repository of our own.

mod blobs;
mod collect;
mod entries;
mod index_copy;
mod locks;
mod materialize;
mod metadata;
mod restore;
mod stat_cache;
mod take;
mod transfer;
mod trees;
mod vault;
mod walk;

pub(crate) use entries::quoted;
pub use metadata::{LeftOut, WhyLeftOut};
pub use restore::{Contents, RestoreOutcome, RestoreRequest};
pub use take::{FILE_BYTES_MAX, KEPT, Snapshot, SnapshotOutcome, SnapshotRequest};
pub use vault::{Listed as ListedSnapshot, Vault};
