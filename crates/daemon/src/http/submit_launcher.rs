//! What a launcher run is made of: the submitted argv, and what the settings say of that launcher.

use std::path::Path;

use tidegate_config::{Config, ConfigFiles, LauncherEntry, NamedFile, load_config};
use tidegate_core::launcher::{Launcher, LauncherSpec, Selection, SelectionStyle};
use tidegate_core::limits::RESUMES_MAX;
use tidegate_core::run::Work;
use tidegate_protocol::{LauncherWork, Problem};

use super::commands::argv;
use super::findings::invalid_plan;
use super::submit::{Pinned, require_trust};

/// Checks a launcher's request and resolves its entry in the settings.
///
/// # Errors
/// `invalid_input`, `invalid_plan`, `untrusted_config`, `not_found`.
pub(super) fn launcher_work(
    home: &Path,
    root: &str,
    work: &LauncherWork,
) -> Result<Pinned, Problem> {
    if let (Some(start), Some(end)) = (work.start_wave, work.end_wave)
        && end < start
    {
        return Err(Problem::invalid_input(format!("wave {end} is before wave {start}")));
    }
    let path = work.config_path.as_deref().unwrap_or("tidegate.toml");
    let config = work.config.as_ref().map(|text| settings(path, text)).transpose()?;
    let named = work.launcher.as_deref().map(|name| named(config.as_ref(), path, name));
    let named = named.transpose()?;
    let given =
        if work.argv.is_empty() && named.is_some() { Vec::new() } else { argv(&work.argv)? };
    let own = named.and_then(|entry| entry.argv.clone());
    let brought = own.is_some();
    let argv: Vec<String> = own.into_iter().flatten().chain(given).collect();
    if argv.is_empty() {
        let name = work.launcher.as_deref().unwrap_or_default();
        let message = format!("the launcher `{name}` of {path} has no argv");
        return Err(Problem::invalid_input(message).hint("give the command after `--`"));
    }
    let by_argv = || config.as_ref()?.launcher_for(&argv).map(|(_, entry)| entry);
    let entry = named.or_else(by_argv);
    let style = entry.map_or(SelectionStyle::EnvironmentOnly, LauncherEntry::style);
    // A command that the settings bring in must be trusted; flags at the end of the user's own
    // command need not.
    if let Some(text) = &work.config
        && (brought || matches!(style, SelectionStyle::ResumeArgv(_)))
    {
        require_trust(home, path, text.as_bytes())?;
    }
    let spec = LauncherSpec {
        argv,
        cwd: root.to_owned(),
        selection: Selection {
            start_wave: work.start_wave,
            end_wave: work.end_wave,
            auto_next: work.auto_next,
        },
        style,
        resumes_max: work.resume_limit.unwrap_or(RESUMES_MAX),
        timeout_ms: None,
        terminal: work.terminal,
        stall_after_ms: config.as_ref().map(|config| config.stall_after_ms.value),
    };
    // What the settings said of the launcher is in its spec: their bytes are not named again.
    Ok((Work::Launcher { spec, state: Launcher::default() }, Vec::new()))
}

fn settings(path: &str, text: &str) -> Result<Config, Problem> {
    let file = NamedFile { path: path.to_owned(), bytes: text.as_bytes().to_vec() };
    let files = ConfigFiles { user: None, repository: Some(file), overrides: Vec::new() };
    let layered = load_config(&files);
    if tidegate_config::has_errors(&layered.findings) {
        return Err(invalid_plan(&layered.findings));
    }
    Ok(layered.config)
}

/// The entry of that name.
fn named<'c>(
    config: Option<&'c Config>,
    path: &str,
    name: &str,
) -> Result<&'c LauncherEntry, Problem> {
    let launchers = config.map(|config| &config.launchers);
    if let Some(entry) = launchers.and_then(|launchers| launchers.get(name)) {
        return Ok(&entry.value);
    }
    let problem = Problem::not_found(format!("{path} has no launcher `{name}`"));
    let known: Vec<&str> = launchers.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    Err(if known.is_empty() {
        problem.hint("add a table [launcher.NAME] with its argv")
    } else {
        problem.hint(format!("it has {}", known.join(", ")))
    })
}
