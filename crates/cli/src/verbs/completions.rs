//! `tidegate completions`: scripts for shells.

use clap_complete::Shell;

use crate::args;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Exit;

/// Print a completion script for a shell
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
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut args::command(), "tidegate", &mut script);
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
