//! The simulation: a fixed share of seeds, and the proof that its oracles see.
//!
//! `SIM_SEED=n` runs the world of one seed alone; `SIM_SEEDS=n` another number of them.
#![expect(clippy::unwrap_used, reason = "tests")]

use tidegate_testkit::faults::Mutation;
use tidegate_testkit::sim::{Options, run};

/// Seeds that are run by default.
const SHARE: u64 = 2_000;
/// Seeds within which a mutation must be seen.
const MUTANTS: u64 = 200;

/// What so many worlds must have met, else they prove less than they seem to.
const MET: [&str; 24] = [
    "a conflict",
    "a daemon killed at its start",
    "a daemon killed at rest",
    "a daemon killed before it replied",
    "a daemon killed in its turn",
    "a dirty checkout",
    "a held repository",
    "a job lost by a reboot",
    "a look at agents of a lost launcher",
    "a lost shim",
    "a missing target",
    "a moved target",
    "a quarantined job",
    "a replaced daemon refused",
    "a setup",
    "a shim that ends with 75",
    "a shim that ends with 76",
    "a store inspected under way",
    "a sweep of agents",
    "a teardown",
    "a withdrawn job",
    "a worktree made again",
    "an update that was done before",
    "no change",
];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn worlds_of_all_seeds_hold() {
    let seeds = match number("SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SIM_SEEDS").unwrap_or(SHARE),
    };
    let report = run(seeds, &Options::default());
    assert!(report.failures.is_empty(), "{report}");
    if report.held >= SHARE {
        let missed: Vec<_> =
            MET.iter().filter(|what| !report.seen.met.contains_key(**what)).collect();
        assert!(missed.is_empty(), "no world met {missed:?}; {report}");
    }
    eprintln!("{report}");
}

/// Runs worlds that lie until one is found out, and gives what was seen first.
fn seen(mutation: Mutation) -> String {
    let options = Options { mutation, ..Options::default() };
    let report = run(0..MUTANTS, &options);
    let first = report.failures.first().unwrap_or_else(|| panic!("not seen: {report}"));
    first.violation.what.clone()
}

/// What is seen of a lie names what was lied about.
fn sees(mutation: Mutation, word: &str) {
    let what = seen(mutation);
    assert!(what.contains(word), "{what}");
}

#[test]
fn host_that_starts_an_attempt_twice_is_seen() {
    sees(Mutation::StartTwice, "I1");
}

#[test]
fn git_that_does_not_compare_is_seen() {
    sees(Mutation::SkipCompare, "landing");
}

#[test]
fn report_that_never_comes_is_seen() {
    sees(Mutation::LoseReports, "I6");
}

#[test]
fn gate_that_lies_is_seen() {
    sees(Mutation::GatesLie, "gate");
}

#[test]
fn sweep_that_ends_nothing_is_seen() {
    let what = seen(Mutation::SweepNothing);
    assert!(what.contains("I4") || what.contains("I1"), "{what}");
}

#[test]
fn client_that_forgets_its_key_is_seen() {
    sees(Mutation::ForgetKeys, "I3");
}

#[test]
fn changed_log_is_seen() {
    sees(Mutation::TamperWithLog, "I2");
}

#[test]
fn engine_that_gives_too_much_room_is_seen() {
    sees(Mutation::WideCaps, "caps");
}

#[test]
fn daemon_that_is_not_fenced_is_seen() {
    sees(Mutation::NoTakeover, "I7");
}

#[test]
fn landing_that_did_not_happen_is_seen() {
    let what = seen(Mutation::LandNothing);
    assert!(what.contains("barrier") || what.contains("is not there"), "{what}");
}

#[test]
fn world_of_a_seed_is_the_same_twice() {
    let options = Options { threads: 1, ..Options::default() };
    let (one, other) = (run(7..17, &options), run(7..17, &options));
    assert_eq!(one, other);
    assert!(one.seen.steps > 0);
}
