//! Features without a plan: launched into what a lane runs, and gone on with.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_protocol::{LaunchItem, LaunchRequest, ResumeFeatureRequest, Text};

use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::Exit;
use crate::work::{Repository, actor, config_files, environment};

/// Has features built.
///
/// # Errors
/// When a spec cannot be read, the daemon refuses, or none answers.
pub(super) fn launch(
    context: &mut Context,
    home: &Home,
    lane: Option<&str>,
    added: &[(String, PathBuf)],
) -> Result<Exit, CliError> {
    let repository = Repository::here()?;
    let user = config_files(Some(&repository))?.user;
    let user_config = user.map(|file| String::from_utf8(file.bytes)).transpose();
    let user_config =
        user_config.map_err(|_| CliError::refused("the user's config is not UTF-8 text"))?;
    let request = LaunchRequest {
        cwd: cwd()?,
        lane: lane.map(str::to_owned),
        features: added.iter().map(item).collect::<Result<_, _>>()?,
        env: environment(),
        user_config,
        actor: Some(actor()),
    };
    let answer: Value = Client::new(home)?.post("/launches", &request, Starting::WhenAbsent)?;
    tell(context, &answer)
}

/// Goes on with a feature.
///
/// # Errors
/// When no run has it, it has landed, the daemon refuses, or none answers.
pub(super) fn resume(
    context: &mut Context,
    home: &Home,
    lane: Option<&str>,
    feature: &str,
) -> Result<Exit, CliError> {
    let request =
        ResumeFeatureRequest { cwd: cwd()?, lane: lane.map(str::to_owned), actor: Some(actor()) };
    let route = format!("/features/{feature}/resume");
    let answer: Value = Client::new(home)?.post(&route, &request, Starting::WhenAbsent)?;
    tell(context, &answer)
}

fn cwd() -> Result<Text, CliError> {
    let here = std::env::current_dir()
        .map_err(|source| CliError::io("find", Path::new("the working directory"), &source))?;
    Ok(Text::from(here.into_os_string()))
}

fn item((id, path): &(String, PathBuf)) -> Result<LaunchItem, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| CliError::io("read", path, &error))?;
    Ok(LaunchItem {
        feature_id: Some(id.clone()),
        spec_path: Some(path.to_string_lossy().into_owned()),
        spec: Some(text),
    })
}

fn tell(context: &mut Context, answer: &Value) -> Result<Exit, CliError> {
    if context.out.is_json() {
        context.out.data(answer)?;
        return Ok(Exit::OK);
    }
    let run = answer["run_id"].as_str().unwrap_or_default();
    context.out.line(format_args!("run_id={run}"))?;
    let what = match (answer["mode"].as_str(), answer["already_running"] == true) {
        (_, true) => "it is under way already",
        (Some("active_run_enrollment" | "active_run"), _) => "in the run that is under way",
        (_, _) => "in a run of its own",
    };
    context.out.flush()?;
    crate::output::talk(what);
    Ok(Exit::OK)
}
