//! The repairs of `tidegate doctor`: a backup now, a backup in the store's place, and what becomes
//! of jobs that the store does not know.

use std::path::Path;

use serde_json::json;
use tidegate_daemon::repair::{self, RestoreError, Restored, Stray, VerdictError};
use tidegate_daemon::views::{open_problem, store_problem};
use tidegate_protocol::ErrorCode;

use crate::context::Context;
use crate::doctor::strays;
use crate::error::CliError;
use crate::home::Home;
use crate::inside::is_inside_job;
use crate::output::Exit;

/// Copies the store to the backups.
///
/// # Errors
/// When it cannot be read or the copy cannot be written.
pub(crate) fn back_up(context: &mut Context, home: &Home) -> Result<Exit, CliError> {
    outside(home)?;
    let made =
        repair::back_up(home.path()).map_err(|error| CliError::from(open_problem(&error)))?;
    if context.out.is_json() {
        context.out.data(&json!({ "backup": made }))?;
    } else {
        match &made {
            Some(path) => context.out.line(path.display())?,
            None => context.out.line("the newest backup has all of the store already")?,
        }
    }
    Ok(Exit::OK)
}

/// Puts a backup in the store's place.
///
/// # Errors
/// When a daemon runs, no backup is whole, or a file cannot be written.
pub(crate) fn restore(
    context: &mut Context,
    home: &Home,
    backup: Option<&Path>,
) -> Result<Exit, CliError> {
    outside(home)?;
    let done = repair::restore(home.path(), backup).map_err(|error| restore_error(&error))?;
    if context.out.is_json() {
        let passed: Vec<_> = done
            .passed_over
            .iter()
            .map(|(path, why)| json!({ "backup": path, "why": why }))
            .collect();
        context.out.data(&json!({
            "backup": done.backup,
            "kept": done.kept,
            "generation": done.token.generation,
            "epoch": done.token.epoch,
            "transactionsLost": done.lost,
            "strays": done.strays,
            "passedOver": passed,
        }))?;
    } else {
        tell_restored(context, &done)?;
    }
    Ok(Exit::OK)
}

fn tell_restored(context: &mut Context, done: &Restored) -> Result<(), CliError> {
    for (path, why) in &done.passed_over {
        context.out.line(format_args!("passed over {}: {why}", path.display()))?;
    }
    context.out.line(format_args!("restored {}", done.backup.display()))?;
    context.out.line(format_args!("the store that was there is in {}", done.kept.display()))?;
    match done.lost {
        Some(0) => context.out.line("nothing that was acknowledged is missing")?,
        Some(lost) => {
            context.out.line(format_args!("{lost} transactions behind the backup are gone"))?;
        }
        None => context.out.line("how much was recorded behind the backup is not known")?,
    }
    tell_strays(context, &done.strays)
}

/// Lists the jobs that the store does not know, or does what a person says of one.
///
/// # Errors
/// When there is no such job, or it cannot be done.
pub(crate) fn quarantine(
    context: &mut Context,
    home: &Home,
    words: &[String],
) -> Result<Exit, CliError> {
    let found = strays(home)?;
    let (what, job) = match words {
        [] => ("list", None),
        [what] => (what.as_str(), None),
        [what, job, ..] => (what.as_str(), Some(job)),
    };
    let job = match (what, job) {
        ("list", None) => {
            if context.out.is_json() {
                context.out.data(&json!({ "strays": found }))?;
            } else if found.is_empty() {
                context.out.line("the store knows every job directory")?;
            } else {
                tell_strays(context, &found)?;
            }
            return Ok(Exit::OK);
        }
        ("keep" | "stop" | "drop", Some(job)) => job,
        _ => return Err(CliError::usage("say `list`, or `keep JOB`, `stop JOB` or `drop JOB`")),
    };
    outside(home)?;
    let stray = found.iter().find(|stray| stray.job == *job);
    let stray = stray.ok_or_else(|| verdict_error(&VerdictError::NoStray { job: job.clone() }))?;
    let moved = match what {
        "keep" => repair::keep(home.path(), stray).map(|()| None),
        "stop" => repair::stop(home.path(), stray, &home_token(home)?).map(Some),
        _ => repair::drop_stray(home.path(), stray).map(Some),
    };
    let moved = moved.map_err(|error| verdict_error(&error))?;
    if context.out.is_json() {
        context.out.data(&json!({ "job": job, "did": what, "directory": moved }))?;
    } else {
        match &moved {
            Some(path) => context.out.line(format_args!("{job} is in {}", path.display()))?,
            None => context.out.line(format_args!("{job} goes on; it holds nothing up"))?,
        }
    }
    Ok(Exit::OK)
}

fn tell_strays(context: &mut Context, strays: &[Stray]) -> Result<(), CliError> {
    for stray in strays {
        let state = match (stray.alive, stray.kept, stray.exit_code) {
            (true, true, _) => "alive, kept".to_owned(),
            (true, false, _) => "ALIVE".to_owned(),
            (false, _, Some(code)) => format!("ended with {code}"),
            (false, _, None) => "not alive".to_owned(),
        };
        let pid = stray.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
        let line = format!("{}  {state}{pid}  {}", stray.job, stray.why);
        context.out.line(line)?;
        let argv = stray.argv.join(" ");
        context.out.line(format_args!("    {}", argv.escape_debug()))?;
        context.out.line(format_args!("    {}", stray.directory.display()))?;
    }
    if strays.iter().any(Stray::holds) {
        context.out.line(
            "while one lives nothing new starts: `tidegate doctor --quarantine stop JOB` ends it, \
             `keep JOB` lets it go on unsupervised",
        )?;
    }
    Ok(())
}

/// Who a stop is from: the home, and its newest token.
fn home_token(home: &Home) -> Result<repair::Owner, CliError> {
    repair::owner(home.path()).map_err(|error| CliError::from(open_problem(&error)))
}

/// A job may not decide what becomes of its home.
fn outside(home: &Home) -> Result<(), CliError> {
    if is_inside_job(home) {
        return Err(CliError::new(
            ErrorCode::ForbiddenScope,
            "a process inside a job may not repair its home",
        ));
    }
    Ok(())
}

fn restore_error(error: &RestoreError) -> CliError {
    let text = error.to_string();
    match error {
        RestoreError::Running { .. } => CliError::new(ErrorCode::Busy, text)
            .hint("`tidegate daemon stop`; jobs go on under their shims"),
        RestoreError::NoBackup { .. } => CliError::new(ErrorCode::NotFound, text)
            .hint("`tidegate doctor --restore FILE` takes one from elsewhere"),
        RestoreError::OtherHome { .. } => CliError::refused(text)
            .hint("move this home away first, if its store is to be replaced by that one"),
        RestoreError::Lock(_) => CliError::new(ErrorCode::Io, text),
        RestoreError::Open(error) => open_problem(error).into(),
        RestoreError::Store(error) => store_problem(error).into(),
    }
}

fn verdict_error(error: &VerdictError) -> CliError {
    let text = error.to_string();
    match error {
        VerdictError::NoStray { .. } => CliError::new(ErrorCode::NotFound, text)
            .hint("`tidegate doctor --quarantine` lists them"),
        VerdictError::Alive { .. } => CliError::refused(text),
        VerdictError::NotEnded { .. } => {
            CliError::new(ErrorCode::Io, text).hint("look at the processes that it names")
        }
        VerdictError::Io { .. } => CliError::new(ErrorCode::Io, text),
    }
}
