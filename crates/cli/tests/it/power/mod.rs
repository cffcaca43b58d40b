//! Power cuts: what was acknowledged before one is there after it, and no torn record is believed.
//!
//! `TIDEGATE_POWER_CUTS=N` says how many random cuts (6) and `TIDEGATE_POWER_SEED=N` which (1).
//! Whoever writes is stopped before the cut: an answer that came during it would prove nothing.

mod disk;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(feature = "failpoints")]
use rustix::process::Signal;
use serde_json::{Value, json};

#[cfg(feature = "failpoints")]
use crate::harness::signal;
use crate::harness::{Home, let_pass, post, until};
use disk::Disk;

/// Random cuts of one run of the tests.
const CUTS: u64 = 6;
/// Clients that submit at once.
const CLIENTS: usize = 3;
/// Homes are made anew after so many cuts: the history that is read grows.
const CUTS_PER_HOME: u64 = 10;

#[cfg(feature = "failpoints")]
/// Points between the write of a record and its durability, with how often they are passed first.
const POINTS: [&str; 9] = [
    "jobdir.before_rename",
    "jobdir.after_rename",
    "jobdir.after_fsync",
    "started.before_link",
    "started.after_link",
    "shim.before_rename_exit",
    "shim.after_rename_exit",
    "store.commit.after_commit",
    "store.highwater.before_sync",
];

/// A number that looks random, the same for the same seed.
fn mix(seed: u64, n: u64) -> u64 {
    let mut state =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ n.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 31;
    state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 29)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// The file systems that can be made here.
fn kinds() -> Vec<&'static str> {
    let there = |kind: &&str| {
        let made = std::process::Command::new(format!("mkfs.{kind}")).arg("-V").output();
        made.is_ok_and(|output| output.status.success())
    };
    ["ext4", "xfs"].into_iter().filter(there).collect()
}

/// What was acknowledged before the freeze.
#[derive(Default)]
struct Acknowledged {
    submits: BTreeSet<String>,
    cancels: BTreeSet<String>,
}

fn body(home: &Home, queue: &str, script: &str) -> Value {
    let folder = home.beside("");
    json!({ "cwd": home.repo().root(), "actor": "keeper", "adhocRun": queue,
        "env": [["PATH", "/usr/bin:/bin"], ["T", folder]],
        "work": { "launcher": { "argv": ["sh", "-c", script] } } })
}

/// Submits and cancels until the connection breaks; what was answered before the freeze.
fn client(disk: &Disk, name: &str, frozen: &AtomicBool, answers: &AtomicUsize) -> Acknowledged {
    let mut told = Acknowledged::default();
    for n in 0..10_000 {
        // Each start leaves its attempt's name, outside of the disk.
        let script = "echo \"$TIDEGATE_RUN_TAG\" >> \"$T/starts\"; sleep 0.05; exit 3";
        let request = body(&disk.home, &format!("{name}{n}"), script);
        let Ok(answer) = post(&disk.seen(), "/runs", &[], &request) else { break };
        if frozen.load(Ordering::SeqCst) || answer.status != 200 {
            break;
        }
        let run = answer.body["data"]["runId"].as_str().unwrap().to_owned();
        told.submits.insert(run.clone());
        answers.fetch_add(1, Ordering::SeqCst);
        if n % 3 == 0 {
            let route = format!("/runs/{run}/cancel");
            let Ok(answer) = post(&disk.seen(), &route, &[], &json!({})) else { break };
            if frozen.load(Ordering::SeqCst) {
                break;
            }
            if answer.status == 200 && answer.body["data"]["alreadyAsked"] == false {
                told.cancels.insert(run);
            }
        }
    }
    told
}

/// Works for a while, loses its power, and gives what had been acknowledged.
fn cut_at_random(disk: &Disk, pause: Duration) -> Acknowledged {
    let (frozen, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut all = Acknowledged::default();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|n| {
                let (frozen, answers) = (&frozen, &answers);
                let name = format!("c{n}x");
                scope.spawn(move || client(disk, &name, frozen, answers))
            })
            .collect();
        until("a first answer", || (answers.load(Ordering::SeqCst) > 0).then_some(()));
        let_pass(pause);
        frozen.store(true, Ordering::SeqCst);
        disk.freeze();
        disk.cut();
        disk.again();
        for client in clients {
            let told = client.join().unwrap();
            all.submits.extend(told.submits);
            all.cancels.extend(told.cancels);
        }
    });
    all
}

/// After the power came back: everything acknowledged is there and comes to its end, nothing ran
/// twice in one attempt, and all that must hold of a home holds.
fn is_whole(disk: &Disk, told: &Acknowledged, what: &str) {
    let home = &disk.home;
    home.run(&["daemon", "start"]).ends_with(0);
    let runs = home.data(&["list", "--limit", "500"])["runs"].as_array().unwrap().clone();
    let there: BTreeSet<&str> = runs.iter().map(|run| run["runId"].as_str().unwrap()).collect();
    for run in &told.submits {
        assert!(there.contains(run.as_str()), "{what}: {run} was acknowledged and is lost");
    }
    for run in &told.cancels {
        let asked = home.events_of(run, "cancel-requested").len();
        let ended = home.events_of(run, "run-cancelled").len();
        assert!(asked + ended > 0, "{what}: the cancel of {run} was acknowledged and is lost");
    }
    until(&format!("{what}: the end of all runs"), || {
        let open = |status: &str| {
            let page = home.data(&["list", "--status", status, "--limit", "500"]);
            page["runs"].as_array().unwrap().len()
        };
        (open("pending") + open("running") == 0).then_some(())
    });
    let text = std::fs::read_to_string(home.beside("starts")).unwrap_or_default();
    let starts: Vec<&str> = text.lines().collect();
    let distinct: BTreeSet<&str> = starts.iter().copied().collect();
    assert_eq!(starts.len(), distinct.len(), "{what}: an attempt was started twice");
    home.verify();
}

/// Why nothing can be cut here.
fn skipped(kinds: &[&str]) -> bool {
    if kinds.is_empty() {
        println!("skipped: neither mkfs.ext4 nor mkfs.xfs is there");
    }
    kinds.is_empty()
}

#[test]
fn power_cut_anywhere_loses_nothing_that_was_acknowledged() {
    let kinds = kinds();
    if skipped(&kinds) {
        return;
    }
    let (cuts, seed) = (number("TIDEGATE_POWER_CUTS", CUTS), number("TIDEGATE_POWER_SEED", 1));
    let (mut done, mut acknowledged) = (0, 0);
    let per_home = CUTS_PER_HOME.min(cuts.div_ceil(kinds.len() as u64));
    while done < cuts {
        let kind = kinds[usize::try_from(done / per_home).unwrap() % kinds.len()];
        let Some(disk) = Disk::new(kind) else {
            return println!("skipped: no loop device can be made and mounted");
        };
        for _ in 0..per_home.min(cuts - done) {
            disk.home.run(&["daemon", "start"]).ends_with(0);
            let pause = Duration::from_millis(mix(seed, done) % 400);
            let told = cut_at_random(&disk, pause);
            is_whole(&disk, &told, &format!("cut {done} of seed {seed} on {kind}"));
            acknowledged += told.submits.len() + told.cancels.len();
            done += 1;
        }
        disk.home.run(&["daemon", "stop"]).ends_with(0);
    }
    println!("power: {done} cuts on {kinds:?}, {acknowledged} acknowledged facts, none lost");
    assert!(acknowledged >= done.try_into().unwrap(), "too little was acknowledged");
}

#[test]
#[cfg(feature = "failpoints")]
fn power_cut_between_the_writes_of_a_record_leaves_the_old_one_or_the_new_one() {
    let kinds = kinds();
    if skipped(&kinds) {
        return;
    }
    // The whole list with the full number of cuts; a share of it that moves on by the seed else.
    let full = number("TIDEGATE_POWER_CUTS", CUTS) > CUTS;
    let first = usize::try_from(number("TIDEGATE_POWER_SEED", 1)).unwrap();
    let share = if full { POINTS.len() } else { 4 };
    for n in 0..share {
        let point = POINTS[(first * 4 + n) % POINTS.len()];
        let Some(disk) = Disk::new(kinds[n % kinds.len()]) else {
            return println!("skipped: no loop device can be made and mounted");
        };
        let home = &disk.home;
        let mut call = home.call(&["daemon", "start"]);
        let once = home.beside("once");
        std::fs::create_dir(&once).unwrap();
        call.env("TIDEGATE_FAIL", format!("{point}=stop@1")).env("TIDEGATE_FAIL_ONCE", &once);
        // It may stop before it answers: that is one of the moments.
        let mut starting = call.stdout(std::process::Stdio::null()).spawn().unwrap();
        let frozen = AtomicBool::new(false);
        let answers = AtomicUsize::new(0);
        let stopped = || std::fs::read_dir(&once).unwrap().next().is_some();
        until("its start, or its stop", || {
            (stopped() || starting.try_wait().unwrap().is_some()).then_some(())
        });
        let told = std::thread::scope(|scope| {
            let client = scope.spawn(|| client(&disk, "p", &frozen, &answers));
            until(&format!("{point}: to be passed"), || stopped().then_some(()));
            frozen.store(true, Ordering::SeqCst);
            disk.freeze();
            disk.cut();
            disk.again();
            client.join().unwrap()
        });
        signal(starting.id(), Signal::KILL);
        let _ = starting.wait();
        is_whole(&disk, &told, point);
        home.run(&["daemon", "stop"]).ends_with(0);
    }
}

#[test]
fn disk_that_fails_under_a_daemon_acknowledges_nothing_more_and_is_read_anew() {
    let kinds = kinds();
    if skipped(&kinds) {
        return;
    }
    let Some(disk) = Disk::new(kinds[0]) else {
        return println!("skipped: no loop device can be made and mounted");
    };
    disk.home.start_daemon();
    let kept = post(&disk.seen(), "/runs", &[], &body(&disk.home, "kept", "exit 3")).unwrap();
    let kept = kept.body["data"]["runId"].as_str().unwrap().to_owned();
    disk.home.ended(&kept);
    disk.cut();
    for n in 0..5 {
        let request = body(&disk.home, &format!("lost{n}"), "exit 3");
        let answer = post(&disk.seen(), "/runs", &[], &request);
        let acknowledged = answer.is_ok_and(|answer| answer.status == 200);
        assert!(!acknowledged, "it was acknowledged on a disk that is gone");
    }
    disk.again();
    let told = Acknowledged { submits: [kept].into(), ..Acknowledged::default() };
    is_whole(&disk, &told, "after the failure");
    assert_eq!(disk.home.data(&["list"])["runs"].as_array().unwrap().len(), 1);
    disk.home.run(&["daemon", "stop"]).ends_with(0);
}
