//! Features without a plan of their own: checked and pinned, for the lane's active run or for a run
//! of their own; and a feature that is to go on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path};

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path as UrlPath, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use tidegate_config::{
    Bundle, ConfigFiles, NamedFile, SPEC_BYTES_MAX, Selection, SpecFile, environment_overrides,
    load_config, resolve,
};
use tidegate_core::home::Place;
use tidegate_core::ids::{BlobId, FeatureId, LaneName};
use tidegate_core::run::Added;
use tidegate_protocol::{
    ErrorCode, LaunchItem, LaunchRequest, PlanSelection, PlanWork, Problem, ResumeFeatureRequest,
};

use super::app::App;
use super::commands::{From, Order, Shared, name};
use super::findings::invalid_plan;
use super::peer::Caller;
use super::reply::reply;
use super::submit::{LANE, pinned_env, place_of_run};
use super::submit_plan::plan_work;
use crate::engine::{Command, Launch, LaunchWay, Submit};
use crate::environment;
use crate::views::{PinnedFiles, Viewer};

/// How often a lane is looked at again that changes meanwhile.
const LOOKS: u32 = 5;
/// Name of the plan that launched features make.
const PLAN: &str = "launched.toml";
/// The settings file of a repository.
const CONFIG: &str = "tidegate.toml";

pub(super) async fn launch(
    State(app): Shared,
    ConnectInfo(caller): From,
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
    let order = Order::new(app, caller, headers, body)?;
    let mut looks = 1;
    loop {
        let (request, actor) = order.of_user::<LaunchRequest>()?;
        let (home, git) = (app.site.handle.home().to_owned(), app.site.git.clone());
        let launch = app.look(move |viewer| prepare(viewer, &home, &git, &request, actor)).await?;
        match order.give("launch", Command::Launch(Box::new(launch))).await {
            Err(problem) if problem.code == ErrorCode::VersionConflict && looks < LOOKS => {
                looks += 1;
            }
            answer => return answer,
        }
    }
}

/// Checks the features against the lane as it is now. May block.
fn prepare(
    viewer: &mut Viewer,
    home: &Path,
    git: &tidegate_git::Git,
    request: &LaunchRequest,
    actor: String,
) -> Result<Launch, Problem> {
    let lane = name(request.lane.as_deref().unwrap_or(LANE), LaneName::new)?;
    let cwd = std::path::PathBuf::from(std::ffi::OsString::from(request.cwd.clone()));
    let projects = viewer.projects()?.projects;
    let place = place_of_run(git, &projects, None, &cwd)?;
    let items = items(&request.features, Path::new(&place.root))?;
    let features: Vec<FeatureId> = items.keys().cloned().collect();
    let active = viewer.active_run(&place.common_dir, &lane)?;
    let way = match active.map(|active| (active.id, active.pinned)) {
        Some((run, Some(pinned))) => {
            let (added, blobs) = joining(&items, pinned)?;
            LaunchWay::Join { run, added: Box::new(added), blobs }
        }
        Some((_, None)) => LaunchWay::Nowhere,
        None => {
            let submit = own_run(viewer, (home, git), (request, &items), (&place, &lane), &actor)?;
            LaunchWay::Start(Box::new(submit))
        }
    };
    Ok(Launch { place, lane, features, actor, way })
}

/// The items by id, each with the text of its spec. A bad one is refused by its index.
fn items(list: &[LaunchItem], root: &Path) -> Result<BTreeMap<FeatureId, String>, Problem> {
    if list.is_empty() {
        return Err(Problem::invalid_input("`features` has no feature"));
    }
    let mut items = BTreeMap::new();
    for (index, item) in list.iter().enumerate() {
        let bad = |why: String| {
            let message = format!("features[{index}]: {why}");
            Problem::invalid_input(message).with("index", index)
        };
        let id = item.feature_id.as_deref().filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| bad("it has no `feature_id`".to_owned()))?;
        let id = FeatureId::new(id).map_err(|error| bad(error.to_string()))?;
        let path = item.spec_path.as_deref().filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| bad("it has no `spec_path`".to_owned()))?;
        let text = match &item.spec {
            Some(text) => text.clone(),
            None => spec(root, path).map_err(|why| bad(format!("{path}: {why}")))?,
        };
        // The last of one name counts.
        items.insert(id, text);
    }
    Ok(items)
}

/// Reads a spec of the repository: a text within it.
fn spec(root: &Path, path: &str) -> Result<String, String> {
    let relative = Path::new(path);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !relative.components().all(plain) {
        return Err("it is no path within the repository".to_owned());
    }
    let whole = root.join(relative).canonicalize().map_err(|error| error.to_string())?;
    let inside = root.canonicalize().is_ok_and(|root| whole.starts_with(root));
    if !inside || whole.components().any(|part| part.as_os_str() == ".git") {
        return Err("it lies outside the repository".to_owned());
    }
    let about = whole.metadata().map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if about.len() > SPEC_BYTES_MAX as u64 {
        return Err(format!("it has {} bytes, at most {SPEC_BYTES_MAX} are read", about.len()));
    }
    let bytes = std::fs::read(whole).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// The plan of one wave that the features make: each passes every gate that the config defines.
fn plan_of(items: &BTreeMap<FeatureId, String>, files: &ConfigFiles) -> String {
    let gates: Vec<String> =
        load_config(files).config.gates.keys().map(|gate| format!("\"{gate}\"")).collect();
    let gates = gates.join(", ");
    let names: Vec<&str> = items.keys().map(FeatureId::as_str).collect();
    let mut text = format!("title = \"{}\"\n[[wave]]\nname = \"launched\"\n", names.join(", "));
    for id in &names {
        let _ = write!(
            text,
            "[[wave.feature]]\nid = \"{id}\"\nspec = \"launched/{id}.md\"\ngates = [{gates}]\n"
        );
    }
    text
}

fn specs(items: &BTreeMap<FeatureId, String>) -> impl Iterator<Item = (String, String)> {
    items.iter().map(|(id, text)| (format!("launched/{id}.md"), text.clone()))
}

/// What joins a run, and the pinned bytes that it names.
type Joining = (Added, Vec<(BlobId, Vec<u8>)>);

/// What joins a run that was pinned with these files.
fn joining(items: &BTreeMap<FeatureId, String>, pinned: PinnedFiles) -> Result<Joining, Problem> {
    let named = |path: &str, bytes: Option<Vec<u8>>| {
        Some(NamedFile { path: path.to_owned(), bytes: bytes? })
    };
    let env = environment::decode(&pinned.env);
    let pairs = env.iter().filter_map(|(name, value)| {
        Some((std::str::from_utf8(name).ok()?, std::str::from_utf8(value).ok()?))
    });
    let config = ConfigFiles {
        user: named("config.toml", pinned.user_config),
        repository: named(CONFIG, pinned.config),
        overrides: environment_overrides(pairs),
    };
    let plan = NamedFile { path: PLAN.to_owned(), bytes: plan_of(items, &config).into_bytes() };
    let specs = specs(items).map(|(path, text)| SpecFile { path, content: Ok(text.into_bytes()) });
    let bundle = Bundle { plan, config, specs: specs.collect() };
    let resolved = resolve(&bundle, &Selection::default()).map_err(|found| invalid_plan(&found))?;
    let spec = resolved.spec;
    let added = Added { features: spec.features, agents: spec.agents, gates: spec.gates };
    Ok((added, resolved.blobs))
}

/// A run of their own: what a submit of their plan would make.
fn own_run(
    viewer: &mut Viewer,
    (home, git): (&Path, &tidegate_git::Git),
    (request, items): (&LaunchRequest, &BTreeMap<FeatureId, String>),
    (place, lane): (&Place, &LaneName),
    actor: &str,
) -> Result<Submit, Problem> {
    let config = Path::new(&place.root).join(CONFIG);
    let config = match std::fs::read_to_string(&config) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            let message = format!("read {}: {error}", config.display());
            return Err(Problem::new(ErrorCode::Io, message));
        }
    };
    let named = |path: &str, text: &Option<String>| {
        let bytes = text.clone()?.into_bytes();
        Some(NamedFile { path: path.to_owned(), bytes })
    };
    let files = ConfigFiles {
        user: named("config.toml", &request.user_config),
        repository: named(CONFIG, &config),
        overrides: Vec::new(),
    };
    let bundle = tidegate_protocol::Bundle {
        plan_path: PLAN.to_owned(),
        plan: plan_of(items, &files),
        config_path: config.as_ref().map(|_| CONFIG.to_owned()),
        config,
        user_config_path: request.user_config.as_ref().map(|_| "config.toml".to_owned()),
        user_config: request.user_config.clone(),
        specs: specs(items).collect(),
    };
    let work = PlanWork { bundle, selection: PlanSelection::default() };
    let (work, blobs) = plan_work(viewer, home, git, place, work, &request.env)?;
    Ok(Submit {
        place: place.clone(),
        project: None,
        lane: lane.clone(),
        adhoc: None,
        priority: 0,
        actor: actor.to_owned(),
        env: pinned_env(&request.env)?,
        work,
        blobs,
        parent: None,
    })
}

pub(super) async fn resume(
    State(app): Shared,
    ConnectInfo(caller): From,
    UrlPath(feature): UrlPath<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let work = async {
        let order = Order::new(&app, &caller, &headers, &body)?;
        let (request, actor) = order.of_user::<ResumeFeatureRequest>()?;
        let feature = name(&feature, FeatureId::new)?;
        let lane = name(request.lane.as_deref().unwrap_or(LANE), LaneName::new)?;
        let git = app.site.git.clone();
        let place = app
            .look(move |viewer| {
                let cwd = std::path::PathBuf::from(std::ffi::OsString::from(request.cwd));
                let projects = viewer.projects()?.projects;
                place_of_run(&git, &projects, None, &cwd)
            })
            .await?;
        let what = format!("resume feature {feature}");
        order.give(&what, Command::ResumeFeature { place, lane, feature, actor }).await
    };
    reply(work.await)
}
