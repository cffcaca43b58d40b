//! What a shell completes beside the words of the command line: the runs, features, queues and
//! snapshots of a home. It reads as readers do: it writes nothing and starts nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, Command};
use clap_complete::env::{CompleteEnv, Shells};
use clap_complete::{ArgValueCandidates, CompletionCandidate, Shell};
use tidegate_daemon::ids::RunId;
use tidegate_daemon::views::RunQuery;
use tidegate_protocol::RunDoc;

use crate::args;
use crate::home::Home;
use crate::read;

/// Set by the script of a shell that asks for words.
const VARIABLE: &str = "TIDEGATE_COMPLETE";
/// The newest runs that are offered.
const RUNS_MAX: u32 = 50;

/// The script that has a shell ask for its words; `None` for a shell that cannot.
pub(crate) fn script(shell: Shell) -> Option<Vec<u8>> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string())?;
    completer
        .write_registration(VARIABLE, "tidegate", "tidegate", "tidegate", &mut script)
        .ok()
        .map(|()| script)
}

/// Whether a shell asks: its script puts the line behind `--`.
pub(crate) fn is_asked(arguments: &[OsString]) -> bool {
    std::env::var_os(VARIABLE).is_some() && arguments.get(1).is_some_and(|first| first == "--")
}

/// Prints the words that fit. A home that cannot be read has none.
pub(crate) fn answer(arguments: Vec<OsString>) -> ExitCode {
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(|| completing(args::command())).var(VARIABLE);
    match asked.try_complete(arguments, here.as_deref()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => tidegate_protocol::ExitCode::Usage.into(),
    }
}

/// The command, with what each of its arguments can be.
fn completing(command: Command) -> Command {
    let restores = command.get_name() == "restore";
    let rolls_back = command.get_name() == "rollback";
    let command = command.mut_args(|arg| {
        let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let long = arg.get_long().map(str::to_owned);
        match (name.as_deref(), long.as_deref()) {
            (Some("RUN"), _) => with(arg, runs),
            (Some("FEATURE"), _) | (_, Some("feature")) => with(arg, features),
            (_, Some("lane")) => with(arg, lanes),
            (_, Some("project")) => with(arg, projects),
            (_, Some("snapshot")) if restores => with(arg, snapshots),
            (_, Some("to")) if rolls_back => with(arg, snapshots),
            (_, _) => arg,
        }
    });
    command.mut_subcommands(completing)
}

fn with(arg: Arg, candidates: fn() -> Vec<CompletionCandidate>) -> Arg {
    arg.add(ArgValueCandidates::new(candidates))
}

fn candidate(value: impl Into<OsString>, help: String) -> CompletionCandidate {
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))
}

/// The newest runs, with what they are.
fn runs() -> Vec<CompletionCandidate> {
    let known = newest();
    let told =
        known.iter().map(|run| candidate(&run.run_id, format!("{} {}", run.status, run.title)));
    told.collect()
}

/// The features of the run that the line names, else of the newest runs that have not ended.
fn features() -> Vec<CompletionCandidate> {
    let known = match named() {
        Some(run) => vec![run],
        None => newest().into_iter().filter(|run| !run.status.is_terminal()).collect(),
    };
    let mut told: Vec<CompletionCandidate> = Vec::new();
    for feature in known.iter().flat_map(|run| &run.features) {
        if told.iter().all(|other| other.get_value() != feature.id.as_str()) {
            told.push(candidate(&feature.id, feature.state.clone()));
        }
    }
    told
}

/// The snapshots of the run that the line names.
fn snapshots() -> Vec<CompletionCandidate> {
    let found = named().zip(home()).map(|(run, home)| {
        let feature = said("--feature");
        read::snapshots(&home, &run.run_id, feature.as_deref())
    });
    let Some(Ok(list)) = found else { return Vec::new() };
    let told =
        list.snapshots.iter().map(|one| candidate(one.number.to_string(), one.feature.clone()));
    told.collect()
}

fn lanes() -> Vec<CompletionCandidate> {
    // Those of paused or waiting queues, and those of runs that have ended.
    let queues = home().and_then(|home| read::lanes(&home).ok()).map(|list| list.lanes);
    let mut names: Vec<String> = queues
        .into_iter()
        .flatten()
        .map(|lane| lane.lane)
        .chain(newest().into_iter().map(|run| run.lane))
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| candidate(name, String::new())).collect()
}

fn projects() -> Vec<CompletionCandidate> {
    let Some(Ok(list)) = home().map(|home| read::projects(&home)) else { return Vec::new() };
    list.projects.into_iter().map(|project| candidate(project.id, project.root)).collect()
}

fn newest() -> Vec<RunDoc> {
    let query = RunQuery { limit: Some(RUNS_MAX), ..RunQuery::default() };
    let page = home().and_then(|home| read::list(&home, &query).ok());
    page.map(|page| page.runs).unwrap_or_default()
}

/// The run that a word of the line names.
fn named() -> Option<RunDoc> {
    let home = home()?;
    line().iter().filter(|word| RunId::is_prefix(word)).find_map(|word| read::run(&home, word).ok())
}

/// The home that the line speaks about.
fn home() -> Option<Home> {
    let flag = said("--home").map(PathBuf::from);
    Home::resolve(flag.as_deref().map(Path::new)).ok()
}

/// What the line gives to a flag.
fn said(flag: &str) -> Option<String> {
    let words = line();
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(flag)? {
        "" => words.get(at + 1).cloned(),
        rest => rest.strip_prefix('=').map(str::to_owned),
    })
}

/// The words of the line, but for the program.
fn line() -> Vec<String> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2);
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}
