//! The plan half of a submit: the bundle is resolved, its commands are trusted, its target exists,
//! and what the selection left out has landed.

use std::path::Path;

use serde_json::{Value, json};
use tidegate_config::{
    AssumedNeed, Bundle, ConfigFiles, NamedFile, Selection, SpecFile, environment_overrides,
    resolve,
};
use tidegate_core::home::Place;
use tidegate_core::plan::PlanSpec;
use tidegate_core::run::{Plan, Work};
use tidegate_git::{Git, Repo};
use tidegate_protocol::{ErrorCode, PlanWork, Problem, Text};

use super::findings::invalid_plan;
use super::repository::{git_problem, open};
use super::submit::{Pinned, require_trust};
use crate::views::Viewer;

/// Checks and pins a plan.
pub(super) fn plan_work(
    viewer: &mut Viewer,
    home: &Path,
    git: &Git,
    place: &Place,
    work: PlanWork,
    env: &[(Text, Text)],
) -> Result<Pinned, Problem> {
    let selection = Selection {
        start_wave: work.selection.start_wave,
        end_wave: work.selection.end_wave,
        features: Some(work.selection.features).filter(|features| !features.is_empty()),
    };
    let bundle = bundle_of(work.bundle, env);
    let resolved = resolve(&bundle, &selection).map_err(|found| invalid_plan(&found))?;
    if let Some(config) = &bundle.config.repository {
        require_trust(home, &config.path, &config.bytes)?;
    }
    let repo = open(git, place)?;
    require_target(&repo, &resolved.spec)?;
    require_landed(viewer, &repo, place, &resolved.spec, &resolved.assumed)?;
    let state = Plan::new(&resolved.spec);
    Ok((Work::Plan { spec: resolved.spec, state }, resolved.blobs))
}

fn bundle_of(wire: tidegate_protocol::Bundle, env: &[(Text, Text)]) -> Bundle {
    let file = |path: Option<String>, text: Option<String>, name: &str| {
        let bytes = text?.into_bytes();
        Some(NamedFile { path: path.unwrap_or_else(|| name.to_owned()), bytes })
    };
    let pairs = env.iter().filter_map(|(name, value)| Some((name.as_str()?, value.as_str()?)));
    let config = ConfigFiles {
        user: file(wire.user_config_path, wire.user_config, "config.toml"),
        repository: file(wire.config_path, wire.config, "tidegate.toml"),
        overrides: environment_overrides(pairs),
    };
    let spec = |(path, text): (String, String)| SpecFile { path, content: Ok(text.into_bytes()) };
    Bundle {
        plan: NamedFile { path: wire.plan_path, bytes: wire.plan.into_bytes() },
        config,
        specs: wire.specs.into_iter().map(spec).collect(),
    }
}

fn require_target(repo: &Repo, spec: &PlanSpec) -> Result<(), Problem> {
    let tip = repo.resolve(&spec.target).map_err(|error| git_problem(&error))?;
    if tip.is_some() {
        return require_room(repo);
    }
    let short = spec.target.strip_prefix("refs/heads/").unwrap_or(&spec.target);
    let head = repo.resolve("HEAD").map_err(|error| git_problem(&error))?;
    let branches = repo.branches().map_err(|error| git_problem(&error))?;
    let (message, hint) = match (head, branches.is_empty()) {
        (None, true) => (
            format!("the target branch `{short}` does not exist: the repository has no commit yet"),
            format!("make a first commit on `{short}`"),
        ),
        (Some(_), true) => (
            format!("the target branch `{short}` does not exist, nor does any other"),
            format!("`git branch {short}` makes it where you stand"),
        ),
        (_, false) => (
            format!("the target branch `{short}` does not exist"),
            format!("name one that does as `target`, or `git branch {short}` makes it"),
        ),
    };
    Err(Problem::new(ErrorCode::TargetMissing, message).hint(hint))
}

/// A branch `tidegate` would be in the way of every `tidegate/<run>/<feature>`: git keeps refs like files and folders.
fn require_room(repo: &Repo) -> Result<(), Problem> {
    let taken = repo.ref_exists("refs/heads/tidegate").map_err(|error| git_problem(&error))?;
    if !taken {
        return Ok(());
    }
    let message = "the branch `tidegate` is in the way of the branches of features";
    Err(Problem::new(ErrorCode::InvalidInput, message)
        .hint("`git branch -m tidegate NAME` gives it another name"))
}

/// A need outside the selection counts as landed when a landing of the same plan is still on the
/// target.
fn require_landed(
    viewer: &mut Viewer,
    repo: &Repo,
    place: &Place,
    spec: &PlanSpec,
    assumed: &[AssumedNeed],
) -> Result<(), Problem> {
    if assumed.is_empty() {
        return Ok(());
    }
    let landed = viewer.landed(&place.common_dir, &spec.path)?;
    let mut missing: Vec<Value> = Vec::new();
    for need in assumed {
        let mut there = false;
        for row in landed.iter().filter(|row| row.feature == need.need) {
            there |= match &row.commit {
                Some(commit) => repo.has_landed(commit, &spec.target).unwrap_or(false),
                // It had nothing to change: there is nothing that could be missing.
                None => true,
            };
        }
        if !there {
            missing.push(json!({
                "feature": need.feature.as_str(),
                "need": need.need.as_str(),
                "wave": need.wave,
            }));
        }
    }
    let Some(first) = missing.first() else { return Ok(()) };
    let message = format!(
        "`{}` needs `{}` of wave {}, which is not selected and has not landed",
        first["feature"].as_str().unwrap_or_default(),
        first["need"].as_str().unwrap_or_default(),
        first["wave"]
    );
    Err(Problem::new(ErrorCode::InvalidPlan, message)
        .hint("start at an earlier wave")
        .with("diagnostics", Value::Array(Vec::new()))
        .with("missing", missing))
}
