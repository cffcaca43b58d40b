//! `tidegate mcp`: the tools of an agent, inside its job.

use crate::context::Context;
use crate::error::CliError;
use crate::mcp;
use crate::output::Exit;

/// Serve an agent its tools, inside its job: ask people, read their messages, tell how far it is
///
/// It speaks the Model Context Protocol over standard input and output, and ends with its input. The
/// agents that Tidegate starts are told of it by their manifest (`mcp`): nobody calls it by hand.
/// Which job it is for follows from the processes above it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp = [\"--mcp-config\", '{\"mcpServers\":{\"tidegate\":{\"command\":{mcp_command},\"args\":{mcp_args}}}}']")]
pub(crate) struct Args {}

impl Args {
    /// Serves.
    ///
    /// # Errors
    /// When this is no job of the home, or its streams break.
    #[expect(clippy::unused_self, reason = "every verb is called alike")]
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let directory = std::env::var_os("TIDEGATE_JOB_DIR").map(std::path::PathBuf::from);
        mcp::serve(&context.home_of_job(directory.as_deref())?)?;
        Ok(Exit::OK)
    }
}
