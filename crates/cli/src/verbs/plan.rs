//! `tidegate plan check`: everything that is wrong with a plan, at once. It needs no daemon and
//! leaves nothing behind.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use crate::args::values;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::work::{Findings, Repository, gather, invalid_plan};

/// Check plans
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate plan check plan.toml       all errors, with file, line and hint; exit 1 if there are any")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say everything that is wrong with a plan and its settings
    Check {
        /// The plan: TOML, or Markdown with front matter
        #[arg(value_name = "PLAN")]
        plan: PathBuf,

        /// First wave
        #[arg(long, value_name = "N")]
        start_wave: Option<u32>,

        /// Last wave
        #[arg(long, value_name = "N")]
        end_wave: Option<u32>,

        /// Only this feature; may be repeated
        #[arg(long = "feature", value_name = "ID", value_parser = values::feature)]
        features: Vec<String>,
    },
}

impl Args {
    /// Checks.
    ///
    /// # Errors
    /// `invalid_plan` when there are errors.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let Verb::Check { plan, start_wave, end_wave, features } = self.verb;
        let features = (!features.is_empty()).then_some(features);
        check(context, &plan, &tidegate_config::Selection { start_wave, end_wave, features })
    }
}

fn check(
    context: &mut Context,
    plan: &Path,
    selection: &tidegate_config::Selection,
) -> Result<Exit, CliError> {
    let repository = Repository::here()?;
    let bundle = gather(&repository, plan)?;
    let found = tidegate_config::check(&bundle, selection);
    let findings = Findings::in_bundle(found, &bundle);
    let (_, warnings) = findings.counts();
    if !context.out.is_json() {
        findings.blocks().iter().try_for_each(|block| context.out.line(block))?;
    }
    if findings.has_errors() {
        return Err(invalid_plan(&findings));
    }
    if context.out.is_json() {
        context.out.data(&json!({ "plan": plan, "diagnostics": findings.to_json() }))?;
    } else {
        talk(format_args!("{} is sound ({warnings} warnings)", plan.display()));
    }
    Ok(Exit::OK)
}
