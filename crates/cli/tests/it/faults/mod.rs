//! The kill matrix: a process of the product is killed at a fail point or from outside, and all that
//! was promised must hold afterwards.
//!
//! `TIDEGATE_FAULTS=all|N` says how many of the matrix (40), `TIDEGATE_FAULT_SEED=N` which (1), and
//! `TIDEGATE_FAULT=NAME` picks one: every failure is told with the name that repeats it.

mod audit;
mod elsewhere;
mod fault;
mod follow;
mod judge;
mod killing;
mod matrix;
mod places;
mod play;
mod scene;
mod scripts;
mod tending;
mod trace;
mod victim;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use fault::Fault;
use scene::Scene;
use trace::Calm;

/// Faults of one run of the tests, unless the environment says otherwise.
const SHARE: usize = 40;
/// Homes at once: each waits for disks and processes for most of its time.
const WORKERS: usize = 3;

/// Faults played so far, to tell a long run's progress.
static DONE: AtomicUsize = AtomicUsize::new(0);

/// What one fault led to.
struct Outcome {
    fault: Fault,
    hit: bool,
    ms: u128,
    failure: Option<String>,
}

#[test]
fn faults_leave_nothing_lost_nothing_twice_and_nothing_behind() {
    let began = Instant::now();
    let undisturbed = || -> BTreeMap<Scene, Calm> {
        in_parallel(Scene::ALL, |scene| (*scene, trace::calm(*scene))).into_iter().collect()
    };
    let calm = undisturbed();
    let all = matrix::all(&calm);
    let chosen = choose(all.clone());
    let calm_ms = began.elapsed().as_millis();
    let outcomes = in_parallel(&chosen, |fault| one(fault, &calm));
    tell(&outcomes, all.len(), calm_ms, began.elapsed().as_secs());
    matrix::is_whole(&calm, undisturbed);
    let failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    assert_eq!(failed, 0, "faults that were not survived");
    assert!(outcomes.iter().any(|outcome| outcome.hit), "no fault was hit");
}

/// The faults to inject, in an order that the seed gives.
fn choose(mut all: Vec<Fault>) -> Vec<Fault> {
    if let Ok(name) = std::env::var("TIDEGATE_FAULT") {
        return name.split(';').map(|name| Fault::parse(name).expect(name)).collect();
    }
    if let Ok(scenes) = std::env::var("TIDEGATE_FAULT_SCENES") {
        all.retain(|fault| scenes.split(',').any(|scene| scene == fault.scene.to_string()));
    }
    let seed = std::env::var("TIDEGATE_FAULT_SEED").map_or(1, |seed| seed.parse().unwrap());
    let share = match std::env::var("TIDEGATE_FAULTS").as_deref() {
        Ok("all") => all.len(),
        Ok(number) => number.parse().unwrap(),
        Err(_) => SHARE,
    };
    // Each fault has its own place by the seed: a longer matrix moves none of the others.
    all.sort_by_cached_key(|fault| mix(seed, &fault.to_string()));
    all.truncate(share);
    all
}

fn mix(seed: u64, name: &str) -> u64 {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    for byte in name.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        state ^= state >> 29;
    }
    state.wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (state >> 31)
}

fn one(fault: &Fault, calm: &BTreeMap<Scene, Calm>) -> Outcome {
    let began = Instant::now();
    let done =
        catch_unwind(AssertUnwindSafe(|| play::play(fault, calm.get(&fault.scene).unwrap())));
    let (hit, failure) = match done {
        Ok(hit) => (hit, None),
        Err(panic) => (true, Some(words(panic.as_ref()))),
    };
    let ms = began.elapsed().as_millis();
    let done = DONE.fetch_add(1, Ordering::Relaxed) + 1;
    if done.is_multiple_of(50) {
        println!("      {done} faults so far");
    }
    if let Some(failure) = &failure {
        println!("FAIL  TIDEGATE_FAULT='{fault}'\n      {}", failure.replace('\n', "\n      "));
    }
    Outcome { fault: fault.clone(), hit, ms, failure }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

fn tell(outcomes: &[Outcome], matrix: usize, calm_ms: u128, seconds: u64) {
    let hit = outcomes.iter().filter(|outcome| outcome.hit).count();
    let mut durations: Vec<u128> = outcomes.iter().map(|outcome| outcome.ms).collect();
    durations.sort_unstable();
    let at = |part: usize| durations.get(durations.len() * part / 100).copied().unwrap_or(0);
    let most = durations.last().copied().unwrap_or(0);
    let failed: Vec<&Outcome> = outcomes.iter().filter(|o| o.failure.is_some()).collect();
    println!(
        "faults: {} of {matrix} injected, {hit} hit, {} not survived; ms per fault: median {}, \
         95% {}, most {most}; undisturbed {calm_ms} ms; {seconds} s in all",
        outcomes.len(),
        failed.len(),
        at(50),
        at(95),
    );
    let mut slowest: Vec<&Outcome> = outcomes.iter().collect();
    slowest.sort_by_key(|outcome| std::cmp::Reverse(outcome.ms));
    for outcome in slowest.iter().take(3) {
        println!("      {} ms: {}", outcome.ms, outcome.fault);
    }
    for outcome in outcomes.iter().filter(|outcome| !outcome.hit) {
        println!("      not hit: {}", outcome.fault);
    }
    for outcome in failed {
        let first = outcome.failure.as_deref().unwrap_or_default().lines().next();
        println!("FAIL  TIDEGATE_FAULT='{}': {}", outcome.fault, first.unwrap_or_default());
    }
}

/// Does `work` for every item, several at once; the results in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(items.len()) {
            scope.spawn(|| {
                while let Some((at, item)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    items.get(at).map(|item| (at, item))
                } {
                    let result = work(item);
                    done.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
