//! `cargo xtask test`: the one command that runs every test, and says at the end how many passed, failed and were skipped.
//!
//! A test that cannot run on a machine prints `skipped: WHY` and returns; it counts as skipped, not as passed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

pub(crate) mod agents;
mod tally;
mod tools;

use tally::Tally;

/// Skips that continuous integration accepts: `TEST reason`, one a line.
const ALLOWED: &str = include_str!("../../skips-allowed.txt");

/// Builds the product with its fail points, then runs all tests, or those that match.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let deny_skips = arguments.iter().any(|argument| argument == "--deny-skips");
    let filters = arguments.iter().filter(|argument| *argument != "--deny-skips");
    tools::install()?;
    agents::install()?;
    let binary = build()?;
    let mut tests = crate::workspace::cargo(&["test", "--workspace", "--no-fail-fast"]);
    tests.args(["--features", "tidegate/failpoints", "--", "--show-output"]);
    tests.args(filters).env("TIDEGATE_BIN", binary);
    tests.env("TIDEGATE_AGENTS", agents::folder()?);
    let (tally, ended_well) = follow(tests)?;
    println!("\n{tally}");
    let unexpected = tally.unexpected_skips(ALLOWED);
    for skip in &unexpected {
        println!("not in the list of accepted skips: {skip}");
    }
    if !ended_well || tally.failed() > 0 {
        bail!("tests failed");
    }
    if deny_skips && !unexpected.is_empty() {
        bail!("{} tests were skipped that must run here", unexpected.len());
    }
    Ok(())
}

/// The binary with its fail points, which the tests of other crates find by `TIDEGATE_BIN`.
pub(crate) fn build() -> Result<PathBuf> {
    let mut build = crate::workspace::cargo(&["build", "--package", "tidegate"]);
    build.args(["--features", "tidegate/failpoints"]);
    crate::workspace::succeed(&mut build, "cargo build")?;
    Ok(crate::workspace::target_dir()?.join("debug/tidegate"))
}

/// Prints what the tests print, apart from the output of those that passed, and counts.
fn follow(mut tests: Command) -> Result<(Tally, bool)> {
    let mut child = tests.stdout(Stdio::piped()).spawn().context("cannot start cargo test")?;
    let output = child.stdout.take().context("no output of cargo test")?;
    let mut tally = Tally::default();
    let mut lines = BufReader::new(output);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        if tally.read(text.trim_end()) {
            print!("{text}");
        }
        line.clear();
    }
    Ok((tally, child.wait()?.success()))
}
