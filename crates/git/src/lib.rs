//! The only caller of git: worktrees, commits, checkouts, merges and landings, each safe to repeat after a crash.
//!
//! All functions are synchronous and block; they are called from worker threads. Every operation can be called again
//! with the same arguments after its process died at any point, and converges. Expected endings are variants of an
//! outcome; [`GitError`] is for the rest. Nothing here knows runs, features, stores or agents.
//!
//! - [`Git`] is the program, spawned through an [`Exec`] with a clean [`Environment`].
//! - [`Repo`] is one repository of a user; [`RepoLock`] says which home serves it.
//! - [`Repo::prepare_worktree`], [`Repo::worktree_status`], [`Repo::commit_leftovers`]: a feature's worktree.
//! - [`CheckoutPool::acquire`]: a clean checkout for a gate.
//! - [`Vault::take`], [`Vault::restore_worktree`], [`Vault::restore_files`]: snapshots of worktrees, in a repository of our own.
//! - [`Repo::merge`], [`Repo::update_target`], [`Repo::target_obstacle`], [`Repo::has_landed`]: landing.
//! - [`Repo::prepare_conflict`], [`Repo::check_resolution`], [`Repo::abandon_resolution`]: a conflict for a reconciler.
//! - [`Repo::stack`]: several features on one target; [`Stack::probe`] finds the one that breaks the gates.
//! - [`Repo::arrival`], [`Repo::target_moves`]: who moved the target.
//! - [`Repo::silent_reverts`]: what a landing would take away from the target although nobody meant to.
//! - [`Repo::landed_by`], [`Repo::worktree_stand`], [`Repo::remove_worktree`], [`Repo::remove_ref`]: what ended runs leave.
//! - [`Repo::publish`], [`Repo::push_target`], [`Repo::fetch_branch`], [`Repo::remote_tip`]: the target at a remote.
//!
//! Two rules that callers keep: a worktree of ours is prepared, committed or checked out only while no job runs in it
//! (lock files that a killed git left there are removed), and writes happen only under the [`RepoLock`].

mod admin_dir;
mod at_work;
mod blame;
mod changed;
mod checkout;
mod commit;
mod conflict;
mod conflict_kind;
mod conflict_record;
mod environment;
mod error;
mod exec;
mod fast_forward;
mod forward_record;
mod forward_recovery;
mod furnish;
mod git;
mod identity;
mod include;
mod invocation;
mod landed;
mod leavings;
mod lfs;
mod line_diff;
mod lost_lines;
mod merge;
mod message;
mod moved;
mod network;
mod overwrite;
mod publish;
mod push;
mod raw_commit;
mod reflog;
mod refs;
mod remote;
mod remove_tree;
mod replay;
mod repo;
mod repo_lock;
mod resolution;
mod resolved;
mod revert_search;
mod review;
mod silent_revert;
mod snapshot;
mod sparse;
mod spool;
mod stack;
mod status;
mod std_exec;
mod submodules;
mod sync;
mod target;
mod tree_diff;
mod version;
mod versions;
mod worktree;
mod worktree_list;

pub use admin_dir::Operation;
pub use changed::{ChangedFile, FileSide};
pub use checkout::{Checkout, CheckoutMode, CheckoutPool};
pub use commit::{CommitMode, CommitOutcome, CommitRequest};
pub use conflict::{ConflictFile, ConflictOutcome, ConflictRequest, Touch};
pub use conflict_kind::ConflictKind;
pub use environment::Environment;
pub use error::{GitError, Result};
pub use exec::{Call, Done, Ending, Exec};
pub use furnish::{Furnished, Furnishing, Lfs};
pub use git::{Git, Limits};
pub use identity::{Identity, IdentitySource};
pub use landed::LandedBy;
pub use leavings::WorktreeStand;
pub use merge::{MergeOutcome, MergeRequest, NoChangeReason, Strategy};
pub use message::{MessageError, MessageTemplate, MessageValues};
pub use network::NetworkFailure;
pub use publish::{PublishOutcome, PublishRequest};
pub use push::{PushOutcome, PushRequest, RefusedBy};
pub use reflog::{Arrival, Mover, RefMove};
pub use refs::DefaultBranch;
pub use remote::{FetchOutcome, RemoteBranch, RemoteTip, Standing};
pub use replay::{RebaseOutcome, Replayed};
pub use repo::Repo;
pub use repo_lock::{Holder, RepoLock};
pub use resolution::{AbandonOutcome, AbandonRequest, Flaw, Resolution, ResolutionCheck};
pub use review::{Merges, PATCH_BYTES_MAX, Preview, PreviewFile};
pub use silent_revert::{LostLine, RevertCheck, RevertKind, SilentRevert};
pub use snapshot::{
    Contents, FILE_BYTES_MAX, KEPT, LeftOut, ListedSnapshot, RestoreOutcome, RestoreRequest,
    Snapshot, SnapshotOutcome, SnapshotRequest, Vault, WhyLeftOut,
};
pub use stack::{Layer, Probe, Stack, StackMember, StackRequest};
pub use status::{Change, DirtyPath};
pub use std_exec::StdExec;
pub use sync::{SyncOutcome, SyncRequest};
pub use target::{Dirty, DirtyReason, UpdateOutcome, UpdateRequest};
pub use tidegate_core::ids::Oid;
pub use version::Version;
pub use worktree::{PreparedWorktree, WorktreeRequest};
