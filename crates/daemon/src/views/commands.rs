//! Commands as documents, and what the runtime is at: read from the store and the lock alone.

use serde_json::Value;
use tidegate_core::command::{Awaits, CommandId, CommandStatus};
use tidegate_core::ids::RunId;
use tidegate_protocol::{
    ActiveCommand, BackgroundError, CommandDoc, CommandPage, ErrorCode, Problem, RuntimeDoc,
};
use tidegate_store::{Background, CommandFilter, CommandRecord};

use super::moment::stamp;
use super::viewer::Viewer;
use crate::clock;

/// Commands of a page, when nothing else is asked for.
const PAGE: u32 = 50;
/// Commands of a page at the most.
const PAGE_MAX: u32 = 500;

/// Which commands are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandQuery {
    /// Of the status with this word.
    pub status: Option<String>,
    /// About the run whose id begins so.
    pub run: Option<String>,
    /// Of this name.
    pub command: Option<String>,
    /// Commands per page.
    pub limit: Option<u32>,
    /// The end of the page before.
    pub cursor: Option<String>,
}

impl Viewer {
    /// Commands, the newest first.
    ///
    /// # Errors
    /// `invalid_input` for a cursor or a status that is none, `not_found` for a run, `corrupt`, `io`.
    pub fn commands(&mut self, query: &CommandQuery) -> Result<CommandPage, Problem> {
        let before = match &query.cursor {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| {
                Problem::invalid_input("`cursor` is the `next` of the page before")
            })?),
        };
        let status = match query.status.as_deref() {
            None => None,
            Some(word) => Some(CommandStatus::from_word(word).ok_or_else(|| {
                let known: Vec<&str> = CommandStatus::ALL.iter().map(|one| one.word()).collect();
                Problem::invalid_input(format!("`status` is one of {}", known.join(", ")))
            })?),
        };
        let run = query.run.as_deref().map(|prefix| self.resolve(prefix)).transpose()?;
        let limit = query.limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
        let filter =
            CommandFilter { status, run, verb: query.command.clone(), before, limit: limit + 1 };
        let mut found = self.ask(|view| view.commands(&filter))?.unwrap_or_default();
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let next = found.last().filter(|_| more).map(|last| last.seq.to_string());
        let commands = found.into_iter().map(document).collect::<Result<_, _>>()?;
        Ok(CommandPage { commands, next })
    }

    /// One command.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `io`.
    pub fn command(&mut self, id: &str) -> Result<CommandDoc, Problem> {
        let missing = || {
            Problem::not_found(format!("there is no command `{}`", id.escape_debug()))
                .hint("`tidegate daemon commands` shows them; old ones are forgotten")
        };
        let id = CommandId::new(id).map_err(|_| missing())?;
        let found = self.ask(|view| view.command(&id))?.flatten();
        document(found.ok_or_else(missing)?)
    }

    /// What the runtime of the home is at.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn runtime(&mut self) -> Result<RuntimeDoc, Problem> {
        let daemon = self.daemon().clone();
        let asked = self.ask(|view| {
            let (open, background) = (view.open_commands()?, view.backgrounds()?);
            let newest = view.newest_event_at()?;
            Ok((view.home_row()?, open, background, view.last_failed_background()?, newest))
        })?;
        let status = if daemon.running { "running" } else { "stopped" };
        let pid = daemon.pid.filter(|_| daemon.running);
        let Some((home, open, background, failed, newest)) = asked else {
            return Ok(RuntimeDoc { pid, status: status.to_owned(), ..RuntimeDoc::default() });
        };
        let heartbeat = if daemon.running { Some(clock::wall()) } else { newest };
        let open: Vec<ActiveCommand> = open.iter().map(active).collect();
        let background: Vec<ActiveCommand> = background.iter().map(active).collect();
        Ok(RuntimeDoc {
            instance_id: Some(home.home_id),
            started_at: home.daemon.map(|daemon| stamp(daemon.started_at)),
            last_heartbeat_at: heartbeat.map(stamp),
            pid,
            status: status.to_owned(),
            current_command: open.first().cloned(),
            commands_in_progress: open,
            active_background_command: background.first().cloned(),
            active_background_commands: background,
            last_background_error: failed.map(failure).transpose()?.flatten(),
        })
    }
}

fn active(record: &CommandRecord) -> ActiveCommand {
    ActiveCommand {
        request_id: record.id.to_string(),
        command: record.verb.clone(),
        feature_id: record.feature.as_ref().map(ToString::to_string),
        run_id: record.run.as_ref().map(RunId::to_string),
        requested_at: stamp(record.requested_at),
    }
}

fn failure(record: CommandRecord) -> Result<Option<BackgroundError>, Problem> {
    let Some(Background::Failed { at, error_json }) = &record.background else { return Ok(None) };
    let error: Problem = serde_json::from_str(error_json).map_err(|error| {
        Problem::new(ErrorCode::Corrupt, format!("the error of command {}: {error}", record.id))
    })?;
    Ok(Some(BackgroundError {
        command: record.verb,
        feature_id: record.feature.map(|feature| feature.to_string()),
        run_id: record.run.map(|run| run.to_string()),
        code: error.code.as_str().to_owned(),
        message: error.message,
        at: stamp(*at),
    }))
}

fn document(record: CommandRecord) -> Result<CommandDoc, Problem> {
    let json = |what: &str, text: &str| -> Result<Value, Problem> {
        serde_json::from_str(text).map_err(|error| {
            let message = format!("the {what} of command {}: {error}", record.id);
            Problem::new(ErrorCode::Corrupt, message)
        })
    };
    Ok(CommandDoc {
        args: json("args", &record.args_json)?,
        result: record.result_json.as_deref().map(|text| json("result", text)).transpose()?,
        request_id: record.id.to_string(),
        command: record.verb,
        feature_id: record.feature.map(|feature| feature.to_string()),
        run_id: record.run.map(|run| run.to_string()),
        status: record.status.word().to_owned(),
        waits_for: record.awaits.map(waits_for),
        requested_at: stamp(record.requested_at),
        processed_at: record.processed_at.map(stamp),
        actor: record.actor,
        idempotency_key: record.key,
        epoch: record.epoch,
        attempts: record.attempts,
        background: record.background.map(|background| background.word().to_owned()),
    })
}

fn waits_for(awaits: Awaits) -> String {
    match awaits {
        Awaits::RunEnd => "the end of its run".to_owned(),
        Awaits::Landing => "the landing of its feature".to_owned(),
        Awaits::Rollback => "the worktree to be put back".to_owned(),
        Awaits::Cleanup(number) => format!("the end of clean-up {number}"),
        Awaits::Restore(number) => format!("the end of restore {number}"),
    }
}
