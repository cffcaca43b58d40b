//! The agents that tests drive: pinned versions from the npm registry, in a folder outside of the clone, each installed
//! once. Where one cannot be had, why is said, and its tests skip themselves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::{cargo, succeed};

/// What is pinned; the tests read the same.
const PINS: &str = include_str!("../../../crates/cli/tests/it/real/pins.txt");

/// Those that only `cargo xtask agents` drives.
const SLOW: &str = include_str!("../../../crates/cli/tests/it/real/pins-slow.txt");

/// `cargo xtask agents`: the slower agents, `[NAME ...]` of them or all.
pub(crate) fn drive(names: &[String]) -> Result<()> {
    let all = || pins(SLOW).filter_map(|pin| pin.first().copied());
    if let Some(unknown) = names.iter().find(|name| !all().any(|known| known == **name)) {
        bail!("{unknown} is none of: {}", all().collect::<Vec<_>>().join(", "));
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let chosen: Vec<&str> = all().filter(|name| wanted(name)).collect();
    install()?;
    install_of(SLOW, wanted)?;
    let binary = super::build()?;
    // The same features as `cargo xtask test`, so that nothing is built again.
    let mut tests = cargo(&["test", "--workspace", "--features", "tidegate/failpoints"]);
    tests.args(["--test", "it", "real::slow", "--", "--nocapture"]).env("TIDEGATE_BIN", binary);
    tests.env("TIDEGATE_AGENTS", folder()?).env("TIDEGATE_SLOW_AGENTS", chosen.join(" "));
    succeed(&mut tests, "the slower agents")
}

/// Where the agents are, or are to come: `TIDEGATE_AGENTS`, else a folder of the user's cache.
pub(super) fn folder() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("TIDEGATE_AGENTS") {
        return Ok(folder.into());
    }
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").context("no HOME")?).join(".cache"),
    };
    Ok(cache.join("tidegate/agents"))
}

/// Installs what is missing. Nothing is asked of the network for what is there.
pub(super) fn install() -> Result<()> {
    install_of(PINS, |_| true)
}

fn pins(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect())
}

fn install_of(text: &str, wanted: impl Fn(&str) -> bool) -> Result<()> {
    let folder = folder()?;
    for words in pins(text).filter(|words| words.first().is_some_and(|name| wanted(name))) {
        let [name, version, package, program, ..] = words.as_slice() else {
            bail!("a pin is not whole: {words:?}")
        };
        let place = folder.join(format!("{name}-{version}"));
        if place.join(program).exists() {
            continue;
        }
        let at = Instant::now();
        match add(&folder, &place, &format!("{package}@{version}"), program) {
            Ok(()) => println!("installed {name} {version}, {} s", at.elapsed().as_secs()),
            Err(why) => println!("skipped: {name} {version} cannot be installed: {why:#}"),
        }
    }
    Ok(())
}

/// Installs a package beside its place, and moves it there once it is whole.
fn add(folder: &Path, place: &Path, package: &str, program: &str) -> Result<()> {
    ensure!(cfg!(target_arch = "x86_64"), "its pinned package is for x86-64 alone");
    std::fs::create_dir_all(folder)?;
    let made = tempfile::Builder::new().prefix(".part-").tempdir_in(folder)?;
    std::fs::write(made.path().join("package.json"), "{\"private\": true}\n")?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]);
    npm.args([
        "--fetch-retries=1",
        "--fetch-retry-mintimeout=1000",
        "--fetch-retry-maxtimeout=2000",
        "--fetch-timeout=60000",
        package,
    ])
    .current_dir(made.path());
    let output = npm.stdin(Stdio::null()).output().context("cannot start npm")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "npm: {}", said.lines().next().unwrap_or("it failed"));
    ensure!(made.path().join(program).exists(), "the package has no {program}");
    // What is in its place and not whole is of no use; whoever installed it meanwhile is right.
    if place.exists() && !place.join(program).exists() {
        std::fs::remove_dir_all(place)?;
    }
    match std::fs::rename(made.path(), place) {
        Err(_) if place.join(program).exists() => Ok(()),
        moved => moved.context("cannot move it to its place"),
    }
}
