//! `tidegate explain`: why something runs, waits, failed or was killed.

use crate::args::values;
use crate::context::Context;
use crate::error::{CliError, printable};
use crate::output::Exit;
use crate::read;
use crate::render::style;

/// Say why a run or a feature runs, waits, failed or was killed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate explain r000001                    the run
  tidegate explain r000001 --feature berths   one of its features")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// One feature of it
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: Option<String>,
}

impl Args {
    /// Explains.
    ///
    /// # Errors
    /// When there is no such run or feature, or the store cannot be read.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let answer = read::explain(&home, &self.run, self.feature.as_deref())?;
        if context.out.is_json() {
            context.out.data(&answer)?;
            return Ok(Exit::OK);
        }
        let (strong, faint, attention) = (style::STRONG, style::FAINT, style::ATTENTION);
        let name = match &answer.feature {
            Some(feature) => format!("{} {feature}", answer.run_id),
            None => answer.run_id.clone(),
        };
        let because = printable(&answer.because);
        context.out.line(format_args!("{strong}{name}{strong:#} {}: {because}", answer.status))?;
        if let Some(next) = &answer.next {
            let style = if answer.requires_human { attention } else { faint };
            context.out.line(format_args!("{style}next:{style:#} {}", printable(next)))?;
        }
        for fact in &answer.facts {
            let at = fact.at.as_ref().map_or("-", |at| at.as_str());
            let text = printable(&fact.text).replace('\n', " ");
            context.out.line(format_args!("  {faint}{at:<24}{faint:#} {}: {text}", fact.about))?;
        }
        if !answer.supervised {
            let seen = if answer.recorded { "" } else { ", and this is not recorded yet" };
            context.out.line(format_args!("  {faint}no daemon supervises it{seen}{faint:#}"))?;
        }
        Ok(Exit::OK)
    }
}
