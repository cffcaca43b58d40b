//! The git work of a landing: the merged commit, and moving the target and its remote.

use tidegate_core::ids::Oid;
use tidegate_core::plan::{LandingSpec, RemoteSync, Strategy};
use tidegate_core::run::{MergeOutcome, Merged, UpdateOutcome};
use tidegate_git as git;
use tidegate_git::{
    GitError, NetworkFailure, PushOutcome, RemoteBranch, RemoteTip, Repo, RevertCheck,
};

use super::context::text;
use super::features::{Work, seconds, short};
use super::obstacle::{texts, told};

/// Losses that are told of one landing.
const LOSSES_MAX: usize = 50;

impl Work {
    fn landing(&self) -> Result<&LandingSpec, GitError> {
        let spec = self.target.run.plan().map(|(spec, _)| &spec.landing);
        spec.ok_or_else(|| GitError::Missing { what: "the plan's landing".to_owned() })
    }

    /// Where the merge builds on: the target, or what was pushed to its remote before it could follow.
    fn onto(&self, repo: &Repo) -> Result<Option<Oid>, GitError> {
        let Some(local) = repo.resolve(self.refname()?)? else { return Ok(None) };
        let pushed = repo.resolve(&self.remote_ref()?)?;
        let ahead = match pushed {
            Some(pushed) if repo.is_ancestor(&local, &pushed)? => Some(pushed),
            Some(_) | None => None,
        };
        Ok(Some(ahead.unwrap_or(local)))
    }

    /// The ref of ours that what the remote has is fetched into.
    fn remote_ref(&self) -> Result<String, GitError> {
        Ok(format!("refs/tidegate/remote/{}", short(self.refname()?)))
    }

    /// The branch at a remote that the target follows, where landings go there.
    fn upstream(&self, repo: &Repo) -> Result<Option<RemoteBranch>, GitError> {
        match self.landing()?.remote {
            RemoteSync::Auto => repo.upstream(self.refname()?),
            RemoteSync::Off => Ok(None),
        }
    }

    /// Whether the remote still gives no answer. Whatever it answers, the landing finds out what that means.
    pub(super) fn remote_is_silent(&self) -> Result<bool, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let Some(branch) = self.upstream(&repo)? else { return Ok(false) };
        let tip = repo.remote_tip(&branch)?;
        Ok(matches!(tip, RemoteTip::Unknown(NetworkFailure::Unreachable { .. })))
    }

    /// Makes the merged commit. `reverts`: a person wants it although it takes back what others landed.
    pub(super) fn merge(&self, commit: &Oid, reverts: bool) -> Result<MergeOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let Some(onto) = self.onto(&repo)? else { return Ok(MergeOutcome::TargetMissing) };
        let strategy = match self.landing()?.strategy {
            Strategy::Merge => git::Strategy::Merge,
            Strategy::Squash => git::Strategy::Squash,
            Strategy::Rebase => git::Strategy::Rebase,
        };
        let request = git::MergeRequest {
            target_tip: onto.clone(),
            branch_tip: commit.clone(),
            strategy,
            message: self.message()?,
            when_unix_s: seconds(),
            identity: repo.identity()?,
            keep_as: Some(self.keep("merge")),
        };
        let merged = match repo.merge(&request)? {
            git::MergeOutcome::Merged { commit, tree } => Merged { onto, commit, tree },
            git::MergeOutcome::Conflict { paths, .. } => {
                return Ok(MergeOutcome::Conflict { paths: texts(&paths) });
            }
            git::MergeOutcome::NoChange { .. } => {
                return Ok(MergeOutcome::AlreadyThere { commit: onto });
            }
            git::MergeOutcome::Unrelated => {
                return Ok(MergeOutcome::Failed { detail: unrelated(&repo) });
            }
        };
        let losses = if reverts { Vec::new() } else { self.losses(&repo, commit, &merged)? };
        Ok(if losses.is_empty() {
            MergeOutcome::Merged(merged)
        } else {
            MergeOutcome::SilentRevert { losses }
        })
    }

    /// What the landing would take back of what others landed since the branch began, a line each.
    fn losses(&self, repo: &Repo, commit: &Oid, merged: &Merged) -> Result<Vec<String>, GitError> {
        let plan = self.target.run.plan();
        let feature = plan.and_then(|(_, plan)| plan.features.get(&self.feature));
        let Some(base) = feature.and_then(|feature| feature.base.clone()) else {
            return Ok(Vec::new());
        };
        let check = RevertCheck {
            base,
            target: merged.onto.clone(),
            feature: commit.clone(),
            merged: merged.commit.clone(),
        };
        let loss = |revert: &git::SilentRevert| {
            let first = revert.lines.first().map(|line| format!(": {}", line.text.trim_end()));
            let by = revert.commits.first().map(|commit| format!(" (of {commit})"));
            let (first, by) = (first.unwrap_or_default(), by.unwrap_or_default());
            format!("{}{first}{by}", text(&revert.path))
        };
        let found = repo.silent_reverts(&check)?;
        Ok(found.iter().take(LOSSES_MAX).map(loss).collect())
    }

    fn message(&self) -> Result<String, GitError> {
        let landing = self.landing()?;
        let template = match (&landing.message, landing.strategy) {
            (Some(message), _) => message.as_str(),
            (None, Strategy::Merge | Strategy::Rebase) => "Merge feature {feature}",
            (None, Strategy::Squash) => "{title}",
        };
        let template = git::MessageTemplate::parse(template)
            .map_err(|error| GitError::Missing { what: error.to_string() })?;
        let run = &self.target.run.id;
        let values = git::MessageValues {
            feature: self.feature.to_string(),
            title: self.title(),
            run: run.to_string(),
            target: short(self.refname()?).to_owned(),
            branch: self.branch(),
        };
        let trailers = [
            ("Tidegate-Run".to_owned(), run.to_string()),
            ("Tidegate-Feature".to_owned(), self.feature.to_string()),
        ];
        Ok(template.render(&values, &trailers))
    }

    fn title(&self) -> String {
        let spec = self.target.run.plan().and_then(|(spec, _)| spec.features.get(&self.feature));
        spec.map_or_else(|| format!("Land feature {}", self.feature), |spec| spec.title.clone())
    }

    fn update_request(&self, repo: &Repo, merged: &Merged) -> Result<git::UpdateRequest, GitError> {
        let target = self.refname()?.to_owned();
        // A local target that is behind what was pushed goes on from where it is.
        let old = match repo.resolve(&target)? {
            Some(local) if local != merged.onto && repo.is_ancestor(&local, &merged.onto)? => local,
            Some(_) | None => merged.onto.clone(),
        };
        Ok(git::UpdateRequest { target, old, new: merged.commit.clone() })
    }

    /// Moves the target, at its remote first where it follows one.
    pub(super) fn update(&self, merged: &Merged) -> Result<UpdateOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let update = self.update_request(&repo, merged)?;
        let moved = match self.upstream(&repo)? {
            Some(branch) => match self.publish(&repo, branch, update, merged)? {
                Ok(local) => local,
                Err(outcome) => return Ok(outcome),
            },
            None => match repo.update_target(&update) {
                // Whatever went wrong afterwards: what is on the target has landed.
                Err(_) if repo.has_landed(&merged.commit, self.refname()?)? => {
                    git::UpdateOutcome::AlreadyThere
                }
                other => other?,
            },
        };
        Ok(match moved {
            git::UpdateOutcome::Updated | git::UpdateOutcome::AlreadyThere => {
                self.forget(&repo);
                UpdateOutcome::Landed
            }
            git::UpdateOutcome::Moved { .. } => UpdateOutcome::Moved,
            git::UpdateOutcome::Dirty(dirty) => {
                let (paths, why) = told(&dirty);
                UpdateOutcome::Dirty { paths, why }
            }
            git::UpdateOutcome::Missing => UpdateOutcome::Missing,
        })
    }

    /// The target keeps the commit from here on.
    fn forget(&self, repo: &Repo) {
        if let Err(error) = repo.delete_own_ref(&self.keep("merge")) {
            tracing::warn!(%error, "a ref of ours is left behind");
        }
    }

    /// Pushes, then lets the local target follow. The outer result is git's, the inner error what to
    /// tell instead of the local target's move.
    fn publish(
        &self,
        repo: &Repo,
        branch: RemoteBranch,
        update: git::UpdateRequest,
        merged: &Merged,
    ) -> Result<Result<git::UpdateOutcome, UpdateOutcome>, GitError> {
        let name = branch.remote.clone();
        let push = git::PushRequest {
            branch,
            old: Some(merged.onto.clone()),
            new: merged.commit.clone(),
            into: self.remote_ref()?,
        };
        let outcome = repo.publish(&git::PublishRequest { update, push })?;
        Ok(match outcome {
            git::PublishOutcome::LocalMoved(local) => Ok(local),
            git::PublishOutcome::LocalDirty(dirty) => Ok(git::UpdateOutcome::Dirty(dirty)),
            git::PublishOutcome::NotPushed(push) => Err(not_pushed(&name, push)),
            git::PublishOutcome::Landed { local, .. } => match local {
                git::UpdateOutcome::Dirty(dirty) => {
                    let (paths, why) = told(&dirty);
                    Err(UpdateOutcome::Behind { paths, why })
                }
                // The user has gone on from somewhere else: what was pushed has landed all the same.
                git::UpdateOutcome::Moved { .. }
                | git::UpdateOutcome::Missing
                | git::UpdateOutcome::Updated
                | git::UpdateOutcome::AlreadyThere => Ok(git::UpdateOutcome::AlreadyThere),
            },
        })
    }
}

/// What a push that did not come through means for the landing.
fn not_pushed(remote: &str, push: PushOutcome) -> UpdateOutcome {
    let refused = |detail: String| UpdateOutcome::PushRefused { detail };
    match push {
        // Somebody was faster: what they pushed is here, and the merge is made again on top of it.
        PushOutcome::Rejected { .. } => UpdateOutcome::Moved,
        PushOutcome::Pushed | PushOutcome::AlreadyThere => UpdateOutcome::Landed,
        PushOutcome::Diverged { local, remote: there } => {
            let word =
                |oid: Option<Oid>| oid.map_or_else(|| "nowhere".to_owned(), |o| o.to_string());
            let (local, there) = (word(local), word(there));
            UpdateOutcome::Diverged {
                detail: format!(
                    "the target was taken to be at {local} at {remote}, and is at {there}"
                ),
            }
        }
        PushOutcome::Refused { by, output } => {
            let who = match by {
                git::RefusedBy::LocalHook => "the pre-push hook".to_owned(),
                git::RefusedBy::Remote => remote.to_owned(),
            };
            refused(format!("{who} refused the push: {}", output.trim_end()))
        }
        PushOutcome::Failed(NetworkFailure::AuthNeeded { output }) => {
            refused(format!("{remote} wants credentials: {}", output.trim_end()))
        }
        PushOutcome::Failed(NetworkFailure::Unreachable { output }) => {
            let detail = format!("{remote} cannot be reached: {}", output.trim_end());
            UpdateOutcome::Unreachable { detail }
        }
    }
}

/// Why two commits have no merge base, for people.
fn unrelated(repo: &Repo) -> String {
    if repo.is_shallow() {
        let what = "the clone is shallow, and where the branch and its target part is cut off";
        return format!("{what}: `git fetch --unshallow` brings it");
    }
    "the branch and its target share no history".to_owned()
}
