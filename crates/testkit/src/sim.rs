//! Runs simulated worlds, seed after seed, and reports those in which an invariant did not hold.

use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::faults::Mutation;
use crate::world::{End, Violation, World};

/// Failures after which a simulation stops.
const FAILURES_MAX: usize = 5;

/// How worlds are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// A lie of the world, to see whether the oracles see it.
    pub mutation: Mutation,
    /// Worlds at once.
    pub threads: usize,
    /// Whether commits may find the disk full. Needs the feature `failpoints` and one thread, for
    /// fail points are shared by all threads of a process.
    pub disk_may_fill: bool,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { mutation: Mutation::None, threads, disk_may_fill: false }
    }
}

/// A seed whose world did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// What did not hold.
    pub violation: Violation,
}

/// What came of a simulation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Worlds that held.
    pub held: u64,
    /// What was seen in them, in sum.
    pub seen: End,
    /// Worlds that did not hold, by seed; the simulation stops after a few.
    pub failures: Vec<Failure>,
}

/// Runs the world of every seed. The same seed does the same, whatever the others do.
pub fn run(seeds: Range<u64>, options: &Options) -> Report {
    let next = AtomicU64::new(seeds.start);
    let report = Mutex::new(Report::default());
    let locked = || report.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= seeds.end || locked().failures.len() >= FAILURES_MAX {
            return;
        }
        let outcome = run_one(seed, options);
        let mut report = locked();
        match outcome {
            Ok(end) => report.add(end),
            Err(violation) => report.failures.push(Failure { seed, violation }),
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut report = report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    report.failures.sort_by_key(|failure| failure.seed);
    report
}

/// Runs the world of one seed; one that does not hold is run again, to tell what happened.
///
/// # Errors
/// The first [`Violation`], with what happened before it.
pub fn run_one(seed: u64, options: &Options) -> Result<End, Violation> {
    live(seed, options, false).map_err(|first| match live(seed, options, true) {
        Err(told) if told.what == first.what => told,
        Err(told) => {
            let what = format!("not twice the same: {}; then {}", first.what, told.what);
            Violation { what, trace: told.trace }
        }
        Ok(_) => {
            let what = format!("not twice the same: {}; then it held", first.what);
            Violation { what, trace: Vec::new() }
        }
    })
}

fn live(seed: u64, options: &Options, traced: bool) -> Result<End, Violation> {
    let untold = |what: String| Violation { what, trace: Vec::new() };
    let world = World::new(seed, options, traced)
        .map_err(|error| untold(format!("no home for a world: {error}")))?;
    catch_unwind(AssertUnwindSafe(|| world.run())).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|t| (*t).to_owned()));
        Err(untold(format!("a panic: {}", text.unwrap_or_default())))
    })
}

impl Report {
    fn add(&mut self, end: End) {
        self.held += 1;
        self.seen.add(end);
    }

    /// Adds what another simulation saw.
    pub fn merge(&mut self, other: Self) {
        self.held += other.held;
        self.seen.add(other.seen);
        self.failures.extend(other.failures);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failure { seed, violation } in &self.failures {
            for line in &violation.trace {
                writeln!(f, "{line}")?;
            }
            writeln!(f, "SEED={seed}: {}", violation.what)?;
            writeln!(f, "  again: SIM_SEED={seed} cargo test -p tidegate-testkit --test sim")?;
        }
        let End { steps, turns, runs, retries, starts, landings, events, met } = &self.seen;
        let [completed, failed, cancelled] = runs;
        write!(
            f,
            "{} worlds held, {} did not: {steps} steps, {turns} turns, {events} events, {starts} \
             starts, {landings} landings; runs: {completed} completed, {failed} failed, \
             {cancelled} cancelled, {retries} retries; met: {met:?}",
            self.held,
            self.failures.len(),
        )
    }
}
