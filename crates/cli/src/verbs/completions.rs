//! `tidegate completions`: scripts for shells.

use clap_complete::Shell;

use crate::completing;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Exit;

/// Print a completion script for a shell
///
/// It completes verbs and flags, and the runs, features, lanes, projects and snapshots of the home,
/// which are read without a daemon.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate completions bash > ~/.local/share/bash-completion/completions/tidegate
  tidegate completions zsh > ~/.zfunc/_tidegate
  tidegate completions fish > ~/.config/fish/completions/tidegate.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Args {
    /// Prints the script.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let script = completing::script(self.shell)
            .ok_or_else(|| CliError::refused("there are no completions for this shell"))?;
        if context.out.is_json() {
            let script = String::from_utf8_lossy(&script);
            let shell = self.shell.to_string();
            context.out.data(&serde_json::json!({ "shell": shell, "script": script }))?;
        } else {
            context.out.bytes(&script)?;
        }
        Ok(Exit::OK)
    }
}
