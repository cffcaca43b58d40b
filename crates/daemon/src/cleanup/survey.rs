//! The look at all that ended runs left. It changes nothing, and asks no daemon.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_core::cleanup::{CleanupScope, Kept, Removal, Thing};
use tidegate_core::home::Place;
use tidegate_core::ids::{FeatureId, JobId, ProjectId, RunId};
use tidegate_core::run::Run;
use tidegate_git::{Git, GitError, Repo, Vault};
use tidegate_protocol::Problem;
use tidegate_store::{OpenError, Reader, StoreError};

use super::features::OneFeature;
use super::jobs;
use super::leavings::{self, FeatureLeavings};
use crate::adapters::HelperExec;
use crate::views::{open_problem, store_problem};

/// What may go, in the order in which it may, and what stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// What is proved to be safe to remove.
    pub removals: Vec<Removal>,
    /// What stays.
    pub kept: Vec<Kept>,
}

impl Plan {
    pub(super) fn remove(&mut self, removal: Removal) {
        self.removals.push(removal);
    }

    pub(crate) fn keep(&mut self, kept: Kept) {
        self.kept.push(kept);
    }
}

/// An ended run that left something.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) run: Arc<Run>,
    /// Its repository, while that is registered.
    pub(crate) place: Option<Place>,
    features: BTreeMap<FeatureId, FeatureLeavings>,
    jobs: BTreeSet<JobId>,
}

/// What a clean-up would do now: the dry run.
///
/// # Errors
/// `not_found`; `invalid_status_transition` for a run that has not ended; `corrupt`, `io`.
pub fn plan(home: &Path, scope: &CleanupScope) -> Result<Plan, Problem> {
    let git = Git::new(Arc::new(HelperExec));
    let mut plan = Plan::default();
    let Some(mut survey) = Survey::open(home, git, scope.clone())? else { return Ok(plan) };
    for unit in survey.units(&mut plan)? {
        survey.look(&unit, &mut plan);
    }
    survey.look_at_pools(&mut plan)?;
    Ok(plan)
}

/// A home under the eyes of a clean-up.
pub(crate) struct Survey {
    pub(crate) home: PathBuf,
    pub(crate) git: Git,
    pub(crate) scope: CleanupScope,
    reader: Reader,
    projects: BTreeMap<ProjectId, Place>,
}

impl Survey {
    /// Opens the home; `None` when it has no store.
    pub(crate) fn open(
        home: &Path,
        git: Git,
        scope: CleanupScope,
    ) -> Result<Option<Self>, Problem> {
        let mut reader = match Reader::open(home) {
            Ok(reader) => reader,
            Err(OpenError::NoStore { .. }) => return Ok(None),
            Err(error) => return Err(open_problem(&error)),
        };
        let projects =
            reader.read(|view| view.projects()).map_err(|error| store_problem(&error))?;
        let projects = projects.into_iter().collect();
        Ok(Some(Self { home: home.to_owned(), git, scope, reader, projects }))
    }

    pub(crate) fn repo(&self, place: &Place) -> Result<Repo, GitError> {
        Repo::open(&self.git, Path::new(&place.common_dir))
    }

    pub(crate) fn vault(&self, project: &ProjectId, place: &Place) -> Option<Vault> {
        let dir = self.home.join("snapshots").join(format!("{project}.git"));
        Vault::find(&self.git, &dir, Path::new(&place.common_dir))
    }

    pub(crate) fn projects(&self) -> impl Iterator<Item = (&ProjectId, &Place)> {
        let only = self.scope.project.as_ref();
        self.projects.iter().filter(move |(id, _)| only.is_none_or(|only| only == *id))
    }

    /// The ended runs of the scope that left something.
    pub(crate) fn units(&mut self, plan: &mut Plan) -> Result<Vec<Unit>, Problem> {
        let mut found: BTreeMap<RunId, BTreeMap<FeatureId, FeatureLeavings>> = BTreeMap::new();
        for (project, place) in self.projects() {
            let left =
                self.repo(place).and_then(|repo| leavings::of_project(&self.home, project, &repo));
            match left {
                Ok(left) => {
                    for (run, features) in left {
                        found.entry(run).or_default().extend(features);
                    }
                }
                Err(error) => plan.keep(Kept {
                    what: Thing::Ref,
                    name: place.common_dir.clone(),
                    project: project.clone(),
                    run: None,
                    why: format!("the repository cannot be read: {error}"),
                }),
            }
        }
        let mut all_jobs = leavings::of_jobs(&self.home);
        for run in all_jobs.keys() {
            found.entry(run.clone()).or_default();
        }
        let mut units = Vec::new();
        for (id, features) in found {
            let jobs = all_jobs.remove(&id).unwrap_or_default();
            let Some(run) = self.ended(&id)? else { continue };
            let place = self.projects.get(&run.queue.project).cloned();
            units.push(Unit { run: Arc::new(run), place, features, jobs });
        }
        Ok(units)
    }

    /// The run, when it is of this home and of the scope and has ended. One whose records do not read back has not.
    fn ended(&mut self, id: &RunId) -> Result<Option<Run>, Problem> {
        let of = |mine: &Option<RunId>| mine.as_ref().is_none_or(|only| only == id);
        if !of(&self.scope.run) {
            return Ok(None);
        }
        let is_over = match self.reader.read(|view| view.run(id)) {
            Ok(row) => row.is_some_and(|row| row.status.is_terminal()),
            Err(StoreError::Corrupt(_)) => false,
            Err(error) => return Err(store_problem(&error)),
        };
        if !is_over {
            return Ok(None);
        }
        let run = match self.reader.read(|view| view.rebuild(id)) {
            Ok(Some(run)) => run,
            Ok(None) | Err(StoreError::Corrupt(_)) => return Ok(None),
            Err(error) => return Err(store_problem(&error)),
        };
        let scope = &self.scope;
        let of_project = scope.project.as_ref().is_none_or(|only| *only == run.queue.project);
        let ended = run.status.ended_at();
        let old = scope.ended_before.is_none_or(|before| ended.is_some_and(|at| at < before));
        Ok(Some(run).filter(|_| of_project && old && ended.is_some()))
    }

    /// Looks at all that a run left. What cannot be looked at stays.
    pub(crate) fn look(&self, unit: &Unit, plan: &mut Plan) {
        let project = &unit.run.queue.project;
        if let Some(place) = &unit.place {
            for (feature, left) in &unit.features {
                let mut found = Plan::default();
                match self.look_at_feature(unit, place, feature, left, &mut found) {
                    Ok(()) => {
                        plan.removals.append(&mut found.removals);
                        plan.kept.append(&mut found.kept);
                    }
                    Err(error) => plan.keep(Kept {
                        what: Thing::Branch,
                        name: format!("refs/heads/tidegate/{}/{feature}", unit.run.id),
                        project: project.clone(),
                        run: Some(unit.run.id.clone()),
                        why: format!("it cannot be looked at: {error}"),
                    }),
                }
            }
        }
        jobs::look(&self.home, &unit.run, &unit.jobs, &self.scope, plan);
    }

    fn look_at_feature(
        &self,
        unit: &Unit,
        place: &Place,
        feature: &FeatureId,
        left: &FeatureLeavings,
        found: &mut Plan,
    ) -> Result<(), GitError> {
        let project = &unit.run.queue.project;
        let folder = self.home.join("worktrees").join(project.as_str());
        let (repo, vault) = (self.repo(place)?, self.vault(project, place));
        let one = OneFeature {
            repo: &repo,
            vault: vault.as_ref(),
            run: &unit.run,
            feature,
            left,
            worktree: folder.join(format!("{feature}-{}", unit.run.id)),
            delete: self.scope.delete,
        };
        one.look(found)
    }

    /// Looks at the pooled checkouts, unless the clean-up is about one run.
    pub(crate) fn look_at_pools(&mut self, plan: &mut Plan) -> Result<(), Problem> {
        if self.scope.run.is_some() {
            return Ok(());
        }
        let projects: Vec<ProjectId> = self.projects().map(|(id, _)| id.clone()).collect();
        for project in projects {
            let open = self.has_open_run(&project)?;
            jobs::look_at_pool(&self.home, &project, open, plan);
        }
        Ok(())
    }

    /// Whether a run of the project has not ended, or may not have.
    pub(crate) fn has_open_run(&mut self, project: &ProjectId) -> Result<bool, Problem> {
        let open = self
            .reader
            .read(|view| view.pending_and_running())
            .map_err(|error| store_problem(&error))?;
        // A row that does not read back may be of any project.
        Ok(open.iter().any(|row| row.as_ref().map_or(true, |row| row.queue.project == *project)))
    }
}
