//! A shim that is killed: its main process dies with it, what survives is swept, nothing else is.

use std::time::Duration;

use tidegate_core::verdict::{Mark, Row, Verdict, verdict};
use tidegate_process::{RUN_TAG, Sweep, SweepError, identity};

use crate::fixture::{Job, PATIENCE, is_gone, until};

/// A running job whose shim was killed: its processes, the main one first.
fn lost(script: &str, count: usize) -> (Job, Vec<u32>) {
    let job = Job::sh(&format!("echo $$ > pids; {script}; sleep 1000"));
    job.start();
    let pids = until(|| {
        let text = std::fs::read_to_string(job.home.path().join("pids")).unwrap_or_default();
        let pids: Vec<_> = text.lines().filter_map(|pid| pid.parse().ok()).collect();
        (pids.len() == count).then_some(pids)
    });
    identity::signal(&job.wait_started().shim, libc::SIGKILL).unwrap();
    assert_eq!(job.wait_shim().signal, Some(libc::SIGKILL));
    until(|| is_gone(pids[0]).then_some(()));
    (job, pids)
}

fn sweep_of(job: &Job) -> Sweep {
    match job.look().to_core().started {
        Mark::Present(started) => Sweep::lost_shim(&started, &job.spec.run_tag),
        other => panic!("{other:?}"),
    }
}

#[test]
fn main_process_dies_with_its_shim_and_survivors_are_swept() {
    let (job, pids) = lost(
        "sh -c 'echo $$ >> pids; exec sleep 1000' & \
         setsid sh -c 'echo $$ >> pids; exec sleep 1000' & \
         env -i sh -c 'echo $$ >> pids; exec sleep 1000' & true",
        4,
    );
    let seen = job.look().to_core();
    assert!(matches!(verdict(Row::Running, seen), Verdict::Lost(_)));
    assert!(pids[1..].iter().all(|pid| !is_gone(*pid)), "grandchildren survive");
    let sweep = sweep_of(&job);
    assert!(sweep.is_anything_alive().unwrap());
    let swept = sweep.run(PATIENCE).unwrap();
    assert!(swept.is_empty() && pids[1..].iter().all(|pid| swept.ended.contains(pid)), "{swept:?}");
    assert!(pids.into_iter().all(is_gone));
    assert!(!sweep.is_anything_alive().unwrap());
    assert_eq!(sweep.run(PATIENCE).unwrap().ended, Vec::<u32>::new());
}

#[test]
fn sweep_leaves_spared_agents_and_their_children() {
    let (job, pids) = lost(
        "setsid sh -c 'sleep 1000 & echo $! >> pids; wait' & \
         while [ $(wc -l < pids) -lt 2 ]; do sleep 0.01; done; \
         echo $! >> pids; sleep 1000 & echo $! >> pids",
        4,
    );
    let agent = identity::of(pids[2]).unwrap().unwrap();
    let swept = sweep_of(&job).sparing(vec![agent]).run(PATIENCE).unwrap();
    assert!(swept.is_empty());
    assert!(!is_gone(pids[1]) && !is_gone(pids[2]) && is_gone(pids[3]));
}

#[test]
fn sweep_under_another_boot_signals_nobody() {
    let (job, pids) = lost("sleep 1000 & echo $! >> pids", 2);
    let Mark::Present(mut started) = job.look().to_core().started else { panic!() };
    started.shim.boot_id = "another".into();
    started.child.boot_id = "another".into();
    let outcome = Sweep::lost_shim(&started, &job.spec.run_tag).run(PATIENCE);
    assert!(matches!(outcome, Err(SweepError::OtherBoot)));
    assert!(!is_gone(pids[1]));
}

#[test]
fn sweep_spares_a_stranger_that_got_the_shims_pid() {
    // The stranger leads a session, exactly as the dead shim did.
    let job = Job::sh("exit 0");
    job.run();
    let Mark::Present(mut started) = job.look().to_core().started else { panic!() };
    let mut command = std::process::Command::new("setsid");
    let mut stranger = command.args(["sleep", "1000"]).spawn().unwrap();
    let leads = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", stranger.id())).unwrap();
        let session = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap();
        (session == stranger.id().to_string()).then_some(())
    };
    until(leads);
    let real = identity::of(stranger.id()).unwrap().unwrap();
    started.shim.pid = real.pid;
    started.child.pid = real.pid;
    // Same pid and start tick, as 1,920 of 2,000 forced reuses had; only the inode tells.
    started.shim.start_ticks = real.start_ticks;
    started.child.start_ticks = real.start_ticks;
    let swept = Sweep::lost_shim(&started, &job.spec.run_tag).run(PATIENCE).unwrap();
    assert_eq!(swept.ended, Vec::<u32>::new());
    assert!(!is_gone(real.pid));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn sweep_that_cannot_end_a_process_names_it() {
    // A process that sweeps itself: it and its ancestors are never touched.
    let tag = format!("self{}:r:j", std::process::id());
    let mut command = std::process::Command::new("sleep");
    let mut tagged = command.arg("1000").env(RUN_TAG, &tag).spawn().unwrap();
    until(|| Sweep::tagged(vec![tag.clone()]).is_anything_alive().unwrap().then_some(()));
    let swept = Sweep::tagged(vec![tag]).run(Duration::ZERO).unwrap();
    assert_eq!(swept.ended, [tagged.id()]);
    assert_eq!(swept.survivors.len(), 1, "no patience, so its end was not seen");
    tagged.wait().unwrap();
}
