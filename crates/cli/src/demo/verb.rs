//! The verb `demo`: sets the stage, runs the plan, tells what happened.

use std::path::PathBuf;
use std::time::Instant;

use tidegate_protocol::ExitCode;

use crate::context::Context;
use crate::demo::narrator::Narrator;
use crate::demo::product::Product;
use crate::demo::report::Report;
use crate::demo::stage::Stage;
use crate::demo::watch;
use crate::error::CliError;
use crate::output::Exit;

/// Show the main job on a small real repository
///
/// Makes a repository, a plan of six features in two waves and a crew of scripts in the place of
/// coding agents, with a home of their own. One of the crew writes a bug that its gate catches, one
/// is killed with SIGKILL and comes back; all six land. Needs git, sh and awk.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Make everything in this new directory
    ///
    /// Default: a new one in the directory for temporary files. It is never removed.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// The plan, from the repository's root.
const PLAN: &str = "plans/board.toml";

impl Args {
    /// Plays the demo.
    ///
    /// # Errors
    /// When the stage cannot be set or the product refuses something. A run that ends otherwise
    /// than promised is no error but exit 10, with a report that says what is missing.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let begun = Instant::now();
        let place = match self.keep {
            Some(place) => place,
            None => fresh_place()?,
        };
        let stage = Stage::set(&place)?;
        let product = Product::new(&stage);
        let mut narrator = Narrator::new();
        narrator.say(&format!("A harbour's board, in {}", stage.repository.display()));
        narrator.say(&format!("$ tidegate config trust && tidegate submit {PLAN}"));
        product.trust()?;
        let run = product.submit(PLAN)?;
        let seen = watch::follow(&stage, &product, &run, &mut narrator);
        // Whatever came of it, nothing stays behind that works on.
        let stopped = product.stop();
        let seen = seen?;
        stopped?;
        let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let report = Report::new(&stage, &seen, elapsed_ms)?;
        if context.out.is_json() {
            context.out.data(&report)?;
        } else {
            context.out.line(report.text())?;
        }
        Ok(if report.complete { Exit::OK } else { ExitCode::RunFailed.into() })
    }
}

fn fresh_place() -> Result<PathBuf, CliError> {
    let folder = std::env::temp_dir();
    let made = tempfile::Builder::new().prefix("tidegate-demo-").tempdir_in(&folder);
    made.map(tempfile::TempDir::keep).map_err(|source| CliError::io("write in", &folder, &source))
}
