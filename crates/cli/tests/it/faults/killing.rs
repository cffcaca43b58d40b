//! The kill loop: somebody is killed every few hundred milliseconds, whoever it is, while plans and
//! launchers go on being submitted. Everything comes to its end, nothing ran twice, nothing is left.
//!
//! `TIDEGATE_KILL_SECONDS=N` says for how long (20), `TIDEGATE_KILL_SEED=N` which victims (1).

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::mix;
use super::victim::Victim;
use crate::harness::{let_pass, until};
use crate::plan_stage::{Stage, waves};

/// How long one run of the tests kills.
const SECONDS: u64 = 20;
/// How long everything may take to come to rest afterwards.
const REST: Duration = Duration::from_mins(3);
/// Clients that submit one run after another.
const CLIENTS: usize = 4;
/// Who may be killed, the daemon more often than the rest.
const VICTIMS: [Victim; 6] =
    [Victim::Daemon, Victim::Shim, Victim::Agent, Victim::Git, Victim::Launcher, Victim::Daemon];

const AGENT: &str = r#"sleep 0.1; echo "$feature $TIDEGATE_RUN_ID" >"$feature.txt""#;
const LAUNCHER: &str = r#"echo "launcher $TIDEGATE_RUN_TAG" >>"$T/starts"; sleep 0.2"#;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Submits until the time is over, one run after the other; those that were acknowledged.
fn submit(stage: &Stage, client: usize, over: &AtomicBool) -> Vec<String> {
    let mut told = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let queue = format!("client{client}");
        let mut call = stage.home.call(&["--json", "submit", "--adhoc-run", &queue]);
        if client == 0 {
            call.arg("plan.toml");
        } else {
            call.args(["--", "sh", "-c", LAUNCHER]);
        }
        let output = call.output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let Some(run) = answer["data"]["runId"].as_str() else { continue };
        told.push(run.to_owned());
        let _ = stage.home.json(&["wait", run, "--timeout", "5s", "--ignore-attention"]);
    }
    told
}

/// Kills until the time is over; how many of whom.
fn kill(stage: &Stage, until: Instant, seed: u64) -> Vec<(Victim, usize)> {
    let mut counts: Vec<(Victim, usize)> = VICTIMS[..5].iter().map(|victim| (*victim, 0)).collect();
    for n in 0.. {
        let draw = mix(seed, &n.to_string());
        let rest = until.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            break;
        }
        let_pass(Duration::from_millis(50 + draw % 450).min(rest));
        let victim = VICTIMS[usize::try_from(draw >> 32).unwrap() % VICTIMS.len()];
        // Without a daemon the clients start one by themselves.
        let daemon = stage.home.json(&["daemon", "status"]).data()["pid"].as_u64();
        let Some(daemon) = daemon.and_then(|pid| u32::try_from(pid).ok()) else { continue };
        if victim.kill_now(&stage.home.path(), daemon)
            && let Some((_, count)) = counts.iter_mut().find(|(other, _)| *other == victim)
        {
            *count += 1;
        }
    }
    counts
}

#[test]
fn random_kills_stop_no_progress_and_leave_everything_as_it_must_be() {
    let seconds = number("TIDEGATE_KILL_SECONDS", SECONDS);
    let seed = number("TIDEGATE_KILL_SEED", 1);
    let stage = Stage::new(AGENT, "true");
    stage.home.repo().write("plan.toml", &waves(&[&["berths", "tides"], &["board"]]));
    stage.home.run(&["daemon", "start"]).ends_with(0);
    let over = AtomicBool::new(false);
    let told = Mutex::new(Vec::new());
    let counts = std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (stage, over, told) = (&stage, &over, &told);
            scope.spawn(move || {
                let runs = submit(stage, client, over);
                told.lock().unwrap().extend(runs);
            });
        }
        let counts = kill(&stage, Instant::now() + Duration::from_secs(seconds), seed);
        over.store(true, Ordering::Relaxed);
        counts
    });
    let runs = told.into_inner().unwrap();
    let deadline = Instant::now() + REST;
    stage.home.run(&["daemon", "start"]).ends_with(0);
    let documents: Vec<Value> = runs
        .iter()
        .map(|run| {
            until(&format!("{run}: its end"), || {
                let document = stage.home.status(run);
                let status = document["status"].as_str().unwrap();
                let ended = ["completed", "failed", "cancelled"].contains(&status);
                assert!(Instant::now() < deadline, "{document:#}\n{}", stage.story(run));
                ended.then_some(document)
            })
        })
        .collect();
    let killed: usize = counts.iter().map(|(_, count)| count).sum();
    let done = |status: &str| documents.iter().filter(|run| run["status"] == status).count();
    println!(
        "kill loop: {seconds} s, seed {seed}, {killed} killed {counts:?}; {} runs: {} completed, \
         {} failed",
        runs.len(),
        done("completed"),
        done("failed"),
    );
    assert!(killed > 0, "nobody was killed");
    let minutes = usize::try_from(seconds.div_ceil(60)).unwrap();
    assert!(done("completed") >= minutes, "too little progress");
    let text = std::fs::read_to_string(stage.home.beside("starts")).unwrap_or_default();
    let starts: Vec<&str> = text.lines().collect();
    let distinct: BTreeSet<&str> = starts.iter().copied().collect();
    assert_eq!(starts.len(), distinct.len(), "an attempt was started twice");
    for run in &runs {
        until("the end of every process", || Stage::left(run).is_empty().then_some(()));
    }
    stage.close();
}
