//! What a feature left, thing by thing: the proof that it may go, or why it stays.

use std::path::PathBuf;

use tidegate_core::cleanup::{Kept, Proof, Removal, Thing};
use tidegate_core::ids::{FeatureId, Oid, ProjectId};
use tidegate_core::run::{FeatureState, Run};
use tidegate_git::{GitError, LandedBy, Repo, Vault, WorktreeStand};

use super::leavings::FeatureLeavings;
use super::survey::Plan;

/// One feature of an ended run.
pub(super) struct OneFeature<'a> {
    pub(super) repo: &'a Repo,
    pub(super) vault: Option<&'a Vault>,
    pub(super) run: &'a Run,
    pub(super) feature: &'a FeatureId,
    pub(super) left: &'a FeatureLeavings,
    /// Where its worktree is, if it is anywhere.
    pub(super) worktree: PathBuf,
    /// Whether the run is to go as a whole.
    pub(super) delete: bool,
}

impl OneFeature<'_> {
    /// Looks at everything, in the order in which it may go.
    pub(super) fn look(&self, plan: &mut Plan) -> Result<(), GitError> {
        let stays = self.worktree(plan)?;
        let branch_stays = self.branch(stays, plan)?;
        self.refs(branch_stays, plan)?;
        if self.delete {
            self.snapshots(stays || branch_stays, plan)?;
        }
        Ok(())
    }

    fn project(&self) -> &ProjectId {
        &self.run.queue.project
    }

    fn removal(&self, what: Thing, name: String, proof: Proof, commit: Option<&Oid>) -> Removal {
        Removal {
            what,
            name,
            project: self.project().clone(),
            run: Some(self.run.id.clone()),
            feature: Some(self.feature.clone()),
            proof,
            commit: commit.cloned(),
            snapshot: None,
        }
    }

    fn kept(&self, what: Thing, name: String, why: impl Into<String>) -> Kept {
        let (project, run) = (self.project().clone(), Some(self.run.id.clone()));
        Kept { what, name, project, run, why: why.into() }
    }

    fn target(&self) -> &str {
        self.run.plan().map_or("", |(spec, _)| spec.target.as_str())
    }

    /// Why `commit` can go from its last ref, as far as the target is concerned.
    fn landed(&self, commit: &Oid) -> Result<Option<Proof>, GitError> {
        Ok(self.repo.landed_by(commit, self.target())?.map(|by| match by {
            LandedBy::Ancestor => Proof::Ancestor,
            LandedBy::PatchId => Proof::PatchId,
            LandedBy::Tree => Proof::Tree,
        }))
    }

    fn not_on_target(&self, commit: &Oid) -> String {
        let target = self.target().trim_start_matches("refs/heads/");
        let commit = commit.as_str().get(..12).unwrap_or_default();
        format!("{commit} is not on {target}: not by history, patches or content")
    }

    /// Whether a worktree stays.
    fn worktree(&self, plan: &mut Plan) -> Result<bool, GitError> {
        let name = self.worktree.to_string_lossy().into_owned();
        let head = match self.repo.worktree_stand(&self.worktree)? {
            WorktreeStand::Absent => return Ok(false),
            WorktreeStand::Registered => {
                plan.remove(self.removal(Thing::Worktree, name, Proof::Gone, None));
                return Ok(false);
            }
            WorktreeStand::Busy { why } => {
                plan.keep(self.kept(Thing::Worktree, name, why));
                return Ok(true);
            }
            WorktreeStand::Clean { head } => head,
        };
        let on_branch = match &self.left.branch {
            Some(tip) => self.repo.is_ancestor(&head, tip)?,
            None => false,
        };
        let proof = if on_branch { Some(Proof::Branch) } else { self.landed(&head)? };
        let Some(proof) = proof else {
            let why = format!("{}, and on no branch", self.not_on_target(&head));
            plan.keep(self.kept(Thing::Worktree, name, why));
            return Ok(true);
        };
        plan.remove(self.removal(Thing::Worktree, name, proof, Some(&head)));
        Ok(false)
    }

    /// Whether a branch stays.
    fn branch(&self, worktree_stays: bool, plan: &mut Plan) -> Result<bool, GitError> {
        let Some(tip) = &self.left.branch else { return Ok(false) };
        let name = format!("refs/heads/tidegate/{}/{}", self.run.id, self.feature);
        if worktree_stays {
            plan.keep(self.kept(Thing::Branch, name, "its worktree stays"));
            return Ok(true);
        }
        if let Some(path) = self.repo.worktree_of_branch(&name)?
            && path != self.worktree
            && path.canonicalize().ok() != self.worktree.canonicalize().ok()
        {
            let why = format!("it is checked out in {}", path.display());
            plan.keep(self.kept(Thing::Branch, name, why));
            return Ok(true);
        }
        let Some(proof) = self.landed(tip)? else {
            plan.keep(self.kept(Thing::Branch, name, self.not_on_target(tip)));
            return Ok(true);
        };
        plan.remove(self.removal(Thing::Branch, name, proof, Some(tip)));
        Ok(false)
    }

    fn refs(&self, branch_stays: bool, plan: &mut Plan) -> Result<(), GitError> {
        for (name, oid) in &self.left.refs {
            let kind = name.split('/').nth(2).unwrap_or_default();
            let proof = match kind {
                // Snapshots borrow from that commit what it has; it stays as long as one of them.
                "base" if !self.delete && self.has_snapshots()? => continue,
                "base" if branch_stays => continue,
                "merge" | "conflict" if !branch_stays => Some(Proof::Derived),
                _ => self.landed(oid)?,
            };
            match proof {
                Some(proof) => {
                    plan.remove(self.removal(Thing::Ref, name.clone(), proof, Some(oid)));
                }
                None => {
                    plan.keep(self.kept(Thing::Ref, name.clone(), self.not_on_target(oid)));
                }
            }
        }
        Ok(())
    }

    fn series(&self) -> String {
        format!("{}/{}", self.run.id, self.feature)
    }

    fn has_snapshots(&self) -> Result<bool, GitError> {
        let Some(vault) = self.vault else { return Ok(false) };
        Ok(vault.list(&self.series())?.iter().any(|one| one.series == self.series()))
    }

    /// Snapshots go with a deleted run, if what they led to has landed.
    fn snapshots(&self, something_stays: bool, plan: &mut Plan) -> Result<(), GitError> {
        if !self.has_snapshots()? {
            return Ok(());
        }
        let feature = self.run.plan().and_then(|(_, plan)| plan.features.get(self.feature));
        let landed = feature.is_some_and(|f| matches!(f.state, FeatureState::Landed { .. }));
        let name = self.series();
        if something_stays {
            plan.keep(self.kept(Thing::Snapshots, name, "its worktree or branch stays"));
        } else if landed {
            plan.remove(self.removal(Thing::Snapshots, name, Proof::Recorded, None));
        } else {
            let why = "it has not landed: they may be the only copy of its work";
            plan.keep(self.kept(Thing::Snapshots, name, why));
        }
        Ok(())
    }
}
