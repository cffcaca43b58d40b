//! `tidegate costs`: what agents used, by their own figures.

use tidegate_daemon::views::RunQuery;
use tidegate_protocol::{CostsDoc, FeatureCostsDoc, RunCostsDoc, RunDoc, UsageDoc};

use crate::args::values;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::read;

/// Newest runs that are added up.
const RUNS_MAX: u32 = 500;

/// Show what agents used: tokens and money, by their own figures
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate costs             the newest runs whose agents told something
  tidegate costs r000001     one run, and each of its features")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: Option<String>,
}

impl Args {
    /// Shows it.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let documents = if let Some(run) = &self.run {
            vec![read::run(&home, run)?]
        } else {
            let query = RunQuery { limit: Some(RUNS_MAX), ..RunQuery::default() };
            read::list(&home, &query)?.runs
        };
        let runs: Vec<RunCostsDoc> = documents.iter().filter_map(costs_of).collect();
        let total = runs.iter().fold(UsageDoc::default(), |sum, run| plus(sum, run.usage));
        let costs = CostsDoc { runs, total };
        if context.out.is_json() {
            context.out.data(&costs)?;
            return Ok(Exit::OK);
        }
        if costs.runs.is_empty() {
            talk("no agent told what it used");
        }
        for run in &costs.runs {
            context.out.line(format!("{} {}: {}", run.run_id, run.title, words(run.usage)))?;
            for feature in run.features.iter().filter(|_| self.run.is_some()) {
                let (id, attempts) = (&feature.feature, feature.attempts);
                let used = words(feature.usage);
                context.out.line(format!("  {id}, {attempts} attempts: {used}"))?;
            }
        }
        Ok(Exit::OK)
    }
}

fn costs_of(run: &RunDoc) -> Option<RunCostsDoc> {
    let features = run.features.iter().filter_map(|feature| {
        let (id, attempts) = (feature.id.clone(), feature.attempts);
        feature.usage.map(|usage| FeatureCostsDoc { feature: id, attempts, usage })
    });
    Some(RunCostsDoc {
        run_id: run.run_id.clone(),
        title: run.title.clone(),
        usage: run.usage?,
        features: features.collect(),
    })
}

fn plus(a: UsageDoc, b: UsageDoc) -> UsageDoc {
    UsageDoc {
        input: a.input.saturating_add(b.input),
        cached: a.cached.saturating_add(b.cached),
        output: a.output.saturating_add(b.output),
        cost_usd: match (a.cost_usd, b.cost_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        },
    }
}

fn words(usage: UsageDoc) -> String {
    let cost = usage.cost_usd.map_or("no cost told".to_owned(), |cost| format!("${cost:.4}"));
    format!("{} tokens in ({} cached), {} out, {cost}", usage.input, usage.cached, usage.output)
}
