//! `POST /runs`: everything is checked and pinned before the run exists.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use tidegate_core::home::Place;
use tidegate_core::ids::{AdhocId, BlobId, LaneName, ProjectId, QueueKey, RunId};
use tidegate_core::run::Work;
use tidegate_git::Git;
use tidegate_protocol::{ErrorCode, Problem, ProjectDoc, SubmitRequest, Text, WorkRequest};

use super::app::App;
use super::body::{idempotency, parse};
use super::commands::{actor, name};
use super::peer::Caller;
use super::reply::reply;
use super::repository::{find_place, known_place};
use super::scope::{Scope, forbidden, scope_of};
use super::submit_launcher::launcher_work;
use super::submit_plan::plan_work;
use crate::engine::{Command, Submit};
use crate::environment;
use crate::host::HomeFiles;
use crate::views::Viewer;

/// The lane of a run that names none.
pub(super) const LANE: &str = "main";

/// What the work of a run is, and the bytes that it names.
pub(super) type Pinned = (Work, Vec<(BlobId, Vec<u8>)>);

pub(super) async fn submit(
    State(app): State<Arc<App>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    reply(accept(&app, &caller, &headers, &body).await)
}

async fn accept(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Value, Problem> {
    let scope = scope_of(app, caller)?;
    let parent = scope.submitter(app).await?;
    let key = idempotency(headers, &scope.actor(), "submit", body)?;
    let request: SubmitRequest = parse(body)?;
    let (home, git) = (app.site.handle.home().to_owned(), app.site.git.clone());
    let submit =
        app.look(move |viewer| prepare(viewer, &home, &git, &scope, request, parent)).await?;
    app.call(Command::Submit(Box::new(submit)), key).await
}

/// Checks a request and pins what it names. May block.
fn prepare(
    viewer: &mut Viewer,
    home: &Path,
    git: &Git,
    scope: &Scope,
    request: SubmitRequest,
    parent: Option<(RunId, QueueKey)>,
) -> Result<Submit, Problem> {
    let lane = name(request.lane.as_deref().unwrap_or(LANE), LaneName::new)?;
    let adhoc = request.adhoc_run.as_deref().map(|id| name(id, AdhocId::new)).transpose()?;
    let project = request.project.as_deref().map(|id| name(id, ProjectId::new)).transpose()?;
    let actor = actor(scope, Some(&request.actor))?;
    let projects = viewer.projects()?.projects;
    let cwd = PathBuf::from(std::ffi::OsString::from(request.cwd));
    let place = place_of_run(git, &projects, project.as_ref(), &cwd)?;
    if let Some((_, queue)) = &parent {
        let own = projects.iter().find(|known| known.common_dir == place.common_dir);
        let same_project = own.is_some_and(|known| known.id == queue.project.as_str());
        if same_project && queue.lane == lane && queue.adhoc == adhoc {
            let message = "a launcher's own queue would wait for itself";
            return Err(forbidden(message).hint("name another lane, or an ad-hoc run"));
        }
    }
    let (work, blobs) = match request.work {
        WorkRequest::Launcher(work) => launcher_work(home, &place.root, &work)?,
        WorkRequest::Plan(work) => plan_work(viewer, home, git, &place, work, &request.env)?,
    };
    let env = pinned_env(&request.env)?;
    let parent = parent.map(|(run, _)| run);
    let priority = request.priority;
    Ok(Submit { place, project, lane, adhoc, priority, actor, env, work, blobs, parent })
}

/// The client's environment as it is pinned. What no process can have is refused.
pub(super) fn pinned_env(env: &[(Text, Text)]) -> Result<Vec<u8>, Problem> {
    for (name, value) in env {
        // A name may begin with `=`, but its first other one ends it.
        let cut = name.as_bytes().iter().skip(1).any(|byte| *byte == b'=');
        let zero = name.as_bytes().contains(&0) || value.as_bytes().contains(&0);
        if name.as_bytes().is_empty() || cut || zero {
            let name = name.to_lossy();
            let message = format!("`{}` cannot be a variable", name.escape_debug());
            return Err(Problem::invalid_input(message));
        }
    }
    Ok(environment::encode(env.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))))
}

pub(super) fn place_of_run(
    git: &Git,
    projects: &[ProjectDoc],
    named: Option<&ProjectId>,
    cwd: &Path,
) -> Result<Place, Problem> {
    let Some(id) = named else {
        return known_place(projects, cwd).map_or_else(|| find_place(git, cwd), Ok);
    };
    let Some(known) = projects.iter().find(|known| known.id == id.as_str()) else {
        return Err(Problem::not_found(format!("there is no project `{id}`"))
            .hint("`tidegate project list` shows them"));
    };
    let root = Path::new(&known.root);
    let place = known_place(projects, root).map_or_else(|| find_place(git, root), Ok)?;
    if place.common_dir != known.common_dir {
        let message = format!("{} is no longer the repository of `{id}`", known.root);
        return Err(Problem::new(ErrorCode::NotARepository, message)
            .hint(format!("`tidegate project move {id} DIR` says where it is now")));
    }
    Ok(place)
}

/// Commands of a repository's file run only once the user has trusted exactly these bytes.
pub(super) fn require_trust(home: &Path, path: &str, bytes: &[u8]) -> Result<(), Problem> {
    let hash = tidegate_store::blob_id(bytes);
    if HomeFiles::new(home).trusted().join(hash.as_str()).exists() {
        return Ok(());
    }
    let message = format!("{path} has commands, and this version of it is not trusted");
    Err(Problem::new(ErrorCode::UntrustedConfig, message)
        .hint("read it, then `tidegate config trust`")
        .with("file", path)
        .with("sha256", hash.as_str()))
}
