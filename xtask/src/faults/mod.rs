//! `cargo xtask faults [NUMBER]`: one fault per run of the product, then everything that must hold is looked at.
//!
//! Half of the faults kill a process at a fail point, each point in turn; the other half kill a random process of the
//! product at a random moment. A failure prints the seed that repeats it.

mod audit;
mod chance;
mod fault;
mod scenario;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use anyhow::{Result, anyhow, bail};

use chance::Chance;
use fault::Fault;
use scenario::Scenario;

const NUMBER: usize = 500;
/// Runs at once; each leaves the machine idle most of the time.
const WORKERS: usize = 2;

/// What all runs share.
struct Arena {
    binary: PathBuf,
    scratch: PathBuf,
    points: Vec<String>,
    /// The tree that the plan ends with when nothing is disturbed.
    tree: String,
}

/// Injects faults: `[NUMBER] [--seed SEED]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut words = arguments.iter();
    let (mut number, mut first) = (NUMBER, 1);
    while let Some(word) = words.next() {
        if word == "--seed" {
            first = words.next().ok_or_else(|| anyhow!("--seed SEED"))?.parse()?;
        } else {
            number = word.parse()?;
        }
    }
    inject(number, first)
}

/// Injects `number` faults, the first one by the seed `first`.
pub(crate) fn inject(number: usize, first: usize) -> Result<()> {
    let binary = crate::suite::build()?;
    let target = crate::workspace::target_dir()?;
    let scratch = tempfile::Builder::new().prefix("faults-").tempdir_in(&target)?;
    let mut arena = Arena {
        binary,
        scratch: scratch.path().to_path_buf(),
        points: crate::tidy::fail_points()?,
        tree: String::new(),
    };
    arena.tree = scenario::undisturbed(&arena)?;
    let failures = play(&arena, number, first)?;
    for failure in &failures {
        println!("{failure}");
    }
    println!("faults: {number}, {} not survived", failures.len());
    if failures.is_empty() { Ok(()) } else { bail!("{} faults not survived", failures.len()) }
}

fn play(arena: &Arena, number: usize, first: usize) -> Result<Vec<String>> {
    let next = AtomicUsize::new(first);
    let work = || {
        let mut failures = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + number {
                return failures;
            }
            let (scenario, fault) = choose(arena, seed);
            if let Err(error) = one(arena, scenario, &fault, seed) {
                let told = format!("FAIL  seed {seed}: {scenario:?}, {fault}: {error:#}");
                println!("{told}");
                failures.push(told);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(ScopedJoinHandle::join);
        let lists =
            results.collect::<Result<Vec<_>, _>>().map_err(|_| anyhow!("a worker panicked"))?;
        Ok(lists.concat())
    })
}

/// The same seed is the same fault, as long as the fail points are the same.
fn choose(arena: &Arena, seed: usize) -> (Scenario, Fault) {
    let mut chance = Chance::new(seed);
    let scenario = Scenario::choose(&mut chance);
    let fault = if seed.is_multiple_of(2) && !arena.points.is_empty() {
        let point = arena.points[seed / 2 % arena.points.len()].clone();
        Fault::at_point(point, &mut chance)
    } else {
        Fault::at_random(&mut chance)
    };
    (scenario, fault)
}

fn one(arena: &Arena, scenario: Scenario, fault: &Fault, seed: usize) -> Result<()> {
    let outcome = scenario.play(arena, fault)?;
    let hit = outcome.hit;
    scenario.judge(arena, &outcome)?;
    audit::check(&outcome)?;
    if seed.is_multiple_of(20) {
        let note = if hit { "" } else { " (not hit)" };
        println!("      seed {seed}: {scenario:?}, {fault}{note}: survived");
    }
    Ok(())
}

/// Folder of the demo's texts, which are the plan of these runs.
fn demo() -> PathBuf {
    crate::workspace::root().join(Path::new("crates/cli/src/demo"))
}
