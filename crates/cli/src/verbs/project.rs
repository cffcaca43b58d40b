//! `tidegate project`: the repositories that this home knows.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};
use tidegate_daemon::host::HomeFiles;
use tidegate_protocol::{MoveProjectRequest, Text};

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
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
    let home = context.home()?;
    // The files first: one that is registered meanwhile is seen among the projects.
    let mut waiting = waiting(&home);
    let projects = read::projects(&home)?.projects;
    waiting.retain(|root| projects.iter().all(|project| project.root != *root));
    if context.out.is_json() {
        context.out.data(&json!({ "projects": projects, "waiting": waiting }))?;
        return Ok(Exit::OK);
    }
    if projects.is_empty() && waiting.is_empty() {
        talk("no projects: `tidegate init` registers a repository");
        return Ok(Exit::OK);
    }
    let known = projects.into_iter().map(|one| vec![one.id, one.root, one.common_dir]);
    let without_id = waiting.iter().map(|root| vec!["-".into(), root.clone(), "-".into()]);
    let rows: Vec<_> = known.chain(without_id).collect();
    context.out.line(table(&["PROJECT", "ROOT", "COMMON DIR"], rows))?;
    context.out.flush()?;
    if !waiting.is_empty() {
        talk("`-` gets its id from the next daemon: `tidegate daemon start`, or any submit");
    }
    Ok(Exit::OK)
}

/// Roots of repositories that were registered while no daemon ran, and that the next one takes up.
fn waiting(home: &Home) -> Vec<String> {
    let spool = HomeFiles::new(home.path()).spool();
    let entries = std::fs::read_dir(spool).into_iter().flatten().flatten();
    let files = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"));
    let root = |path: PathBuf| {
        let file: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        file["root"].as_str().map(str::to_owned)
    };
    let mut roots: Vec<String> = files.filter_map(root).collect();
    roots.sort_unstable();
    roots
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn registration_that_waits_for_a_daemon_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(dir.path())).unwrap();
        assert!(waiting(&home).is_empty());
        tidegate_daemon::host::leave_registration(dir.path(), Path::new("/src/harbour")).unwrap();
        assert_eq!(waiting(&home), ["/src/harbour"]);
    }
}
