//! What oracles remember of the world.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::ids::{FeatureId, GateName, JobId, Oid, RunId};

/// What really happened so far.
#[derive(Debug, Default)]
pub(in super::super) struct Book {
    /// How often each job was started.
    pub(super) starts: BTreeMap<JobId, u32>,
    /// Gates that passed, with the tree that they ran on.
    pub(super) passed: BTreeSet<(GateName, Oid)>,
    /// How each target was moved, by run and feature.
    pub(super) landings: BTreeMap<(RunId, FeatureId), Oid>,
    /// The making of each worktree that a setup was started in, until a teardown was.
    pub(super) setups: BTreeMap<(RunId, FeatureId), String>,
    /// Makings of worktrees that agents were let into: their work is not thrown away.
    pub(super) worked: BTreeSet<(RunId, FeatureId, String)>,
}
