//! `tidegate daemon commands`: what operators asked for, where it stands, and what came of it.

use serde_json::Value;
use tidegate_daemon::views::CommandQuery;
use tidegate_protocol::CommandDoc;

use crate::args::values;
use crate::context::Context;
use crate::error::{CliError, printable};
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::render::table;

/// Show the commands that were given, the newest first, or one with all that is known of it
///
/// Every command is remembered with its answer, refused ones too, and driven to its end whatever
/// dies. They are forgotten after seven days; the log of events keeps the fact.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A command's id; all of it
    #[arg(value_name = "ID", conflicts_with_all = ["status", "run", "command", "limit", "cursor"])]
    id: Option<String>,

    /// Only those that are pending, processing, completed or failed
    #[arg(long, value_name = "STATUS", value_parser = ["pending", "processing", "completed", "failed"])]
    status: Option<String>,

    /// Only those about this run
    #[arg(long, value_name = "RUN", value_parser = values::run)]
    run: Option<String>,

    /// Only those of this name, such as `run.cancel`
    #[arg(long, value_name = "NAME")]
    command: Option<String>,

    /// So many at the most [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: Option<u32>,

    /// Go on where the page before ended
    #[arg(long, value_name = "NEXT")]
    cursor: Option<String>,
}

impl Args {
    /// Shows them.
    ///
    /// # Errors
    /// When there is no such command or run, or the store cannot be read.
    pub(super) fn run(self, context: &mut Context, home: &Home) -> Result<Exit, CliError> {
        if let Some(id) = &self.id {
            let document = read::command(home, id)?;
            if context.out.is_json() {
                context.out.data(&document)?;
                return Ok(Exit::OK);
            }
            return page(context, &document);
        }
        let query = CommandQuery {
            status: self.status,
            run: self.run,
            command: self.command,
            limit: self.limit,
            cursor: self.cursor,
        };
        let found = read::commands(home, &query)?;
        if context.out.is_json() {
            context.out.data(&found)?;
            return Ok(Exit::OK);
        }
        list(context, &found.commands)?;
        if let Some(next) = found.next {
            context.out.flush()?;
            talk(format_args!("more: --cursor {next}"));
        }
        Ok(Exit::OK)
    }
}

fn list(context: &mut Context, commands: &[CommandDoc]) -> Result<(), CliError> {
    if commands.is_empty() {
        talk("no such command is remembered");
        return Ok(());
    }
    let rows = commands.iter().map(|command| {
        vec![
            command.request_id.clone(),
            command.status.clone(),
            command.command.clone(),
            subject(command),
            command.actor.clone(),
            command.requested_at.to_string(),
            printable(&outcome(command)).replace('\n', " "),
        ]
    });
    let head = ["COMMAND", "STATUS", "NAME", "ABOUT", "BY", "ASKED", "WHY"];
    context.out.line(table(&head, rows.collect()))?;
    Ok(())
}

/// The run and the feature that it is about.
fn subject(command: &CommandDoc) -> String {
    let run = command.run_id.clone().unwrap_or_default();
    match &command.feature_id {
        Some(feature) => format!("{run} {feature}").trim_start().to_owned(),
        None => run,
    }
}

/// What it waits for, or why it failed.
fn outcome(command: &CommandDoc) -> String {
    let error = command.result.as_ref().map(|result| &result["error"]);
    let message = error.and_then(|error| error["message"].as_str());
    let waits = command.waits_for.as_ref().map(|what| format!("waits for {what}"));
    message.map(str::to_owned).or(waits).unwrap_or_default()
}

fn page(context: &mut Context, command: &CommandDoc) -> Result<Exit, CliError> {
    let mut rows = vec![
        ("status", command.status.clone()),
        ("command", command.command.clone()),
        ("about", subject(command)),
        ("actor", command.actor.clone()),
        ("requested", command.requested_at.to_string()),
        ("ended", command.processed_at.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("attempts", command.attempts.to_string()),
        ("background", command.background.clone().unwrap_or_default()),
        ("why", printable(&outcome(command))),
    ];
    let told = command.result.as_ref().map_or(Value::Null, |result| result["data"].clone());
    if !told.is_null() {
        rows.push(("answer", printable(&told.to_string())));
    }
    context.out.line(&command.request_id)?;
    for (label, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        context.out.line(format_args!("  {label:<10} {value}"))?;
    }
    Ok(Exit::OK)
}
