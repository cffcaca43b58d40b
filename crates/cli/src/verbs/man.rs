//! `tidegate man` (hidden): manual pages for packagers.

use std::path::{Path, PathBuf};

use crate::args;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Exit;

/// Write manual pages into a directory
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "\
Examples:
  tidegate man /tmp/man1              one page per verb, to be packed as man1/*.1"
)]
pub(crate) struct Args {
    /// The directory; made when it is missing
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Args {
    /// Writes one page per verb.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let directory = &self.directory;
        std::fs::create_dir_all(directory)
            .map_err(|source| CliError::io("create", directory, &source))?;
        let mut command = args::command();
        command.build();
        let mut written = Vec::new();
        write_pages(&command, directory, &mut written)?;
        if context.out.is_json() {
            context.out.data(&serde_json::json!({ "pages": written }))?;
        } else {
            written.iter().try_for_each(|name| context.out.line(name))?;
        }
        Ok(Exit::OK)
    }
}

fn write_pages(
    command: &clap::Command,
    directory: &Path,
    written: &mut Vec<String>,
) -> Result<(), CliError> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let page = clap_mangen::Man::new(command.clone());
    let mut bytes = Vec::new();
    page.render(&mut bytes).map_err(CliError::bug)?;
    let file = format!("{name}.1");
    let path = directory.join(&file);
    std::fs::write(&path, bytes).map_err(|source| CliError::io("write", &path, &source))?;
    written.push(file);
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    verbs
        .filter(|verb| verb.get_name() != "help")
        .try_for_each(|verb| write_pages(verb, directory, written))
}
