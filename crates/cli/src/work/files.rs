//! The files of a plan and its settings, read once: what is checked here is what is sent.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_config::{Bundle, ConfigFiles, NamedFile, environment_overrides};
use tidegate_protocol as wire;

use super::repository::Repository;
use crate::error::CliError;

/// The user's own settings, above the built-in ones: `$XDG_CONFIG_HOME/tidegate/config.toml`, else
/// `~/.config/tidegate/config.toml`.
fn user_config_path() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = || std::env::home_dir().filter(|path| path.is_absolute());
    let config = set("XDG_CONFIG_HOME").or_else(|| user().map(|user| user.join(".config")))?;
    Some(config.join("tidegate/config.toml"))
}

/// All layers of the settings of a repository, flags excepted.
///
/// # Errors
/// When a file is there and cannot be read.
pub(crate) fn config_files(repository: Option<&Repository>) -> Result<ConfigFiles, CliError> {
    let user = match user_config_path() {
        Some(path) => read_user(&path)?,
        None => None,
    };
    let repository = match repository {
        Some(repository) => repository.config()?,
        None => None,
    };
    let variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let pairs = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Ok(ConfigFiles { user, repository, overrides: environment_overrides(pairs) })
}

fn read_user(path: &Path) -> Result<Option<NamedFile>, CliError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(NamedFile { path: path.to_string_lossy().into_owned(), bytes })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::io("read", path, &error)),
    }
}

/// Everything that a run of `plan` is made of.
///
/// # Errors
/// When the plan or the settings cannot be read. What is wrong with a spec file is a finding.
pub(crate) fn gather(repository: &Repository, plan: &Path) -> Result<Bundle, CliError> {
    let plan = repository.plan(plan)?;
    let config = config_files(Some(repository))?;
    Ok(tidegate_config::gather(plan, config, &mut |path| repository.spec(path)))
}

/// The bundle as it is sent. It was checked before: a file that is no text had its finding there.
///
/// # Errors
/// When a file is not UTF-8.
pub(crate) fn wire_bundle(bundle: Bundle) -> Result<wire::Bundle, CliError> {
    let mut specs = BTreeMap::new();
    for spec in bundle.specs {
        let content =
            spec.content.map_err(|error| CliError::refused(format!("{}: {error}", spec.path)))?;
        specs.insert(spec.path.clone(), text(&spec.path, content)?);
    }
    let (plan_path, plan) = named(bundle.plan)?;
    let (config_path, config) = bundle.config.repository.map(named).transpose()?.unzip();
    let (user_config_path, user_config) = bundle.config.user.map(named).transpose()?.unzip();
    Ok(wire::Bundle { plan_path, plan, config, config_path, user_config, user_config_path, specs })
}

fn named(file: NamedFile) -> Result<(String, String), CliError> {
    let text = text(&file.path, file.bytes)?;
    Ok((file.path, text))
}

fn text(path: &str, bytes: Vec<u8>) -> Result<String, CliError> {
    String::from_utf8(bytes).map_err(|_| CliError::refused(format!("{path} is not UTF-8 text")))
}
