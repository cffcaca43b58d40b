//! `cargo xtask races [NUMBER]`: two to eight daemons at once, on a fresh home and on one whose daemon was killed.
//!
//! One of them runs; the others say that one runs and end with 0. The epoch rises by one, so one of them wrote.

use std::process::{Child, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::site::{Place, kill, poll};

const NUMBER: usize = 1000;
/// Races on one home, each on what the one before left.
const ROUNDS: usize = 10;

/// Runs the races.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let number = arguments.first().map_or(Ok(NUMBER), |number| number.parse())?;
    race(number)
}

fn race(number: usize) -> Result<()> {
    let binary = crate::suite::build()?;
    let target = crate::workspace::target_dir()?;
    let scratch = tempfile::Builder::new().prefix("races-").tempdir_in(&target)?;
    let mut failures = 0;
    let (mut place, mut epoch) = (Place::new(&binary, scratch.path())?, 0);
    for race in 0..number {
        if race % ROUNDS == 0 {
            (place, epoch) = (Place::new(&binary, scratch.path())?, 0);
        }
        // The next one is held to what this one should have left, also when it went wrong.
        epoch += 1;
        if let Err(error) = one(&place, 2 + race % 7, epoch) {
            println!("FAIL  race {race}: {error:#}");
            failures += 1;
        }
    }
    println!("races: {number}, {failures} with another end than one daemon");
    if failures > 0 {
        bail!("{failures} races went wrong");
    }
    Ok(())
}

fn one(place: &Place, daemons: usize, epoch: u64) -> Result<()> {
    let mut children: Vec<Child> = (0..daemons)
        .map(|_| {
            let mut daemon = place.call(&["daemon", "run"]);
            daemon.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot start it")
        })
        .collect::<Result<_>>()?;
    let outcome = settle(place, &mut children, epoch);
    for child in &mut children {
        kill(child.id());
        child.wait()?;
    }
    outcome
}

/// All but one have ended, the one that lives is the one that the home names, and its epoch is this.
fn settle(place: &Place, children: &mut Vec<Child>, epoch: u64) -> Result<()> {
    let mut ended = Vec::new();
    poll("the losers' end", || {
        let mut rest = Vec::new();
        for mut child in children.drain(..) {
            match child.try_wait()? {
                Some(_) => ended.push(child),
                None => rest.push(child),
            }
        }
        *children = rest;
        ensure!(!children.is_empty(), "no daemon is left");
        Ok((children.len() == 1).then_some(()))
    })?;
    for child in ended {
        let output = child.wait_with_output()?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "a loser ended with {}: {complaint}", output.status);
        let said: serde_json::Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("a loser answered with no JSON, and said {complaint:?}"))?;
        ensure!(said["data"]["running"] == true, "a loser said {said}");
    }
    let winner = children[0].id();
    poll("the winner's name in the home", || {
        Ok((place.living_daemon()? == Some(winner)).then_some(()))
    })?;
    let after = place.epoch()?;
    ensure!(after == epoch, "the epoch is {after}, and not {epoch}");
    Ok(())
}
