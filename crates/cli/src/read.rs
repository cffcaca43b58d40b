//! Reads: the store and the job directories, by the same views as the HTTP API. They write nothing,
//! start nothing, and touch no runtime and no connection.

use std::path::{Path, PathBuf};

use tidegate_daemon::ids::{JobId, QuestionId};
use tidegate_daemon::views::{
    CommandQuery, EventQuery, InboxQuery, RunQuery, Viewer, WaveQuery, daemon_status,
};
use tidegate_protocol::{
    CleanupDoc, CleanupRequest, CommandDoc, CommandPage, DaemonDoc, EventPage, ExplainDoc,
    InboxDoc, JobList, LaneList, Problem, ProjectList, QuestionDoc, RestorationDoc, RestoredDoc,
    ReviewDoc, RunDoc, RunPage, RuntimeDoc, SnapshotList, WaveDoc,
};

use crate::client::Filter;
use crate::error::CliError;
use crate::home::Home;

fn viewer(home: &Home) -> Result<Viewer, CliError> {
    Ok(Viewer::open(home.path())?)
}

/// The document of a run, by the beginning of its id.
pub(crate) fn run(home: &Home, prefix: &str) -> Result<RunDoc, CliError> {
    let mut viewer = viewer(home)?;
    viewer.run(prefix).map_err(|problem| with_near_miss(problem, prefix, &mut viewer))
}

/// A page of runs.
pub(crate) fn list(home: &Home, query: &RunQuery) -> Result<RunPage, CliError> {
    Ok(viewer(home)?.runs(query)?)
}

/// The most relevant run of a wave.
pub(crate) fn wave(home: &Home, query: &WaveQuery) -> Result<Option<WaveDoc>, CliError> {
    Ok(viewer(home)?.wave(query)?)
}

/// The jobs of a run.
pub(crate) fn jobs(home: &Home, run: &str) -> Result<JobList, CliError> {
    Ok(viewer(home)?.jobs(run)?)
}

/// Why a run, or a feature of it, is where it is.
pub(crate) fn explain(
    home: &Home,
    prefix: &str,
    feature: Option<&str>,
) -> Result<ExplainDoc, CliError> {
    let mut viewer = viewer(home)?;
    viewer.explain(prefix, feature).map_err(|problem| with_near_miss(problem, prefix, &mut viewer))
}

/// A page of events.
pub(crate) fn events(home: &Home, filter: &Filter, limit: u32) -> Result<EventPage, CliError> {
    let query = EventQuery {
        after: filter.after,
        run: filter.run.clone(),
        feature: filter.feature.clone(),
        kinds: filter.kinds.clone(),
        since: filter.since,
        until: filter.until,
        limit: Some(limit),
    };
    Ok(viewer(home)?.events(&query)?)
}

/// The snapshots of a run, or of one of its features.
pub(crate) fn snapshots(
    home: &Home,
    prefix: &str,
    feature: Option<&str>,
) -> Result<SnapshotList, CliError> {
    let mut viewer = viewer(home)?;
    let found = viewer.snapshots(prefix, feature);
    found.map_err(|problem| with_near_miss(problem, prefix, &mut viewer))
}

/// Writes the files of a snapshot to a folder.
pub(crate) fn restore(
    home: &Home,
    prefix: &str,
    feature: &str,
    number: Option<u32>,
    to: &Path,
) -> Result<RestoredDoc, CliError> {
    let mut viewer = viewer(home)?;
    let done = viewer.restore_files(prefix, feature, number, to);
    done.map_err(|problem| with_near_miss(problem, prefix, &mut viewer))
}

/// What a clean-up would do.
pub(crate) fn cleanup_plan(home: &Home, request: &CleanupRequest) -> Result<CleanupDoc, CliError> {
    let mut viewer = viewer(home)?;
    let plan = viewer.cleanup_plan(request);
    let prefix = request.run.as_deref().unwrap_or_default();
    plan.map_err(|problem| match prefix {
        "" => problem.into(),
        prefix => with_near_miss(problem, prefix, &mut viewer),
    })
}

/// How far a clean-up is.
pub(crate) fn cleanup(home: &Home, number: u64) -> Result<CleanupDoc, CliError> {
    Ok(viewer(home)?.cleanup(number)?)
}

/// How far the putting back of a worktree is.
pub(crate) fn restoration(home: &Home, number: u64) -> Result<RestorationDoc, CliError> {
    Ok(viewer(home)?.restoration(number)?)
}

/// What waits for people.
pub(crate) fn inbox(home: &Home, query: &InboxQuery) -> Result<InboxDoc, CliError> {
    Ok(viewer(home)?.inbox(query)?)
}

/// What the agent of a job was told and answered.
pub(crate) fn inbox_of_job(home: &Home, job: &str) -> Result<InboxDoc, CliError> {
    let id = JobId::parse(job).map_err(|error| CliError::refused(error.to_string()))?;
    Ok(viewer(home)?.inbox_of_job(&id)?)
}

/// One question.
pub(crate) fn question(home: &Home, id: &str) -> Result<QuestionDoc, CliError> {
    let id = QuestionId::parse(id).map_err(|error| CliError::refused(error.to_string()))?;
    Ok(viewer(home)?.question(&id)?)
}

/// The run and the feature that `FEATURE` or `RUN/FEATURE` names.
pub(crate) fn feature_named(home: &Home, text: &str) -> Result<(String, String), CliError> {
    let (run, feature) = viewer(home)?.feature_named(text)?;
    Ok((run.to_string(), feature.to_string()))
}

/// What a person looks at before a consent; with its token for the user.
pub(crate) fn review(
    home: &Home,
    run: &str,
    feature: &str,
    for_user: bool,
) -> Result<ReviewDoc, CliError> {
    Ok(viewer(home)?.review(run, feature, for_user)?)
}

/// The run and the feature that `RUN --feature ID`, `FEATURE` or `RUN/FEATURE` name.
pub(crate) fn place(
    home: &Home,
    text: &str,
    feature: Option<&str>,
) -> Result<(String, String), CliError> {
    match feature {
        Some(feature) => Ok((run(home, text)?.run_id, feature.to_owned())),
        None => feature_named(home, text),
    }
}

/// The registered repositories.
pub(crate) fn projects(home: &Home) -> Result<ProjectList, CliError> {
    Ok(viewer(home)?.projects()?)
}

/// The queues, and the pauses.
pub(crate) fn lanes(home: &Home) -> Result<LaneList, CliError> {
    Ok(viewer(home)?.lanes()?)
}

/// Where a project lies.
pub(crate) fn project(home: &Home, id: &str) -> Result<PathBuf, CliError> {
    let projects = projects(home)?.projects;
    if let Some(project) = projects.iter().find(|project| project.id == id) {
        return Ok(PathBuf::from(&project.root));
    }
    let error = CliError::from(Problem::not_found(format!("there is no project `{id}`")));
    Err(match near(id, projects.iter().map(|project| project.id.as_str())) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error.hint("`tidegate project list` shows them"),
    })
}

/// The daemon of the home, from its lock alone.
pub(crate) fn daemon(home: &Home) -> Result<DaemonDoc, CliError> {
    Ok(daemon_status(home.path())?)
}

/// What the runtime of the home is at; what the lock alone says, while its store cannot be read.
pub(crate) fn runtime(home: &Home) -> Result<RuntimeDoc, CliError> {
    let seen = Viewer::open(home.path()).and_then(|mut viewer| viewer.runtime());
    if let Ok(document) = seen {
        return Ok(document);
    }
    let daemon = daemon(home)?;
    let status = if daemon.running { "running" } else { "stopped" }.to_owned();
    Ok(RuntimeDoc { pid: daemon.pid, status, ..RuntimeDoc::default() })
}

/// A page of commands.
pub(crate) fn commands(home: &Home, query: &CommandQuery) -> Result<CommandPage, CliError> {
    Ok(viewer(home)?.commands(query)?)
}

/// One command.
pub(crate) fn command(home: &Home, id: &str) -> Result<CommandDoc, CliError> {
    Ok(viewer(home)?.command(id)?)
}

/// Names the run that may have been meant, when there is none of that name.
fn with_near_miss(problem: Problem, prefix: &str, viewer: &mut Viewer) -> CliError {
    let is_missing = problem.code == tidegate_protocol::ErrorCode::NotFound;
    let error = CliError::from(problem);
    if !is_missing {
        return error;
    }
    let query = RunQuery { limit: Some(100), ..RunQuery::default() };
    let runs = viewer.runs(&query).map(|page| page.runs).unwrap_or_default();
    let ids = runs.iter().map(|run| run.run_id.as_str());
    match near(prefix, ids) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// The known word that is close enough to be a slip of the hand.
pub(crate) fn near<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    const DISTANCE_MAX: usize = 2;
    if word.len() < 4 {
        return None;
    }
    known
        .map(|one| {
            // A part of an id is compared with as much of each.
            let part: String = one.chars().take(word.chars().count()).collect();
            let distance = strsim::osa_distance(word, &part).min(strsim::osa_distance(word, one));
            (distance, one)
        })
        .filter(|(distance, _)| *distance <= DISTANCE_MAX)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_miss_is_named_and_a_far_one_is_not() {
        let ids = ["r0000010abc", "r0000029xyz"];
        assert_eq!(near("r0000010abd", ids.into_iter()), Some("r0000010abc"));
        assert_eq!(near("r000003", ["r0000010abc"].into_iter()), Some("r0000010abc"));
        assert_eq!(near("r9999999999", ids.into_iter()), None);
        assert_eq!(near("r1", ids.into_iter()), None);
    }
}
