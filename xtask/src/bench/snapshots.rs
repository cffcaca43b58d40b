//! What snapshots cost while an agent works in a worktree of fifty thousand files: time on a core, git's included.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Bench;
use super::row::Row;
use crate::site::{Place, busy_with_children, run_id};

const FOLDERS: usize = 500;
const FILES_OF_EACH: usize = 100;
/// The first one has no cache to look at; what is measured are those that follow it.
const FIRST: usize = 1;
/// Intervals that are watched.
const WATCHED: usize = 3;
/// Longest time between two snapshots that is waited for.
const PATIENCE: Duration = Duration::from_mins(15);

/// An agent that goes on writing files, one of them new.
const AGENT: &str =
    "n=0; while :; do n=$((n+1)); echo $n >d7/f7.txt; echo $n >new-$n.txt; sleep 1; done";

/// Share of a core that snapshots take, over whole intervals.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    fill(&place)?;
    place.verb(&["config", "trust"])?;
    let daemon = place.daemon()?;
    let run = run_id(&place.verb(&["submit", "plan.toml"])?)?;
    let first = cost(&taken(&place, &run, FIRST)?)?;
    let (begun, before) = (Instant::now(), busy_with_children(daemon)?);
    let last = cost(&taken(&place, &run, FIRST + WATCHED)?)?;
    let spent = busy_with_children(daemon)?.saturating_sub(before);
    let share = spent.as_secs_f64() / begun.elapsed().as_secs_f64();
    place.verb(&["cancel", &run, "--wait"])?;
    Ok(vec![
        Row::below("snapshots of 50,000 files, share of a core", share * 100.0, 3.0, "%"),
        Row::info("the first of them, without a cache", format!("{first} ms")),
        Row::info("one that follows", format!("{last} ms")),
    ])
}

fn fill(place: &Place) -> Result<()> {
    for folder in 0..FOLDERS {
        std::fs::create_dir(place.file(&format!("d{folder}")))?;
        for file in 0..FILES_OF_EACH {
            let text = format!("{folder} {file}\n");
            std::fs::write(place.file(&format!("d{folder}/f{file}.txt")), text)?;
        }
    }
    place.git(&["add", "--all"])?;
    place.git(&["commit", "--quiet", "--message", "many files"])?;
    std::fs::write(
        place.file("tidegate.toml"),
        "target = \"main\"\n[agent.shell]\nargv = [\"sh\"]\nprompt = \"stdin\"\n\
         [role.builder]\nagent = \"shell\"\n",
    )?;
    let plan = format!(
        "title = \"snapshots\"\n[[wave]]\nname = \"only\"\n[[wave.feature]]\nid = \"one\"\n\
         prompt = '''{AGENT}'''\n"
    );
    Ok(std::fs::write(place.file("plan.toml"), plan)?)
}

/// The snapshot with this number, once it is recorded.
fn taken(place: &Place, run: &str, number: usize) -> Result<Value> {
    let deadline = Instant::now() + PATIENCE * u32::try_from(number)?;
    while Instant::now() < deadline {
        let data = place.verb(&["events", run, "--kind", "snapshot-taken"])?;
        let all = data["events"].as_array().context("no events")?;
        if let Some(found) = all.get(number - 1) {
            return Ok(found.clone());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    bail!("no snapshot {number}")
}

fn cost(event: &Value) -> Result<u64> {
    event["snapshot"]["costMs"].as_u64().with_context(|| format!("no cost: {event}"))
}
