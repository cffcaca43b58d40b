//! From a person's consent to the target: against the same git commands by hand with the same merge gate.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::row::Row;
use super::samples::{Samples, time};
use crate::site::{Place, poll, quietly, run_id};

const ROUNDS: usize = 7;
/// How much of the time by hand, the merge gate in it, a landing may take.
const BAR: f64 = 1.5;
/// A merge gate that takes as long as a very short suite of tests.
const GATE: &str = "sleep 1";

/// What is ready to be landed: a branch with a commit.
const BRANCH: &str = r"
set -e
git worktree add --quiet --no-track -b hand-$1 ../hand-$1 main
cd ../hand-$1
echo $1 >file-$1
git add --all
git commit --quiet --message $1
";

/// A landing by hand: the merge, a clean checkout of it for the merge gate, the branch moved.
const BY_HAND: &str = r#"
set -e
tree=$(git merge-tree --write-tree main hand-$1)
merged=$(git commit-tree -p main -p hand-$1 -m merge $tree)
git worktree add --quiet --detach ../gate-$1 $merged
(cd ../gate-$1 && sh -c "$2")
git merge --quiet --ff-only $merged
git worktree remove --force ../gate-$1
"#;

/// Landings with a merge gate of a second, and with one that does nothing.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let (ours, by_hand) = both(bench, GATE)?;
    let (bare, bare_by_hand) = both(bench, "true")?;
    let bar = Duration::from_secs_f64(by_hand.median().as_secs_f64() * BAR);
    Ok(vec![
        Row::at_most("approve to landed, merge gate of 1 s", ours.median(), bar, "1.5 x by hand"),
        Row::info("the same git commands and gate by hand", by_hand),
        Row::info("approve to landed, merge gate `true`", bare),
        Row::info("the same git commands and gate by hand", bare_by_hand),
    ])
}

fn both(bench: &Bench, gate: &str) -> Result<(Samples, Samples)> {
    let place = bench.place()?;
    configure(&place, gate)?;
    place.daemon()?;
    let mut round = 0;
    let ours = Samples::take(ROUNDS, || {
        round += 1;
        let (run, commit) = reviewed(&place, round)?;
        time(|| {
            place.verb(&["approve", &run, "--feature", "one", "--commit", &commit])?;
            place.wait(&run)
        })
    })?;
    let by_hand = Samples::take(ROUNDS, || {
        round += 1;
        script(&place, BRANCH, round, gate)?;
        time(|| script(&place, BY_HAND, round, gate))
    })?;
    Ok((ours, by_hand))
}

fn script(place: &Place, script: &str, round: u32, gate: &str) -> Result<()> {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh", &round.to_string(), gate]);
    quietly(shell.current_dir(place.repository()))
}

fn configure(place: &Place, gate: &str) -> Result<()> {
    let config = format!(
        "target = \"main\"\n[agent.shell]\nargv = [\"sh\"]\nprompt = \"stdin\"\n\
         [role.builder]\nagent = \"shell\"\n[gate.merged]\nrun = \"{gate}\"\n\
         [review]\npolicy = \"person\"\n[landing]\nmerge_gates = [\"merged\"]\n"
    );
    std::fs::write(place.file("tidegate.toml"), config)?;
    place.verb(&["config", "trust"]).map(|_| ())
}

/// A run whose feature waits for consent, and its commit.
fn reviewed(place: &Place, round: u32) -> Result<(String, String)> {
    let plan = format!(
        "title = \"landing\"\n[[wave]]\nname = \"only\"\n[[wave.feature]]\nid = \"one\"\n\
         prompt = '''echo {round} >one.txt'''\ngates = []\n"
    );
    std::fs::write(place.file("landing.toml"), plan)?;
    let run = run_id(&place.verb(&["submit", "landing.toml"])?)?;
    let commit = poll("the review", || {
        let document = place.verb(&["status", &run])?;
        let feature = &document["features"][0];
        let commit = feature["commit"].as_str().filter(|_| feature["state"] == "in_review");
        Ok(commit.map(str::to_owned))
    })?;
    Ok((run, commit))
}
