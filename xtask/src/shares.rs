//! The full numbers of what the tests run a share of: every fault of the kill matrix, a hundred thousand simulated worlds,
//! hundreds of sabotages.

use std::process::Command;

use anyhow::{Result, bail};

use crate::workspace::{cargo, succeed};

/// The kill matrix: `[NUMBER | all] [--seed SEED]`, five hundred by default.
pub(crate) fn faults(arguments: &[String]) -> Result<()> {
    let (number, seed) =
        number_and_seed(arguments, "500", "cargo xtask faults [NUMBER | all] [--seed SEED]")?;
    let mut tests = end_to_end("faults_leave")?;
    tests.env("TIDEGATE_FAULTS", number).env("TIDEGATE_FAULT_SEED", seed);
    succeed(&mut tests, "the kill matrix")
}

/// Power cuts on loop devices: `[NUMBER] [--seed SEED]`, two hundred by default, and every point
/// between the writes of a record.
pub(crate) fn power(arguments: &[String]) -> Result<()> {
    let (number, seed) =
        number_and_seed(arguments, "200", "cargo xtask power [NUMBER] [--seed SEED]")?;
    let mut tests = end_to_end("power::")?;
    tests.env("TIDEGATE_POWER_CUTS", number).env("TIDEGATE_POWER_SEED", seed);
    succeed(&mut tests, "the power cuts")
}

/// The kill loop: `[--minutes N] [--rounds M]`, one round of ten minutes by default.
pub(crate) fn kill_loop(arguments: &[String]) -> Result<()> {
    let (mut minutes, mut rounds) = (10_u64, 1_u64);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().and_then(|value| value.parse().ok());
        match (word.as_str(), value) {
            ("--minutes", Some(value)) => minutes = value,
            ("--rounds", Some(value)) => rounds = value,
            _ => bail!("usage: cargo xtask killloop [--minutes N] [--rounds M]"),
        }
    }
    for round in 1..=rounds {
        let mut tests = end_to_end("random_kills")?;
        tests.env("TIDEGATE_KILL_SECONDS", (minutes * 60).to_string());
        tests.env("TIDEGATE_KILL_SEED", round.to_string());
        succeed(&mut tests, "the kill loop")?;
    }
    Ok(())
}

/// Rounds of random edits with a disaster each: `[NUMBER] [--seed SEED]`, five hundred by default.
pub(crate) fn snapshots(arguments: &[String]) -> Result<()> {
    let (number, seed) =
        number_and_seed(arguments, "500", "cargo xtask snapshots [NUMBER] [--seed SEED]")?;
    let mut tests = end_to_end("snapshot_rounds::")?;
    tests.env("TIDEGATE_SNAPSHOT_ROUNDS", number).env("TIDEGATE_SNAPSHOT_SEED", seed);
    succeed(&mut tests, "the rounds of snapshots")
}

/// The simulation: `[NUMBER]` seeds, or the simulation's own flags.
pub(crate) fn sim(arguments: &[String]) -> Result<()> {
    let mut sim =
        cargo(&["run", "--profile", "sim", "--package", "tidegate-testkit", "--bin", "sim", "--"]);
    match arguments {
        [] => sim.args(["--seeds", "100000"]),
        [number] => sim.args(["--seeds", number]),
        flags => sim.args(flags),
    };
    succeed(&mut sim, "the simulation")
}

/// Sabotages and honest changes of the integrity check: `[NUMBER]`, a hundred and two hundred by default.
pub(crate) fn integrity(arguments: &[String]) -> Result<()> {
    let number = match arguments {
        [] => "100",
        [number] => number,
        _ => bail!("usage: cargo xtask integrity [NUMBER]"),
    };
    let mut tests = cargo(&["test", "--package", "tidegate-evidence", "--test", "integrity"]);
    tests.args(["sabotage_is_caught", "--", "--nocapture"]).env("TIDEGATE_INTEGRITY", number);
    succeed(&mut tests, "the integrity check")
}

/// Upgrades under load: `[NUMBER]` replacements of the daemon under fifty live jobs, twenty by default.
pub(crate) fn upgrade(arguments: &[String]) -> Result<()> {
    let number = match arguments {
        [] => "20",
        [number] => number,
        _ => bail!("usage: cargo xtask upgrade [NUMBER]"),
    };
    let mut tests = end_to_end("upgraded_daemons")?;
    tests.env("TIDEGATE_UPGRADES", number);
    succeed(tests.env("TIDEGATE_UPGRADE_JOBS", "50"), "the upgrades")
}

/// A storm of commands of four clients: `[COMMANDS] [KILLS]`, two hundred and fifty by default.
pub(crate) fn storm(arguments: &[String]) -> Result<()> {
    let (commands, kills) = match arguments {
        [] => ("200", "50"),
        [commands] => (commands.as_str(), "50"),
        [commands, kills] => (commands.as_str(), kills.as_str()),
        _ => bail!("usage: cargo xtask storm [COMMANDS] [KILLS]"),
    };
    let mut tests = end_to_end("storm::")?;
    tests.env("TIDEGATE_STORM_COMMANDS", commands).env("TIDEGATE_STORM_KILLS", kills);
    succeed(&mut tests, "the storm of commands")
}

/// A train of branches that want to land at once: `[NUMBER] [--seed SEED]`, sixty by default.
pub(crate) fn train(arguments: &[String]) -> Result<()> {
    let (number, seed) =
        number_and_seed(arguments, "60", "cargo xtask train [NUMBER] [--seed SEED]")?;
    let mut tests = end_to_end("train::")?;
    tests.env("TIDEGATE_TRAIN", number).env("TIDEGATE_TRAIN_SEED", seed);
    tests.env("TIDEGATE_TRAIN_KILLS", "5");
    succeed(&mut tests, "the train")
}

/// Streams that no agent would write: `[NUMBER] [--seed SEED]`, a hundred thousand by default.
pub(crate) fn fuzz(arguments: &[String]) -> Result<()> {
    let (number, seed) =
        number_and_seed(arguments, "100000", "cargo xtask fuzz [NUMBER] [--seed SEED]")?;
    let mut tests = cargo(&["test", "--profile", "sim", "--package", "tidegate-agents"]);
    tests.args(["--test", "fuzz"]).env("TIDEGATE_FUZZ", number).env("TIDEGATE_FUZZ_SEED", seed);
    succeed(&mut tests, "the streams")
}

/// The end-to-end tests of a name, with the features of `cargo xtask test`, so that nothing is built again.
fn end_to_end(filter: &str) -> Result<Command> {
    let binary = crate::suite::build()?;
    let mut tests = cargo(&["test", "--workspace", "--features", "tidegate/failpoints"]);
    tests.args(["--test", "it", filter, "--", "--nocapture"]).env("TIDEGATE_BIN", binary);
    Ok(tests)
}

/// What `[NUMBER] [--seed SEED]` says; the first seed where none is said.
fn number_and_seed<'a>(
    arguments: &'a [String],
    number: &'a str,
    usage: &str,
) -> Result<(&'a str, &'a str)> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok((number, "1")),
        ["--seed", seed] => Ok((number, *seed)),
        [number] => Ok((*number, "1")),
        [number, "--seed", seed] => Ok((*number, *seed)),
        _ => bail!("usage: {usage}"),
    }
}

/// Writes the pages that are made of the code; a test compares them.
pub(crate) fn docs() -> Result<()> {
    let mut tests = cargo(&["test", "--package", "tidegate", "--bin", "tidegate", "reference"]);
    succeed(tests.env("TIDEGATE_WRITE_DOCS", "1"), "the pages")
}
