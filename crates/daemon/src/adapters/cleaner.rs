//! Clean-ups, one at a time: each thing is looked at again, captured where it has files of an agent, recorded, and only then
//! removed. A daemon that died goes on from the world as it finds it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidegate_core::cleanup::{Cleanup, CleanupEnd, Kept, Removal, Restoration, Thing};
use tidegate_core::ids::{ProjectId, RunId};
use tidegate_git as git;
use tidegate_git::{GitError, Repo, SnapshotOutcome, Vault, WorktreeStand};

use super::context::Shared;
use super::features::seconds;
use super::ports::Ports;
use super::repos::Repos;
use crate::cleanup::{Plan, Survey, Unit};
use crate::engine::{Command, Target};

/// What stays is told of up to this number; the rest is counted.
const KEPT_MAX: usize = 500;
/// Wait before a clean-up that could not go on is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Does clean-ups.
#[derive(Debug)]
pub(super) struct Cleaner {
    pub(super) ctx: Shared,
    pub(super) repos: Arc<Repos>,
    pub(super) ports: Arc<Ports>,
    queue: Mutex<Queue>,
}

/// What waits for its turn.
#[derive(Debug)]
pub(super) enum Task {
    /// A clean-up.
    Clean(Cleanup),
    /// A worktree to put back, by its number.
    Restore(u64, Restoration),
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Task>,
    is_busy: bool,
}

/// Why a clean-up does not go on now.
pub(super) enum Halt {
    /// The daemon ends; the next one goes on.
    Ending,
    /// It may go on later.
    Later(String),
}

impl Cleaner {
    pub(super) fn new(ctx: &Shared, repos: &Arc<Repos>, ports: &Arc<Ports>) -> Arc<Self> {
        let (ctx, repos, ports) = (Arc::clone(ctx), Arc::clone(repos), Arc::clone(ports));
        Arc::new(Self { ctx, repos, ports, queue: Mutex::default() })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a task on; it is done behind those that wait.
    pub(super) fn take(self: &Arc<Self>, task: Task) {
        let mut queue = self.queue();
        queue.waiting.push_back(task);
        if !queue.is_busy {
            queue.is_busy = true;
            let own = Arc::clone(self);
            self.ctx.workers.now(move || own.serve());
        }
    }

    /// Does what waits.
    fn serve(self: Arc<Self>) {
        loop {
            let next = {
                let mut queue = self.queue();
                let next = queue.waiting.pop_front();
                queue.is_busy = next.is_some();
                next
            };
            let Some(task) = next else { return };
            let done = match &task {
                Task::Clean(cleanup) => self.clean(cleanup),
                Task::Restore(number, restoration) => self.restore(*number, restoration),
            };
            match done {
                Ok(()) => {}
                Err(Halt::Ending) => return,
                Err(Halt::Later(why)) => {
                    tracing::warn!(?task, why, "it is tried again");
                    self.queue().waiting.push_front(task);
                    let own = Arc::clone(&self);
                    self.ctx.workers.after(AGAIN, move || own.serve());
                    return;
                }
            }
        }
    }

    fn clean(&self, cleanup: &Cleanup) -> Result<(), Halt> {
        let later = |problem: tidegate_protocol::Problem| Halt::Later(problem.message);
        let scope = cleanup.scope.clone();
        let survey = Survey::open(&self.ctx.home, self.ctx.git.clone(), scope).map_err(later)?;
        let mut survey = survey.ok_or_else(|| Halt::Later("the store is gone".to_owned()))?;
        self.empty_trash();
        let mut end = Plan::default();
        for unit in survey.units(&mut end).map_err(later)? {
            let work = Removing { cleaner: self, number: cleanup.number, survey: &survey };
            work.unit(&unit, &mut end)?;
        }
        if cleanup.scope.run.is_none() {
            self.pools(cleanup.number, &mut survey, &mut end)?;
        }
        for (project, place) in survey.projects() {
            if let Some(vault) = survey.vault(project, place)
                && let Err(error) = vault.collect()
            {
                tracing::warn!(%project, %error, "garbage of snapshots was not collected");
            }
        }
        let deleted = cleanup.scope.run.clone();
        let deleted = deleted.filter(|_| cleanup.scope.delete && end.kept.is_empty());
        let more = end.kept.len().saturating_sub(KEPT_MAX);
        end.kept.truncate(KEPT_MAX);
        let kept_more = u64::try_from(more).unwrap_or(u64::MAX);
        let end = Box::new(CleanupEnd { kept: end.kept, kept_more, deleted });
        self.record(Command::EndCleanup { number: cleanup.number, end })
    }

    /// Records something before anything follows from it.
    pub(super) fn record(&self, command: Command) -> Result<(), Halt> {
        fail::fail_point!("daemon.cleanup.before_record");
        match self.ctx.reports.record(command) {
            None => return Err(Halt::Ending),
            Some(Err(problem)) => return Err(Halt::Later(problem.message)),
            Some(Ok(_)) => {}
        }
        fail::fail_point!("daemon.cleanup.after_record");
        Ok(())
    }

    fn trash(&self, name: &str) -> PathBuf {
        self.ctx.home.join("trash").join(name)
    }

    /// What was moved away and not removed when a daemon died.
    fn empty_trash(&self) {
        let folder = self.ctx.home.join("trash");
        if folder.exists()
            && let Err(error) = std::fs::remove_dir_all(&folder)
        {
            tracing::warn!(%error, "the home's trash is not empty");
        }
    }

    /// Pooled checkouts of projects whose runs have all ended: nobody can make one meanwhile.
    fn pools(&self, number: u64, survey: &mut Survey, end: &mut Plan) -> Result<(), Halt> {
        let _closed = self.repos.close_pool();
        let mut plan = Plan::default();
        survey.look_at_pools(&mut plan).map_err(|problem| Halt::Later(problem.message))?;
        end.kept.append(&mut plan.kept);
        for removal in plan.removals {
            let place = survey.projects().find(|(id, _)| **id == removal.project);
            let Some((_, place)) = place else { continue };
            let work = Removing { cleaner: self, number, survey };
            let gone = work.checkout(&place.common_dir, &removal, || survey.repo(place));
            self.repos.release(&nobody());
            keep_on_error(gone, &removal, end)?;
        }
        Ok(())
    }
}

/// Holds a repository for work that is no run's.
fn nobody() -> RunId {
    RunId::from_parts(0, 0)
}

/// A clean-up within one look at the home.
struct Removing<'a> {
    cleaner: &'a Cleaner,
    number: u64,
    survey: &'a Survey,
}

/// Why a thing was not removed.
enum Stays {
    Halt(Halt),
    Because(String),
}

impl From<GitError> for Stays {
    fn from(error: GitError) -> Self {
        Self::Because(error.to_string())
    }
}

impl From<Halt> for Stays {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

fn keep_on_error(gone: Result<(), Stays>, removal: &Removal, end: &mut Plan) -> Result<(), Halt> {
    match gone {
        Ok(()) => Ok(()),
        Err(Stays::Halt(halt)) => Err(halt),
        Err(Stays::Because(why)) => {
            end.kept.push(Kept {
                what: removal.what,
                name: removal.name.clone(),
                project: removal.project.clone(),
                run: removal.run.clone(),
                why,
            });
            Ok(())
        }
    }
}

impl Removing<'_> {
    /// Removes what a run left, thing by thing, for as long as nothing that it depends on stays.
    fn unit(&self, unit: &Unit, end: &mut Plan) -> Result<(), Halt> {
        let mut plan = Plan::default();
        self.survey.look(unit, &mut plan);
        end.kept.append(&mut plan.kept);
        for removal in plan.removals {
            let stayed = end.kept.iter().any(|kept| {
                kept.what == Thing::Worktree && kept.run.as_ref() == Some(&unit.run.id)
            });
            if stayed && removal.what == Thing::Snapshots {
                continue;
            }
            let gone = self.one(unit, removal.clone());
            keep_on_error(gone, &removal, end)?;
        }
        self.cleaner.repos.release(&unit.run.id);
        Ok(())
    }

    fn one(&self, unit: &Unit, removal: Removal) -> Result<(), Stays> {
        if removal.what == Thing::Job {
            return self.job(removal);
        }
        let gone = || Stays::Because("its project is not registered".to_owned());
        let place = unit.place.clone().ok_or_else(gone)?;
        let target = Target { run: Arc::clone(&unit.run), place };
        let repo = self.cleaner.repos.serve(&target)?;
        match removal.what {
            Thing::Worktree => self.worktree(&repo, &target, removal),
            Thing::Branch | Thing::Ref => {
                let moved = || Stays::Because("it has moved meanwhile".to_owned());
                let commit = removal.commit.clone().ok_or_else(moved)?;
                let name = removal.name.clone();
                if removal.what == Thing::Branch && repo.worktree_of_branch(&name)?.is_some() {
                    return Err(Stays::Because("a worktree has it checked out".to_owned()));
                }
                self.record(removal)?;
                let removed = repo.remove_ref(&name, &commit)?;
                if removed { Ok(()) } else { Err(moved()) }
            }
            Thing::Snapshots => {
                let name = removal.name.clone();
                let vault = self.survey.vault(&removal.project, &target.place);
                self.record(removal)?;
                Ok(vault.map_or(Ok(()), |vault| vault.forget(&name))?)
            }
            Thing::Checkout | Thing::Job => Ok(()),
        }
    }

    fn record(&self, removal: Removal) -> Result<(), Halt> {
        let (number, removal) = (self.number, Box::new(removal));
        self.cleaner.record(Command::RecordRemoval { number, removal })
    }

    /// Captures, records, then removes.
    fn worktree(&self, repo: &Repo, target: &Target, mut removal: Removal) -> Result<(), Stays> {
        let path = PathBuf::from(&removal.name);
        if let Some(head) = removal.commit.clone() {
            removal.snapshot = self.capture(repo, target, &removal, &path)?;
            // What was written meanwhile is in no proof.
            if repo.worktree_stand(&path)? != (WorktreeStand::Clean { head }) {
                return Err(Stays::Because("it has changed meanwhile".to_owned()));
            }
        }
        let trash = self.trash_of(&path);
        self.record(removal)?;
        repo.remove_worktree(&path, &trash)?;
        Ok(())
    }

    fn capture(
        &self,
        repo: &Repo,
        target: &Target,
        removal: &Removal,
        path: &Path,
    ) -> Result<Option<u32>, Stays> {
        let missing = || Stays::Because("its feature is not known".to_owned());
        let feature = removal.feature.as_ref().ok_or_else(missing)?;
        let run = &target.run;
        let recorded = run.plan().and_then(|(_, plan)| plan.features.get(feature)?.base.clone());
        let kept = format!("refs/tidegate/base/{}/{feature}", run.id);
        let base = match recorded {
            Some(base) => Some(base),
            None => repo.resolve(&kept)?,
        };
        let base = base.or_else(|| removal.commit.clone()).ok_or_else(missing)?;
        let vault = Vault::create(repo, &self.cleaner.ctx.snapshots(project(target)))?;
        let request = git::SnapshotRequest {
            series: format!("{}/{feature}", run.id),
            worktree: path.to_owned(),
            base,
            branch: format!("tidegate/{}/{feature}", run.id),
            when_unix_s: seconds(),
            reason: "before a clean-up".to_owned(),
        };
        Ok(match vault.take(repo, &request)? {
            SnapshotOutcome::Taken(snapshot) => Some(snapshot.number),
            SnapshotOutcome::Unchanged { number, .. } => Some(number),
            SnapshotOutcome::NoWorktree => None,
        })
    }

    fn trash_of(&self, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.cleaner.trash(&name)
    }

    fn checkout(
        &self,
        common_dir: &str,
        removal: &Removal,
        open: impl Fn() -> Result<Repo, GitError>,
    ) -> Result<(), Stays> {
        let repo = open()?;
        self.cleaner.repos.hold(common_dir, &nobody())?;
        let path = PathBuf::from(&removal.name);
        let trash = self.trash_of(&path);
        self.record(removal.clone())?;
        repo.remove_worktree(&path, &trash)?;
        Ok(())
    }

    /// A job's directory goes in one step: half of its records would say something else than all.
    fn job(&self, removal: Removal) -> Result<(), Stays> {
        let path = self.cleaner.ctx.jobs().join(&removal.name);
        let trash = self.cleaner.trash(&removal.name);
        let failed = |doing: &str| {
            let doing = doing.to_owned();
            move |error: std::io::Error| Stays::Because(format!("{doing}: {error}"))
        };
        self.record(removal)?;
        std::fs::create_dir_all(self.cleaner.ctx.home.join("trash")).map_err(failed("trash"))?;
        fail::fail_point!("daemon.cleanup.before_job");
        match std::fs::rename(&path, &trash) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed("move it away")(error)),
        }
        fail::fail_point!("daemon.cleanup.after_job");
        std::fs::remove_dir_all(&trash).map_err(failed("remove it"))
    }
}

fn project(target: &Target) -> &ProjectId {
    &target.run.queue.project
}
