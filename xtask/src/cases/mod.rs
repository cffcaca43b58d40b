//! `cargo xtask cases [--all | ID | CATEGORY ...]`: public bug reports of other tools as scenarios, each played against
//! the real binary in a home, a repository and an environment of its own. What became of all is kept in `docs/cases.md`.
//!
//! `--hollow` plays them against a program that says yes to everything and does nothing: none may hold then.
//!
//! A scenario is a text for bash that speaks through one adapter (`cases/lib/verbs.sh`) and asserts facts
//! (`cases/lib/facts.sh`). This module knows neither the product nor any single case.

mod case;
mod hollow;
mod page;
mod stage;
#[cfg(test)]
mod tests;
mod verdict;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use case::Case;
use verdict::Verdict;

/// Cases at once: each waits for processes for most of its time.
const WORKERS: usize = 3;
/// One of so many runs with every test.
#[cfg(test)]
const SHARE: usize = 10;

/// How a case is played.
struct Terms {
    binary: PathBuf,
    /// Longest time that a scenario waits for one thing.
    limit: Duration,
}

/// What one case came to.
struct Played<'c> {
    case: &'c Case,
    verdict: Verdict,
}

/// Plays the cases that are named, by id or by category, or all; fails when one of them does not hold.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let cases = case::load()?;
    if arguments.iter().any(|word| word == "--hollow") {
        return hollow::run(&cases.iter().collect::<Vec<_>>());
    }
    let all = arguments.is_empty() || arguments.iter().any(|word| word == "--all");
    let wanted = |case: &&Case| {
        all || arguments.iter().any(|word| *word == case.id || *word == case.category)
    };
    let chosen: Vec<&Case> = cases.iter().filter(wanted).collect();
    ensure!(!chosen.is_empty(), "no case is called that: ids are `C002`, categories `orphans`");
    let terms = Terms { binary: crate::suite::build()?, limit: Duration::from_mins(1) };
    let begun = Instant::now();
    let played = play(&chosen, &terms)?;
    if all {
        page::write(&played)?;
    }
    tell(&played, begun.elapsed())
}

/// Plays several at once; the outcomes are in the order of the cases.
fn play<'c>(cases: &[&'c Case], terms: &Terms) -> Result<Vec<Played<'c>>> {
    let scratch = crate::workspace::target_dir()?.join("tmp");
    std::fs::create_dir_all(&scratch)?;
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { return };
                    let verdict = one(case, terms, &scratch);
                    done.lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((at, Played { case, verdict }));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, played)| played).collect())
}

fn one(case: &Case, terms: &Terms, scratch: &Path) -> Verdict {
    let begun = Instant::now();
    let verdict = stage::play(case, terms, scratch)
        .unwrap_or_else(|error| Verdict::Fails(format!("the stage: {error:#}")));
    println!("{} {:14} {:5.1} s  {verdict}", case.id, case.category, begun.elapsed().as_secs_f64());
    verdict
}

fn tell(played: &[Played<'_>], took: Duration) -> Result<()> {
    let count = |is: fn(&Verdict) -> bool| played.iter().filter(|one| is(&one.verdict)).count();
    let failed = count(|verdict| matches!(verdict, Verdict::Fails(_)));
    println!(
        "cases: {} played, {} hold, {} refused loudly, {} not supported, {failed} fail; {} s",
        played.len(),
        count(|verdict| matches!(verdict, Verdict::Holds)),
        count(|verdict| matches!(verdict, Verdict::Refused(_))),
        count(|verdict| matches!(verdict, Verdict::Unsupported(_))),
        took.as_secs(),
    );
    if failed > 0 {
        bail!("{failed} cases do not hold");
    }
    Ok(())
}
