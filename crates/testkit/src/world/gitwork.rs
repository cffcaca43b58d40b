//! How the played repositories answer the effects that are git's work.

use tidegate_core::ids::{FeatureId, Oid};
use tidegate_core::plan::{CommitRule, Role, Strategy};
use tidegate_core::run::{
    CommitOutcome, ConflictOutcome, Effect, Finding, InspectOutcome, MergeOutcome, Merged,
    PlannedChange, Report, ResultOutcome, Tested, UpdateOutcome, WorktreeOutcome,
};
use tidegate_core::workplace::Furnished;
use tidegate_daemon::engine::Target;

use super::course::World;
use super::held::held;
use super::repo::Branch;
use crate::faults::Mutation;

impl World {
    /// Does a piece of git's work. `None`: nothing to report yet, look again later.
    pub(super) fn git_work(&mut self, target: &Target, effect: &Effect) -> Option<Report> {
        let report = self.git_answer(target, effect);
        match &report {
            Some(Report::Merge { outcome: MergeOutcome::Merged(_), .. }) => {
                self.disturb(&target.place.common_dir, refname(target));
            }
            Some(report) => self.meet_outcome(report),
            None => {}
        }
        report
    }

    fn meet_outcome(&mut self, report: &Report) {
        let what = match report {
            Report::RepoHeld { .. } => "a held repository",
            Report::Worktree { outcome: WorktreeOutcome::SyncConflict { .. }, .. } => {
                "a conflict of a sync"
            }
            Report::Commit { outcome: CommitOutcome::NoChange(_), .. } => "no change",
            Report::Commit { outcome: CommitOutcome::HookRefused { .. }, .. } => "a refusing hook",
            Report::Commit { outcome: CommitOutcome::LeftBranch { .. }, .. } => "a left branch",
            Report::Merge { outcome: MergeOutcome::Conflict { .. }, .. } => "a conflict",
            Report::Merge { outcome: MergeOutcome::AlreadyThere { .. }, .. } => {
                "a merge that was there"
            }
            Report::Merge { outcome: MergeOutcome::TargetMissing, .. } => "a missing target",
            Report::Update { outcome: UpdateOutcome::Moved, .. } => "a moved target",
            Report::Update { outcome: UpdateOutcome::Unreachable { .. }, .. } => {
                "a remote far away"
            }
            Report::Update { outcome: UpdateOutcome::Dirty { .. }, .. } => "a dirty checkout",
            _ => return,
        };
        self.meet(what);
    }

    fn git_answer(&mut self, target: &Target, effect: &Effect) -> Option<Report> {
        // git or the disk may refuse, once in a while.
        let refused = !self.calm && self.dice.percent(1);
        let refused = refused.then(|| "the disk refused".to_owned());
        if self.is_held(target)
            && let Some(answer) = held(effect)
        {
            return answer.report();
        }
        match effect {
            Effect::PrepareWorktree { feature, base, sync, discard } => {
                let outcome = if let Some(detail) = refused {
                    WorktreeOutcome::Failed { detail }
                } else {
                    self.discard(target, feature, discard.as_deref());
                    self.prepare(target, feature, base.as_ref(), sync.as_ref())
                };
                Some(Report::Worktree { feature: feature.clone(), outcome })
            }
            Effect::PrepareConflict { .. } | Effect::ReadResult { .. } | Effect::Inspect { .. } => {
                self.crew_work(target, effect, refused)
            }
            Effect::Commit { feature, job, conflict, .. } => {
                let outcome = match refused {
                    Some(detail) => CommitOutcome::Failed { detail },
                    None => self.commit(target, feature, conflict.as_deref()),
                };
                Some(Report::Commit { feature: feature.clone(), job: job.clone(), outcome })
            }
            Effect::Merge { feature, commit, .. } => {
                let outcome = match refused {
                    Some(detail) => MergeOutcome::Failed { detail },
                    None => self.merge(target, commit),
                };
                Some(Report::Merge { feature: feature.clone(), outcome })
            }
            Effect::UpdateTarget { feature, merged } => {
                // What was done before is found out, sooner or later.
                let there = self.is_on_target(target, &merged.commit);
                let outcome = match refused {
                    Some(detail) if !there => UpdateOutcome::Failed { detail },
                    None if !there && !self.calm && self.dice.percent(2) => {
                        UpdateOutcome::Unreachable { detail: "no route to host".to_owned() }
                    }
                    Some(_) | None => self.update(target, feature, merged),
                };
                let (feature, commit) = (feature.clone(), merged.commit.clone());
                Some(Report::Update { feature, commit, outcome })
            }
            Effect::AwaitClean { feature } => {
                let repo = self.repos.get(&target.place.common_dir)?;
                let dirty = repo.dirty.contains(refname(target));
                (!dirty).then(|| Report::TargetClean { feature: feature.clone() })
            }
            Effect::WatchWorktree { .. } | Effect::Capture { .. } | Effect::Rollback { .. } => {
                self.capture_work(target, effect, refused)
            }
            Effect::AwaitRetry { feature, wait } => (wait.left_ms(self.clock.boot()) == 0)
                .then(|| Report::RetryDue { feature: feature.clone() }),
            Effect::TypeMessage { .. } | Effect::Converse { .. } => self.tell_agent(effect),
            Effect::AwaitRepo { feature } => Some(Report::RepoFree { feature: feature.clone() }),
            Effect::AwaitRemote { feature } => {
                Some(Report::RemoteBack { feature: feature.clone() })
            }
            Effect::SuperviseJob { .. }
            | Effect::StopJob { .. }
            | Effect::WatchAgents { .. }
            | Effect::SweepAgents { .. } => None,
        }
    }

    /// What serves the agents beside the builder.
    fn crew_work(
        &mut self,
        target: &Target,
        effect: &Effect,
        refused: Option<String>,
    ) -> Option<Report> {
        match effect {
            Effect::PrepareConflict { feature } => {
                let outcome = match refused {
                    Some(detail) => ConflictOutcome::Failed { detail },
                    None => self.lay_out(target, feature),
                };
                Some(Report::Conflict { feature: feature.clone(), outcome })
            }
            Effect::ReadResult { feature, role, job } => {
                let (feature, job) = (feature.clone(), job.clone());
                Some(Report::Result { feature, job, outcome: self.say(*role) })
            }
            Effect::Inspect { feature, commit, .. } => {
                let outcome = match refused {
                    Some(detail) => InspectOutcome::Failed { detail },
                    None => self.look_at(),
                };
                Some(Report::Inspected {
                    feature: feature.clone(),
                    commit: commit.clone(),
                    outcome,
                })
            }
            _ => None,
        }
    }

    fn is_on_target(&self, target: &Target, commit: &Oid) -> bool {
        let Some(repo) = self.repos.get(&target.place.common_dir) else { return false };
        repo.refs.get(refname(target)).is_some_and(|tip| repo.is_ancestor(commit, tip))
    }

    fn is_held(&self, target: &Target) -> bool {
        self.repos.get(&target.place.common_dir).is_some_and(|repo| repo.held)
    }

    fn prepare(
        &mut self,
        target: &Target,
        feature: &FeatureId,
        base: Option<&Oid>,
        sync: Option<&Oid>,
    ) -> WorktreeOutcome {
        let Some(repo) = self.repos.get_mut(&target.place.common_dir) else {
            return WorktreeOutcome::TargetMissing;
        };
        let name = (target.run.id.clone(), feature.clone());
        let kept = repo.branches.get(&name).map(|branch| branch.base.clone());
        let tip = repo.refs.get(refname(target)).cloned();
        let Some(base) = base.cloned().or(kept).or(tip) else {
            return WorktreeOutcome::TargetMissing;
        };
        let branch = repo.branches.entry(name.clone()).or_insert_with(|| Branch {
            base: base.clone(),
            tip: base.clone(),
            dirty: super::merging::Tree::new(),
            elsewhere: false,
            making: 1,
        });
        let making = format!("making {}", branch.making);
        let (own, clean) = (branch.tip.clone(), branch.dirty.is_empty() && !branch.elsewhere);
        if let Some(sync) = sync
            && clean
            && !repo.is_ancestor(sync, &own)
        {
            match repo.merge_trees(&own, sync) {
                Ok(tree) => {
                    let made = repo.commit(vec![own, sync.clone()], tree);
                    if let Some(branch) = repo.branches.get_mut(&name) {
                        branch.tip = made;
                    }
                }
                Err(paths) => return WorktreeOutcome::SyncConflict { paths },
            }
        }
        let furnished = Furnished { making, ..Furnished::default() };
        WorktreeOutcome::Ready { path: format!("/nowhere/worktrees/{feature}"), base, furnished }
    }

    /// A worktree whose setup did not end well is made anew. Nobody has worked in it.
    fn discard(&mut self, target: &Target, feature: &FeatureId, discard: Option<&str>) {
        let Some(repo) = self.repos.get_mut(&target.place.common_dir) else { return };
        let name = (target.run.id.clone(), feature.clone());
        let Some(branch) = repo.branches.get_mut(&name) else { return };
        if discard == Some(format!("making {}", branch.making).as_str()) {
            branch.making += 1;
            let lost = !branch.dirty.is_empty();
            self.meet("a worktree made again");
            if lost {
                self.fail(|| format!("work of an agent on {feature} was thrown away"));
            }
        }
    }

    /// Lays a conflict with the target out in the worktree of a feature.
    fn lay_out(&mut self, target: &Target, feature: &FeatureId) -> ConflictOutcome {
        let Some(repo) = self.repos.get(&target.place.common_dir) else {
            return ConflictOutcome::TargetMissing;
        };
        let name = (target.run.id.clone(), feature.clone());
        let (Some(tip), Some(branch)) = (repo.refs.get(refname(target)), repo.branches.get(&name))
        else {
            return ConflictOutcome::TargetMissing;
        };
        match repo.merge_trees(&branch.tip, tip) {
            Ok(_) => ConflictOutcome::Clean,
            Err(paths) => ConflictOutcome::Prepared { paths },
        }
    }

    /// What is found in a change.
    fn look_at(&mut self) -> InspectOutcome {
        if !self.dice.percent(15) {
            return InspectOutcome::Found(Vec::new());
        }
        let stops = self.dice.percent(60);
        self.meet(if stops { "a weakened check" } else { "a note on a check" });
        let finding = Finding {
            kind: "deleted_test".to_owned(),
            path: "tests/a.rs".to_owned(),
            line: 1,
            excerpt: String::new(),
            stops,
        };
        InspectOutcome::Found(vec![finding])
    }

    /// What a planner or a reviewer says.
    fn say(&mut self, role: Role) -> ResultOutcome {
        if self.dice.percent(10) {
            self.meet("an unusable result");
            return ResultOutcome::Unusable { detail: "torn".to_owned() };
        }
        if role == Role::Reviewer {
            let approved = self.dice.percent(70);
            self.meet(if approved { "a reviewer's consent" } else { "a reviewer's refusal" });
            return ResultOutcome::Verdict { approved, comments: "as it should be".to_owned() };
        }
        let modify = vec![format!("src/{}.rs", self.dice.below(4))];
        ResultOutcome::Planned(PlannedChange { modify, ..PlannedChange::default() })
    }

    fn commit(
        &mut self,
        target: &Target,
        feature: &FeatureId,
        conflict: Option<&[String]>,
    ) -> CommitOutcome {
        let refuses = self.dice.percent(2);
        if let Some(paths) = conflict {
            if self.dice.percent(25) {
                self.meet("markers that are left");
                return CommitOutcome::Unresolved { paths: paths.to_vec() };
            }
            let name = (target.run.id.clone(), feature.clone());
            if let Some(repo) = self.repos.get_mut(&target.place.common_dir) {
                repo.resolve_conflict(&name, refname(target));
            }
            self.meet("a resolved conflict");
        }
        let rule = target.run.plan().map(|(spec, _)| spec.commit);
        let missing = || CommitOutcome::Failed { detail: "there is no worktree".to_owned() };
        let Some(repo) = self.repos.get_mut(&target.place.common_dir) else { return missing() };
        let name = (target.run.id.clone(), feature.clone());
        let Some(branch) = repo.branches.get(&name) else { return missing() };
        if branch.elsewhere {
            return CommitOutcome::LeftBranch { found: "elsewhere".to_owned() };
        }
        if rule == Some(CommitRule::Auto) && !branch.dirty.is_empty() {
            if refuses {
                return CommitOutcome::HookRefused { output: "no".to_owned() };
            }
            repo.commit_leftovers(&name);
        }
        let Some(branch) = repo.branches.get(&name) else { return missing() };
        let tested = Tested { commit: branch.tip.clone(), tree: repo.tree_id(&branch.tip) };
        if branch.tip == branch.base {
            CommitOutcome::NoChange(tested)
        } else {
            CommitOutcome::Commit(tested)
        }
    }

    fn merge(&mut self, target: &Target, commit: &Oid) -> MergeOutcome {
        let Some(repo) = self.repos.get_mut(&target.place.common_dir) else {
            return MergeOutcome::TargetMissing;
        };
        let Some(onto) = repo.refs.get(refname(target)).cloned() else {
            return MergeOutcome::TargetMissing;
        };
        if repo.is_ancestor(commit, &onto) {
            return MergeOutcome::AlreadyThere { commit: onto };
        }
        let tree = match repo.merge_trees(&onto, commit) {
            Ok(tree) => tree,
            Err(paths) => return MergeOutcome::Conflict { paths },
        };
        if tree == repo.tree(&onto) {
            return MergeOutcome::AlreadyThere { commit: onto };
        }
        let strategy = target.run.plan().map(|(spec, _)| spec.landing.strategy);
        let parents = match strategy {
            Some(Strategy::Squash | Strategy::Rebase) => vec![onto.clone()],
            Some(Strategy::Merge) | None => vec![onto.clone(), commit.clone()],
        };
        let made = repo.commit(parents, tree);
        repo.made_of.insert(made.clone(), commit.clone());
        let tree = repo.tree_id(&made);
        MergeOutcome::Merged(Merged { onto, commit: made, tree })
    }

    fn update(&mut self, target: &Target, feature: &FeatureId, merged: &Merged) -> UpdateOutcome {
        let blind = self.mutation == Mutation::SkipCompare;
        let name = refname(target);
        let Some(repo) = self.repos.get_mut(&target.place.common_dir) else {
            return UpdateOutcome::Missing;
        };
        let Some(tip) = repo.refs.get(name).cloned() else { return UpdateOutcome::Missing };
        if repo.is_ancestor(&merged.commit, &tip) {
            self.meet("an update that was done before");
            return UpdateOutcome::Landed;
        }
        if tip != merged.onto && !blind {
            return UpdateOutcome::Moved;
        }
        if repo.dirty.contains(name) {
            let (paths, why) = (vec!["readme".to_owned()], "uncommitted changes".to_owned());
            return UpdateOutcome::Dirty { paths, why };
        }
        if self.mutation == Mutation::LandNothing {
            return UpdateOutcome::Landed;
        }
        repo.refs.insert(name.to_owned(), merged.commit.clone());
        self.note(|| format!("git: {name} moves to {} for {feature}", merged.commit));
        self.check_landing(target, feature, merged, &tip);
        UpdateOutcome::Landed
    }
}

/// The target ref of a plan run.
pub(super) fn refname(target: &Target) -> &str {
    target.run.plan().map_or("refs/heads/main", |(spec, _)| spec.target.as_str())
}
