//! Putting the worktree of an ended run back to a snapshot: what is there now is captured first, and a daemon that died
//! does it again.

use std::sync::Arc;

use tidegate_core::cleanup::Restoration;
use tidegate_git::GitError;
use tidegate_store::Reader;

use super::cleaner::{Cleaner, Halt};
use super::features::Work;
use crate::engine::{Command, Target};

impl Cleaner {
    pub(super) fn restore(&self, number: u64, restoration: &Restoration) -> Result<(), Halt> {
        let target = self.target_of(restoration)?;
        let failure = match target {
            Ok(target) => {
                fail::fail_point!("daemon.restore.before_worktree");
                let done = self.put_back(target, restoration);
                fail::fail_point!("daemon.restore.after_worktree");
                self.repos.release(&restoration.run);
                done.err().map(|error| error.to_string())
            }
            Err(why) => Some(why),
        };
        self.record(Command::EndRestore { number, failure })
    }

    /// The run and its repository; the inner error says why there is none.
    fn target_of(&self, restoration: &Restoration) -> Result<Result<Target, String>, Halt> {
        let later = |error: &dyn std::fmt::Display| Halt::Later(error.to_string());
        let mut reader = Reader::open(&self.ctx.home).map_err(|error| later(&error))?;
        let run = reader.read(|view| view.rebuild(&restoration.run)).map_err(|e| later(&e))?;
        let Some(run) = run else { return Ok(Err("there is no such run".to_owned())) };
        let projects = reader.read(|view| view.projects()).map_err(|error| later(&error))?;
        let place = projects.into_iter().find(|(id, _)| *id == run.queue.project);
        Ok(match place {
            Some((_, place)) => Ok(Target { run: Arc::new(run), place }),
            None => Err(format!("its project {} is not registered", run.queue.project)),
        })
    }

    fn put_back(&self, target: Target, restoration: &Restoration) -> Result<(), GitError> {
        let missing = || GitError::Missing { what: format!("a base of {}", restoration.feature) };
        let plan = target.run.plan().map(|(_, plan)| plan);
        let feature = plan.and_then(|plan| plan.features.get(&restoration.feature));
        let base = feature.and_then(|feature| feature.base.clone()).ok_or_else(missing)?;
        let work = Work {
            ctx: Arc::clone(&self.ctx),
            repos: Arc::clone(&self.repos),
            ports: Arc::clone(&self.ports),
            target,
            feature: restoration.feature.clone(),
        };
        work.roll_back(restoration.snapshot, &base).map(drop)
    }
}
