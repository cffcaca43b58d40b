//! Where the workspace is, which files it has, and how cargo is called. Knows no rule and no task.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The root of the workspace. Cargo says where it is at every start: a target directory that
/// several checkouts share may hold this program as another one of them has built it.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let mut root = PathBuf::from(package.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()));
    root.pop();
    root
}

/// A call of the cargo that started this task, at the root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// Runs `command` and fails when it fails.
pub(crate) fn succeed(command: &mut Command, what: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {what}"))?;
    if status.success() { Ok(()) } else { bail!("{what}: {status}") }
}

/// What cargo knows about the workspace, with or without what it depends on.
pub(crate) fn metadata(dependencies: bool) -> Result<Value> {
    let mut command = cargo(&["metadata", "--format-version", "1", "--locked"]);
    if !dependencies {
        command.arg("--no-deps");
    }
    let output = command.output().context("cannot start cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata is no JSON")
}

/// The folder that cargo builds into.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(false)?;
    let path = metadata["target_directory"].as_str().context("no target directory")?;
    Ok(PathBuf::from(path))
}

/// Every text file of the workspace, relative to its root, in order; build output left out.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let root = root();
    let mut found = Vec::new();
    collect(&root, &root, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        let name = entry.file_name();
        // A folder in a clone, a file in a worktree of one.
        if name == ".git" {
            continue;
        }
        if kind.is_dir() {
            if !name.as_encoded_bytes().starts_with(b"target") {
                collect(root, &path, found)?;
            }
        } else if kind.is_file() && path.extension() != Some(OsStr::new("new")) {
            found.push(path.strip_prefix(root)?.to_path_buf());
        }
    }
    Ok(())
}
