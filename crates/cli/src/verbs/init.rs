//! `tidegate init`: settings and a first plan for this repository, and its registration. It commits nothing and
//! starts no daemon.

use std::io::Write;
use std::path::Path;

use serde_json::json;
use tidegate_config::{
    Facts, NamedFile, Selection, TestCommand, check, config_template, has_errors, plan_template,
};

use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::trust;
use crate::work::{Repository, config_files};

/// Name of the first plan in a repository's root.
const PLAN_NAME: &str = "plan.toml";

/// Write tidegate.toml and plan.toml, trust the settings, and register this repository
///
/// Files that are there already are left as they are. Nothing is committed and no daemon is started.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate init                       settings with the tests that are found, and a first plan
  tidegate init --target develop      land on another branch than the one that is checked out")]
pub(crate) struct Args {
    /// The branch that changes land on; without it the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    target: Option<String>,
}

impl Args {
    /// Writes, trusts and registers.
    ///
    /// # Errors
    /// When there is no repository, or a file cannot be written.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        trust::refuse_inside_job(&home)?;
        let repository = Repository::here()?;
        let path = repository.config_path();
        let target = match self.target {
            Some(target) => Some(checked(target)?),
            None => repository.branch(),
        };
        let tests = test_command(repository.root());
        let text = config_template(&Facts { default_branch: target, test: tests });
        let written = write_new(&path, &text)?;
        if written {
            trust::trust(&home, text.as_bytes())?;
        }
        let plan_written = write_plan(&repository)?;
        register(&home, repository.root())?;
        let trusted = trust::is_trusted_file(&home, &path);
        let plan = repository.root().join(PLAN_NAME);
        if context.out.is_json() {
            context.out.data(&json!({
                "root": repository.root(),
                "config": path,
                "written": written,
                "testFound": tests.is_some(),
                "trusted": trusted,
                "plan": plan.exists().then_some(&plan),
                "planWritten": plan_written,
            }))?;
            return Ok(Exit::OK);
        }
        let word = |written: bool| if written { "wrote" } else { "kept" };
        context.out.line(format_args!("{} {}", word(written), path.display()))?;
        if plan.exists() {
            context.out.line(format_args!("{} {}", word(plan_written), plan.display()))?;
        }
        context.out.flush()?;
        if written && tests.is_none() {
            talk(
                "warning: no test command was found: the gate `test` checks nothing until you write yours there",
            );
        }
        if !trusted {
            talk("next: `tidegate config trust`, once you have read the settings");
        } else if plan_written {
            talk("next: read both; after a change of the settings `tidegate config trust`");
            talk("then: `tidegate plan check plan.toml`, `tidegate run plan.toml`");
        }
        Ok(Exit::OK)
    }
}

fn checked(target: String) -> Result<String, CliError> {
    match tidegate_config::branch_ref(&target) {
        Ok(_) => Ok(target),
        Err(why) => Err(CliError::usage(format!("--target `{target}`: {why}"))),
    }
}

/// Writes the file unless there is one; true when it was written.
fn write_new(path: &Path, text: &str) -> Result<bool, CliError> {
    let failed = |source: std::io::Error| CliError::io("write", path, &source);
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(true)
}

/// Through the daemon when it is there, else by a word that the next one finds.
fn register(home: &Home, root: &Path) -> Result<(), CliError> {
    if read::daemon(home)?.running {
        let request =
            tidegate_protocol::ProjectRequest { root: root.as_os_str().to_owned().into() };
        let client = Client::new(home)?;
        let _: serde_json::Value = client.post("/projects", &request, Starting::Never)?;
        return Ok(());
    }
    tidegate_daemon::host::leave_registration(home.path(), root)
        .map_err(|source| CliError::io("leave the registration in", home.path(), &source))
}

/// How this repository is tested, as far as its root tells.
fn test_command(root: &Path) -> Option<TestCommand> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    TestCommand::detect(names.iter().map(String::as_str))
}

/// Writes a first plan, unless there is one or it would not be sound with the settings; true when
/// it was written.
fn write_plan(repository: &Repository) -> Result<bool, CliError> {
    let text = plan_template();
    let named = NamedFile { path: PLAN_NAME.to_owned(), bytes: text.clone().into_bytes() };
    let config = config_files(Some(repository))?;
    let bundle = tidegate_config::gather(named, config, &mut |path| repository.spec(path));
    if has_errors(&check(&bundle, &Selection::default())) {
        return Ok(false);
    }
    write_new(&repository.root().join(PLAN_NAME), &text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// A directory that passes for a repository, with the files.
    fn repository(files: &[(&str, &str)]) -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git/objects")).unwrap();
        std::fs::create_dir_all(dir.path().join(".git/refs")).unwrap();
        std::fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/trunk\n").unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        let repository = Repository::of(dir.path()).unwrap();
        (dir, repository)
    }

    fn settings(root: &Path, target: Option<String>) -> String {
        config_template(&Facts { default_branch: target, test: test_command(root) })
    }

    #[test]
    fn settings_name_the_branch_and_the_tests_of_the_repository() {
        let (_dir, repository) = repository(&[("go.mod", "")]);
        let text = settings(repository.root(), repository.branch());
        assert!(text.contains("target = \"trunk\""), "{text}");
        assert!(text.contains("[\"go\", \"test\""), "{text}");
    }

    #[test]
    fn plan_that_was_written_is_sound_and_never_overwritten() {
        let (_dir, repository) = repository(&[]);
        let text = settings(repository.root(), repository.branch());
        assert!(write_new(&repository.config_path(), &text).unwrap());
        assert!(write_plan(&repository).unwrap());
        let plan = repository.root().join(PLAN_NAME);
        let bundle = crate::work::gather(&repository, &plan).unwrap();
        assert_eq!(check(&bundle, &Selection::default()), []);
        std::fs::write(&plan, "mine").unwrap();
        assert!(!write_plan(&repository).unwrap());
        assert_eq!(std::fs::read_to_string(&plan).unwrap(), "mine");
    }

    #[test]
    fn plan_that_does_not_fit_the_settings_is_not_written() {
        let (_dir, repository) = repository(&[("tidegate.toml", "target = \"main\"\n")]);
        assert!(!write_plan(&repository).unwrap());
        assert!(!repository.root().join(PLAN_NAME).exists());
    }
}
