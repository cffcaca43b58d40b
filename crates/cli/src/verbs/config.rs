//! `tidegate config`: what holds, who set it, and trust in the commands of a repository's file.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value, json};
use tidegate_config::{Shown, load_config};
use tidegate_protocol::{ErrorCode, Problem};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::render::table;
use crate::trust;
use crate::work::{Findings, Repository, config_files};

/// Show the settings that hold, or trust a repository's commands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate config show                every setting
  tidegate config show --origin       and who set it: default, file and line, variable
  tidegate config trust               let the commands of this repository's tidegate.toml run")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show every setting that holds here
    Show {
        /// Say who set it
        #[arg(long)]
        origin: bool,
    },
    /// Let the commands of a tidegate.toml run, as it is now
    ///
    /// Trust is in the exact file: when it changes, it is asked for again.
    Trust {
        /// The file; without it the one of the repository of the working directory
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

impl Args {
    /// Does it.
    ///
    /// # Errors
    /// When a file cannot be read or written, or has errors.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        match self.verb {
            Verb::Show { origin } => show(context, origin),
            Verb::Trust { file } => trust_file(context, file),
        }
    }
}

fn show(context: &mut Context, origin: bool) -> Result<Exit, CliError> {
    // Outside of a repository the built-in and the user's own settings hold.
    let repository = Repository::here().ok();
    let files = config_files(repository.as_ref())?;
    let layered = load_config(&files);
    let findings = Findings::in_config(layered.findings.clone(), &files);
    findings.blocks().iter().for_each(talk);
    let shown = layered.show();
    if findings.has_errors() {
        let problem = Problem::new(ErrorCode::InvalidInput, "the settings have errors");
        return Err(problem.with("diagnostics", findings.to_json()).into());
    }
    if context.out.is_json() {
        let settings: Vec<Value> = shown.iter().map(setting).collect();
        context.out.data(&json!({ "settings": settings }))?;
    } else if origin {
        let rows = shown
            .iter()
            .map(|one| vec![one.key.clone(), one.value.replace('\n', " "), origin_text(one)]);
        context.out.line(table(&["KEY", "VALUE", "ORIGIN"], rows.collect()))?;
    } else {
        shown
            .iter()
            .try_for_each(|one| context.out.line(format_args!("{} = {}", one.key, one.value)))?;
    }
    Ok(Exit::OK)
}

fn setting(one: &Shown) -> Value {
    json!({
        "key": one.key,
        "value": one.value,
        "origin": {
            "layer": one.origin.layer.as_str(),
            "file": one.origin.file,
            "line": one.origin.line,
        },
    })
}

fn origin_text(one: &Shown) -> String {
    let layer = one.origin.layer.as_str();
    match (&one.origin.file, one.origin.line) {
        (Some(file), Some(line)) => format!("{layer} {file}:{line}"),
        (Some(file), None) => format!("{layer} {file}"),
        (None, _) => layer.to_owned(),
    }
}

fn trust_file(context: &mut Context, file: Option<PathBuf>) -> Result<Exit, CliError> {
    let home = context.home()?;
    trust::refuse_inside_job(&home)?;
    let path = match file {
        Some(file) => file,
        None => Repository::here()?.config_path(),
    };
    let bytes = trust::read_config(&path)?;
    let hash = trust::trust(&home, &bytes)?;
    if context.out.is_json() {
        context.out.data(&json!({ "file": path, "sha256": hash, "trusted": true }))?;
    } else {
        context.out.line(format_args!("trusted {} as it is now", path.display()))?;
        if std::io::stderr().is_terminal() {
            talk(format_args!("sha256 {hash}"));
        }
    }
    Ok(Exit::OK)
}
