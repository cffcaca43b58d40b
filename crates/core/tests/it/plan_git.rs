//! Git in a model world: branches, one target, its checkout, and what may go wrong with them.

use std::collections::BTreeMap;

use tidegate_core::ids::{FeatureId, Oid};
use tidegate_core::plan::Role;
use tidegate_core::run::{
    Block, CommitOutcome, ConflictOutcome, Effect, FeatureState, MergeOutcome, Merged, Report, Run,
    Tested, UpdateOutcome, WorktreeOutcome,
};
use tidegate_core::workplace::Furnished;

use crate::fixture::oid;
use crate::tape::Tape;

/// Names a branch: the run's place in the world, and the feature.
type Name = (usize, FeatureId);

pub(crate) struct Git {
    heads: BTreeMap<Name, Oid>,
    bases: BTreeMap<Name, Oid>,
    /// Commits of the target, the newest last, with the feature commit that each brought.
    pub(crate) target: Vec<(Oid, Option<Oid>)>,
    merges: BTreeMap<Oid, Oid>,
    /// Whether the target's checkout is in the way.
    pub(crate) dirty: bool,
    oids: u32,
    /// How often each worktree was made.
    makings: BTreeMap<Name, u32>,
}

impl Git {
    pub(crate) fn new() -> Self {
        Self {
            heads: BTreeMap::new(),
            bases: BTreeMap::new(),
            target: vec![(oid(1), None)],
            merges: BTreeMap::new(),
            dirty: false,
            oids: 100,
            makings: BTreeMap::new(),
        }
    }

    fn tip(&self) -> Oid {
        self.target.last().unwrap().0.clone()
    }

    fn fresh(&mut self) -> Oid {
        self.oids += 1;
        oid(self.oids)
    }

    /// Most ends of an agent move its branch, but qa finds little to mend.
    pub(crate) fn write_perhaps(&mut self, tape: &mut Tape, name: Name, run: &Run) {
        let role = run.plan().and_then(|(_, plan)| plan.features[&name.1].state.role());
        if tape.below(4) < if role == Some(Role::Qa) { 1 } else { 3 } {
            self.write(name);
        }
    }

    /// Somebody commits to a branch.
    pub(crate) fn write(&mut self, name: Name) {
        let head = self.fresh();
        self.heads.insert(name, head);
    }

    /// A rival moves the target.
    pub(crate) fn move_target(&mut self) {
        let commit = self.fresh();
        self.target.push((commit, None));
    }

    /// Throws a making of a worktree away, if it is still that.
    pub(crate) fn discard(&mut self, name: &Name, making: Option<&str>) {
        let number = self.makings.entry(name.clone()).or_default();
        if making == Some(format!("making {number}").as_str()) {
            *number += 1;
        }
    }

    pub(crate) fn prepare(
        &mut self,
        tape: &mut Tape,
        name: Name,
        base: Option<Oid>,
        sync: bool,
    ) -> WorktreeOutcome {
        match tape.below(12) {
            9 => WorktreeOutcome::TargetMissing,
            10 => WorktreeOutcome::Failed { detail: "no space".to_owned() },
            11 if sync => WorktreeOutcome::SyncConflict { paths: vec!["x".to_owned()] },
            _ => {
                let base = base.unwrap_or_else(|| self.tip());
                let path = format!("/w/{}", name.1);
                let making = format!("making {}", self.makings.entry(name.clone()).or_default());
                let furnished = Furnished { making, ..Furnished::default() };
                self.heads.entry(name.clone()).or_insert_with(|| base.clone());
                self.bases.insert(name.clone(), base.clone());
                if sync {
                    let merge = self.fresh();
                    self.heads.insert(name, merge);
                }
                WorktreeOutcome::Ready { path, base, furnished }
            }
        }
    }

    pub(crate) fn lay_out(tape: &mut Tape) -> ConflictOutcome {
        match tape.below(6) {
            3 => ConflictOutcome::Clean,
            4 => ConflictOutcome::TargetMissing,
            5 => ConflictOutcome::Failed { detail: "no space".to_owned() },
            _ => ConflictOutcome::Prepared { paths: vec!["x".to_owned()] },
        }
    }

    pub(crate) fn commit(&self, tape: &mut Tape, name: &Name) -> CommitOutcome {
        let tested = Tested { commit: self.heads[name].clone(), tree: oid(7) };
        match tape.below(12) {
            9 => CommitOutcome::HookRefused { output: "no".to_owned() },
            10 => CommitOutcome::LeftBranch { found: "other".to_owned() },
            11 => CommitOutcome::Failed { detail: "no space".to_owned() },
            _ if self.bases[name] == tested.commit => CommitOutcome::NoChange(tested),
            _ => CommitOutcome::Commit(tested),
        }
    }

    pub(crate) fn merge(&mut self, tape: &mut Tape, commit: &Oid) -> MergeOutcome {
        if let Some((landed, _)) = self.target.iter().find(|(_, by)| by.as_ref() == Some(commit)) {
            return MergeOutcome::AlreadyThere { commit: landed.clone() };
        }
        match tape.below(12) {
            9 => MergeOutcome::TargetMissing,
            10 => MergeOutcome::Failed { detail: "no space".to_owned() },
            8 => MergeOutcome::SilentRevert { losses: vec!["x: a line".to_owned()] },
            11 => MergeOutcome::Conflict { paths: vec!["x".to_owned()] },
            _ => {
                let merged = Merged { onto: self.tip(), commit: self.fresh(), tree: oid(8) };
                self.merges.insert(merged.commit.clone(), commit.clone());
                MergeOutcome::Merged(merged)
            }
        }
    }

    pub(crate) fn update(&mut self, tape: &mut Tape, merged: &Merged) -> UpdateOutcome {
        if self.target.iter().any(|(commit, _)| *commit == merged.commit) {
            return UpdateOutcome::Landed;
        }
        if self.tip() != merged.onto {
            return UpdateOutcome::Moved;
        }
        if self.dirty {
            let why = "staged changes".to_owned();
            return UpdateOutcome::Dirty { paths: vec!["x".to_owned()], why };
        }
        match tape.below(12) {
            5 => UpdateOutcome::Unreachable { detail: "no route to host".to_owned() },
            6 => UpdateOutcome::PushRefused { detail: "protected".to_owned() },
            7 => UpdateOutcome::Diverged { detail: "rewritten".to_owned() },
            9 => UpdateOutcome::Missing,
            10 => UpdateOutcome::Failed { detail: "no space".to_owned() },
            choice => {
                let by = self.merges.get(&merged.commit).cloned();
                self.target.push((merged.commit.clone(), by));
                match choice {
                    8 => {
                        let why = "staged changes".to_owned();
                        UpdateOutcome::Behind { paths: vec!["x".to_owned()], why }
                    }
                    11 => UpdateOutcome::Failed { detail: "the disk spoke too late".to_owned() },
                    _ => UpdateOutcome::Landed,
                }
            }
        }
    }
}

/// The end of a wait.
pub(crate) fn come(effect: Effect) -> Report {
    match effect {
        Effect::AwaitRetry { feature, .. } => Report::RetryDue { feature },
        Effect::AwaitRepo { feature } => Report::RepoFree { feature },
        Effect::AwaitRemote { feature } => Report::RemoteBack { feature },
        other => panic!("{other:?} is no wait that ends by itself"),
    }
}

/// Whether a landing stopped because it would take back what landed.
pub(crate) fn is_revert(state: &FeatureState) -> bool {
    matches!(state, FeatureState::Blocked(Block::SilentRevert { .. }))
}
