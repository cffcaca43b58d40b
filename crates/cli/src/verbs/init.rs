//! `tidegate init`: settings for this repository, and its registration. It commits nothing and
//! starts no daemon.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::trust;
use crate::work::Repository;

/// Write tidegate.toml, trust it, and register this repository
///
/// An existing tidegate.toml is left as it is. Nothing is committed and no daemon is started.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate init                       settings with a builder and a gate to fill in
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
            Some(target) => checked(target)?,
            None => repository.branch().unwrap_or_else(|| "main".to_owned()),
        };
        let text = template(&target);
        let written = write_new(&path, &text)?;
        if written {
            trust::trust(&home, text.as_bytes())?;
        }
        register(&home, repository.root())?;
        let shown = path.display();
        if context.out.is_json() {
            context.out.data(&json!({
                "root": repository.root(),
                "config": path,
                "written": written,
                "trusted": trust::is_trusted_file(&home, &path),
            }))?;
        } else if written {
            context.out.line(format_args!("wrote {shown}"))?;
            talk("next: fill in your agent and your gate, then `tidegate config trust`");
        } else {
            context.out.line(format_args!("kept {shown}"))?;
            if !trust::is_trusted_file(&home, &path) {
                talk("next: `tidegate config trust`, once you have read it");
            }
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

/// The settings to begin with. They are complete: a plan runs with them once the agent is real.
fn template(target: &str) -> String {
    format!(
        r#"# Settings of Tidegate for this repository. `tidegate config show --origin` shows what holds.
# Commands in this file run only after `tidegate config trust`.

target = "{target}"

# Your coding agent: any program that edits the files of its working directory.
# `prompt` says how the task reaches it: "stdin", "argv" (as {{prompt}}) or "file" (as {{prompt_file}}).
[agent.scribe]
argv = ["./scripts/agent.sh"]
prompt = "stdin"

[role.builder]
agent = "scribe"

# What must pass before a change lands. `argv` runs without a shell, `run` is a bash string.
[gate.test]
run = "true  # your tests"

[review]
policy = "auto"             # auto | person | agent

[landing]
strategy = "merge"          # merge | squash | rebase
merge_gates = ["test"]
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_config::{ConfigFiles, NamedFile, load_config};

    #[test]
    fn template_is_read_without_a_finding() {
        let file = NamedFile { path: "tidegate.toml".into(), bytes: template("main").into() };
        let files = ConfigFiles { repository: Some(file), ..ConfigFiles::default() };
        assert_eq!(load_config(&files).findings, []);
    }
}
