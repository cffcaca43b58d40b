//! `tidegate project`: the repositories that this home knows.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::Value;
use tidegate_protocol::{MoveProjectRequest, Text};

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::output::Exit;
use crate::read;
use crate::render::table;

/// List, move or forget registered repositories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate project list
  tidegate project move harbour ~/src/harbour    it lies somewhere else now
  tidegate project remove harbour                forget it; its files stay")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the registered repositories
    List,
    /// Say that a repository lies somewhere else now
    Move {
        /// The project
        #[arg(value_name = "PROJECT", value_parser = values::project)]
        project: String,
        /// Its directory
        #[arg(value_name = "DIR")]
        root: PathBuf,
    },
    /// Forget a repository without active runs; its files stay
    Remove {
        /// The project
        #[arg(value_name = "PROJECT", value_parser = values::project)]
        project: String,
    },
}

impl Args {
    /// Does it.
    ///
    /// # Errors
    /// When there is no such project, it is busy, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        match self.verb {
            Verb::List => list(context),
            Verb::Move { project, root } => relocate(context, &project, &root),
            Verb::Remove { project } => remove(context, &project),
        }
    }
}

fn list(context: &mut Context) -> Result<Exit, CliError> {
    let projects = read::projects(&context.home()?)?;
    if context.out.is_json() {
        context.out.data(&projects)?;
        return Ok(Exit::OK);
    }
    let rows = projects.projects.into_iter().map(|one| vec![one.id, one.root, one.common_dir]);
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        crate::output::talk("no projects: `tidegate init` registers a repository");
    } else {
        context.out.line(table(&["PROJECT", "ROOT", "COMMON DIR"], rows))?;
    }
    Ok(Exit::OK)
}

fn relocate(context: &mut Context, project: &str, root: &Path) -> Result<Exit, CliError> {
    let home = context.home()?;
    let root =
        std::path::absolute(root).map_err(|source| CliError::io("resolve", root, &source))?;
    let shown = root.display().to_string();
    let request = MoveProjectRequest { root: Text::from(root.into_os_string()) };
    let client = Client::new(&home)?;
    let answer: Value =
        client.post(&format!("/projects/{project}/move"), &request, Starting::WhenAbsent)?;
    tell(context, &answer, &format!("{project} lies in {shown}"))
}

fn remove(context: &mut Context, project: &str) -> Result<Exit, CliError> {
    let home = context.home()?;
    let client = Client::new(&home)?;
    let answer: Value = client.delete(&format!("/projects/{project}"), Starting::WhenAbsent)?;
    tell(context, &answer, &format!("{project} is forgotten"))
}

fn tell(context: &mut Context, answer: &Value, text: &str) -> Result<Exit, CliError> {
    if context.out.is_json() {
        context.out.data(answer)?;
    } else {
        context.out.line(text)?;
    }
    Ok(Exit::OK)
}
