//! Which ended runs left something: read off the repository, the worktrees and the job directories, so that it
//! costs as much as there is left, not as much as there ever was.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tidegate_core::ids::{FeatureId, JobId, Oid, ProjectId, RunId};
use tidegate_git::{GitError, Repo};

/// What one feature left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FeatureLeavings {
    /// Whether there is, or was, a folder for it.
    pub(super) has_worktree: bool,
    /// Its branch.
    pub(super) branch: Option<Oid>,
    /// Refs below `refs/tidegate/`, by their full names.
    pub(super) refs: BTreeMap<String, Oid>,
}

/// What was left, by run and feature.
pub(super) type Leavings = BTreeMap<RunId, BTreeMap<FeatureId, FeatureLeavings>>;

/// What the runs of a project left in its repository and among the home's worktrees.
///
/// # Errors
/// What git gives.
pub(super) fn of_project(
    home: &Path,
    project: &ProjectId,
    repo: &Repo,
) -> Result<Leavings, GitError> {
    let mut all = Leavings::new();
    let mut of = |run: &str, feature: &str, take: &mut dyn FnMut(&mut FeatureLeavings)| {
        if let (Ok(run), Ok(feature)) = (RunId::new(run), FeatureId::new(feature)) {
            take(all.entry(run).or_default().entry(feature).or_default());
        }
    };
    for (name, oid) in repo.refs_below("refs/heads/tidegate/")? {
        let rest = name.strip_prefix("refs/heads/tidegate/").unwrap_or_default();
        if let Some((run, feature)) = rest.split_once('/') {
            of(run, feature, &mut |left| left.branch = Some(oid.clone()));
        }
    }
    for (name, oid) in repo.refs_below("refs/tidegate/")? {
        let mut parts = name.splitn(5, '/').skip(3);
        if let (Some(run), Some(feature)) = (parts.next(), parts.next()) {
            // Behind the feature there may be a number.
            let feature = feature.split('/').next().unwrap_or_default();
            let (name, oid) = (&name, &oid);
            of(run, feature, &mut |left| drop(left.refs.insert(name.clone(), oid.clone())));
        }
    }
    for name in names(&home.join("worktrees").join(project.as_str())) {
        if let Some((feature, run)) = name.rsplit_once('-') {
            of(run, feature, &mut |left| left.has_worktree = true);
        }
    }
    Ok(all)
}

/// The runs that have job directories, with them.
pub(super) fn of_jobs(home: &Path) -> BTreeMap<RunId, BTreeSet<JobId>> {
    let mut all: BTreeMap<RunId, BTreeSet<JobId>> = BTreeMap::new();
    for name in names(&home.join("jobs")) {
        if let Ok(job) = JobId::parse(&name) {
            all.entry(job.run().clone()).or_default().insert(job);
        }
    }
    all
}

/// The names in a folder; one that is not there, or cannot be listed, has none.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
