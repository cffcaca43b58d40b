//! Directories of jobs and pooled checkouts: what of them may go.

use std::collections::BTreeSet;
use std::path::Path;

use tidegate_core::cleanup::{CleanupScope, Kept, Proof, Removal, Thing};
use tidegate_core::ids::{JobId, ProjectId};
use tidegate_core::run::{JobState, Run};
use tidegate_process::HomeLock;
use tidegate_process::LockProbe;

use super::leavings::names;
use super::survey::Plan;

/// Looks at the job directories of an ended run.
pub(super) fn look(
    home: &Path,
    run: &Run,
    jobs: &BTreeSet<JobId>,
    scope: &CleanupScope,
    plan: &mut Plan,
) {
    if jobs.is_empty() {
        return;
    }
    let project = run.queue.project.clone();
    let ended = run.status.ended_at();
    if ended.is_none_or(|ended| ended >= scope.jobs_before) {
        if scope.run.is_some() {
            let name = format!("{} of {}", jobs.len(), run.id);
            let why = "it ended too lately for its output to go (`--older-than` says how lately)";
            let run = Some(run.id.clone());
            plan.keep(Kept { what: Thing::Job, name, project, run, why: why.to_owned() });
        }
        return;
    }
    for job in jobs {
        let name = job.to_string();
        match why_kept(home, run, job) {
            Some(why) => plan.keep(Kept {
                what: Thing::Job,
                name,
                project: project.clone(),
                run: Some(run.id.clone()),
                why: why.to_owned(),
            }),
            None => plan.remove(Removal {
                what: Thing::Job,
                name,
                project: project.clone(),
                run: Some(run.id.clone()),
                feature: None,
                proof: Proof::Recorded,
                commit: None,
                snapshot: None,
            }),
        }
    }
}

fn why_kept(home: &Path, run: &Run, job: &JobId) -> Option<&'static str> {
    match run.jobs.get(job).map(|job| &job.state) {
        Some(JobState::Finished { .. }) => {}
        Some(JobState::Quarantined { .. }) => return Some("it is in quarantine"),
        Some(JobState::Launching | JobState::Running(_) | JobState::Stopping { .. }) => {
            return Some("its end is not recorded");
        }
        None => return Some("its run does not know it: `tidegate doctor` tells more"),
    }
    let lock = home.join("jobs").join(job.to_string()).join("lock");
    match HomeLock::probe(&lock) {
        Ok(LockProbe { held: false, .. }) => None,
        Ok(LockProbe { held: true, .. }) => Some("its shim lives"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(_) => Some("its lock cannot be read"),
    }
}

/// Looks at the pooled checkouts of a project, of whose runs `open` tells whether one has not ended.
pub(super) fn look_at_pool(home: &Path, project: &ProjectId, open: bool, plan: &mut Plan) {
    let pool = home.join("checkouts").join(project.as_str());
    for slot in names(&pool) {
        let name = pool.join(slot).to_string_lossy().into_owned();
        if open {
            let why = "a run of the project has not ended".to_owned();
            let project = project.clone();
            plan.keep(Kept { what: Thing::Checkout, name, project, run: None, why });
        } else {
            plan.remove(Removal {
                what: Thing::Checkout,
                name,
                project: project.clone(),
                run: None,
                feature: None,
                proof: Proof::Derived,
                commit: None,
                snapshot: None,
            });
        }
    }
}
