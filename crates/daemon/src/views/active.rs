//! The run that a lane is at, with what it was pinned with: what joins it is checked against that.

use tidegate_core::ids::{LaneName, RunId};
use tidegate_core::run::Work;
use tidegate_protocol::Problem;
use tidegate_store::{ListFilter, RunStatus, StoreError, View};

use super::viewer::Viewer;

/// The run of a lane that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveRun {
    /// Its id.
    pub id: RunId,
    /// What a plan run was pinned with; `None` for a launcher's run.
    pub pinned: Option<PinnedFiles>,
}

/// The files and the environment that a plan run was submitted with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PinnedFiles {
    /// The repository's `tidegate.toml`.
    pub config: Option<Vec<u8>>,
    /// The user's own config file.
    pub user_config: Option<Vec<u8>>,
    /// The environment, encoded.
    pub env: Vec<u8>,
}

impl Viewer {
    /// The run that runs in a lane of the repository with this common directory.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn active_run(
        &mut self,
        common_dir: &str,
        lane: &LaneName,
    ) -> Result<Option<ActiveRun>, Problem> {
        Ok(self.ask(|view| find(&view, common_dir, lane))?.flatten())
    }
}

fn find(
    view: &View<'_>,
    common_dir: &str,
    lane: &LaneName,
) -> Result<Option<ActiveRun>, StoreError> {
    let projects = view.projects()?;
    let own = projects.into_iter().find(|(_, place)| place.common_dir == common_dir);
    let Some((project, _)) = own else { return Ok(None) };
    let filter = ListFilter {
        status: Some(RunStatus::Running),
        project: Some(project),
        lane: Some(lane.clone()),
        limit: 100,
        ..ListFilter::default()
    };
    let running = view.list(&filter)?.runs.into_iter().filter_map(Result::ok);
    let Some(row) = running.into_iter().find(|row| row.queue.adhoc.is_none()) else {
        return Ok(None);
    };
    let Some(run) = view.rebuild(&row.id)? else { return Ok(None) };
    let Work::Plan { spec, .. } = &run.work else {
        return Ok(Some(ActiveRun { id: run.id, pinned: None }));
    };
    let blob = |id: &Option<tidegate_core::ids::BlobId>| match id {
        Some(id) => view.blob(id),
        None => Ok(None),
    };
    let pinned = PinnedFiles {
        config: blob(&spec.config)?,
        user_config: blob(&spec.user_config)?,
        env: view.blob(&run.env)?.unwrap_or_default(),
    };
    Ok(Some(ActiveRun { id: run.id, pinned: Some(pinned) }))
}
