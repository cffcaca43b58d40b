//! Clean-ups: the dry run, and how far one is.

use tidegate_core::cleanup::{CleanupScope, Kept, Removal};
use tidegate_core::home::HomeEvent;
use tidegate_core::ids::{ProjectId, RunId};
use tidegate_core::time::WallMs;
use tidegate_protocol::{
    CleanupDoc, CleanupRequest, ErrorCode, KeptDoc, Problem, RemovalDoc, RestorationDoc,
};

use super::viewer::Viewer;
use crate::{cleanup, clock};

/// How long the job directories of a run stay when nobody says otherwise.
const JOBS_KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1000;

impl Viewer {
    /// What a request is about, as of `now`.
    ///
    /// # Errors
    /// As [`Viewer::resolve`]; `not_found` for a project; `invalid_status_transition` for a run that
    /// has not ended.
    pub fn cleanup_scope(
        &mut self,
        request: &CleanupRequest,
        now: WallMs,
    ) -> Result<CleanupScope, Problem> {
        let before = |ms: u64| WallMs(now.0.saturating_sub(ms));
        let run = match &request.run {
            Some(prefix) => Some(self.ended_run(prefix)?),
            None if request.delete => {
                return Err(Problem::invalid_input("a run is deleted by its id"));
            }
            None => None,
        };
        let project = request.project.as_deref().map(|id| self.known_project(id)).transpose()?;
        let ended_before = request.older_than_ms.map(before);
        // A run that ended in this very moment is deleted as well.
        let all = WallMs(now.0.saturating_add(1));
        let jobs_before =
            if request.delete { all } else { ended_before.unwrap_or_else(|| before(JOBS_KEPT_MS)) };
        Ok(CleanupScope { project, run, ended_before, jobs_before, delete: request.delete })
    }

    fn ended_run(&mut self, prefix: &str) -> Result<RunId, Problem> {
        let id = self.resolve(prefix)?;
        let row = self.ask(|view| view.run(&id))?.flatten();
        if row.is_some_and(|row| row.status.is_terminal()) {
            return Ok(id);
        }
        let message = format!("run {id} has not ended");
        let hint = format!("wait for it, or `tidegate cancel {id}`");
        Err(Problem::new(ErrorCode::InvalidStatusTransition, message).hint(hint))
    }

    fn known_project(&mut self, id: &str) -> Result<ProjectId, Problem> {
        if self.projects()?.projects.iter().any(|known| known.id == id)
            && let Ok(id) = ProjectId::new(id)
        {
            return Ok(id);
        }
        let message = format!("there is no project `{}`", id.escape_debug());
        Err(Problem::not_found(message).hint("`tidegate project list` has the projects"))
    }

    /// What a clean-up would do now. Nothing is changed.
    ///
    /// # Errors
    /// As [`Viewer::cleanup_scope`]; `corrupt`, `io`.
    pub fn cleanup_plan(&mut self, request: &CleanupRequest) -> Result<CleanupDoc, Problem> {
        let scope = self.cleanup_scope(request, clock::wall())?;
        let plan = cleanup::plan(self.paths.root(), &scope)?;
        let deleted = scope.run.filter(|_| scope.delete && plan.kept.is_empty());
        Ok(CleanupDoc {
            cleanup: None,
            dry_run: true,
            done: true,
            removals: plan.removals.iter().map(removal).collect(),
            kept: plan.kept.iter().map(kept).collect(),
            kept_more: 0,
            deleted: deleted.map(|run| run.to_string()),
        })
    }

    /// How far a clean-up is.
    ///
    /// # Errors
    /// `not_found`; `corrupt`, `io`.
    pub fn cleanup(&mut self, number: u64) -> Result<CleanupDoc, Problem> {
        let events = self.ask(|view| view.home_events())?.unwrap_or_default();
        let mut found = None;
        for event in &events {
            match event {
                HomeEvent::CleanupAsked { number: asked, .. } if *asked == number => {
                    found = Some(CleanupDoc { cleanup: Some(number), ..CleanupDoc::default() });
                }
                HomeEvent::RemovalProved { number: of, removal: thing } if *of == number => {
                    let again = |one: &RemovalDoc| one.name == thing.name;
                    let document = found.get_or_insert_default();
                    // A daemon that died right after the record removes it again.
                    document.removals.retain(|one| !again(one));
                    document.removals.push(removal(thing));
                }
                HomeEvent::CleanupEnded { number: of, end } if *of == number => {
                    let document = found.get_or_insert_default();
                    document.done = true;
                    document.kept = end.kept.iter().map(kept).collect();
                    document.kept_more = end.kept_more;
                    document.deleted = end.deleted.as_ref().map(ToString::to_string);
                }
                HomeEvent::CleanupAsked { .. }
                | HomeEvent::RemovalProved { .. }
                | HomeEvent::RestoreAsked { .. }
                | HomeEvent::RestoreEnded { .. }
                | HomeEvent::CleanupEnded { .. }
                | HomeEvent::CommandAccepted(_)
                | HomeEvent::CommandCompleted(_)
                | HomeEvent::CommandFailed(_)
                | HomeEvent::BackgroundEnded(_)
                | HomeEvent::DaemonStarted { .. }
                | HomeEvent::DaemonStopped { .. }
                | HomeEvent::ProjectRegistered { .. }
                | HomeEvent::ProjectRemoved { .. }
                | HomeEvent::LanePaused { .. }
                | HomeEvent::LaneResumed { .. } => {}
            }
        }
        found.ok_or_else(|| Problem::not_found(format!("there is no clean-up {number}")))
    }
}

impl Viewer {
    /// How far the putting back of a worktree is.
    ///
    /// # Errors
    /// `not_found`; `corrupt`, `io`.
    pub fn restoration(&mut self, asked: u64) -> Result<RestorationDoc, Problem> {
        let events = self.ask(|view| view.home_events())?.unwrap_or_default();
        let mut found: Option<RestorationDoc> = None;
        for event in &events {
            if let HomeEvent::RestoreAsked { number, restoration, .. } = event
                && *number == asked
            {
                found = Some(RestorationDoc {
                    restore: asked,
                    run_id: restoration.run.to_string(),
                    feature: restoration.feature.to_string(),
                    snapshot: restoration.snapshot,
                    done: false,
                    failure: None,
                });
            }
            if let HomeEvent::RestoreEnded { number, failure } = event
                && *number == asked
                && let Some(found) = &mut found
            {
                found.done = true;
                found.failure.clone_from(failure);
            }
        }
        found.ok_or_else(|| Problem::not_found(format!("there is no restore {asked}")))
    }
}

fn removal(removal: &Removal) -> RemovalDoc {
    RemovalDoc {
        what: removal.what.word().to_owned(),
        name: removal.name.clone(),
        project: removal.project.to_string(),
        run_id: removal.run.as_ref().map(ToString::to_string),
        feature: removal.feature.as_ref().map(ToString::to_string),
        proof: removal.proof.word().to_owned(),
        commit: removal.commit.as_ref().map(ToString::to_string),
        snapshot: removal.snapshot,
    }
}

fn kept(kept: &Kept) -> KeptDoc {
    KeptDoc {
        what: kept.what.word().to_owned(),
        name: kept.name.clone(),
        project: kept.project.to_string(),
        run_id: kept.run.as_ref().map(ToString::to_string),
        why: kept.why.clone(),
    }
}
