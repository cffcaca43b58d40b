//! Ending a job on request: TERM, grace, KILL, and who may ask.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use tidegate_process::control::{Phase, Refused};
use tidegate_process::record::ReasonRecord;
use tidegate_process::{ControlClient, ControlError, identity};

use crate::fixture::{Job, PATIENCE, is_gone, until};

fn stopped_by(actor: &str) -> ReasonRecord {
    ReasonRecord::Stopped { actor: actor.into() }
}

#[test]
fn stop_lets_the_job_finish_within_its_grace() {
    let job = Job::sh("trap 'echo bye; exit 9' TERM; echo up > up; while :; do sleep 0.02; done");
    job.start();
    job.wait_file("up");
    let reply = job.control((1, 5)).stop("ana", 20_000).unwrap();
    assert!(reply.ok);
    assert_eq!(job.wait_shim().code, Some(0));
    let exit = job.exit();
    assert_eq!((exit.reason, exit.code), (stopped_by("ana"), Some(9)));
    assert_eq!(job.written(tidegate_process::output::Stream::Stdout), b"bye\n");
}

#[test]
fn stop_kills_a_tree_that_ignores_term() {
    let job = Job::sh(
        "trap '' TERM; (echo $(sh -c 'echo $PPID') > inner; while :; do sleep 0.02; done) & \
         echo $! > pids; echo $$ >> pids; while :; do sleep 0.02; done",
    );
    job.start();
    job.wait_file("inner");
    let pids = job.wait_pids("pids");
    job.control((1, 5)).stop("ana", 50).unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    let exit = job.exit();
    assert_eq!((exit.reason, exit.signal), (stopped_by("ana"), Some(libc::SIGKILL)));
    assert!(pids.into_iter().all(is_gone));
}

#[test]
fn stop_gives_everybody_below_a_wrapper_the_whole_grace() {
    let job = Job::sh(
        "saver='trap \"sleep 0.3; echo saved >> saved; exit\" TERM; echo up >> up; \
         while :; do sleep 0.02; done'
         sh -c \"$saver\" & setsid sh -c \"$saver\" & \
         until [ \"$(cat up 2>/dev/null | wc -l)\" = 2 ]; do sleep 0.02; done; echo all > all; sleep 1000",
    );
    job.start();
    job.wait_file("all");
    job.control((1, 5)).stop("ana", 20_000).unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    let saved = job.wait_file("saved");
    assert_eq!(saved.lines().count(), 2, "only one of them could save its state");
    assert_eq!(job.exit().reason, stopped_by("ana"));
}

#[test]
fn stop_asks_again_who_could_not_hear_it_yet() {
    let job = Job::sh(
        "sh -c 'trap \"\" TERM; echo up > up; while ! test -e late; do sleep 0.02; done; \
         trap - TERM; echo free > free; while :; do sleep 0.02; done' & wait",
    );
    job.start();
    job.wait_file("up");
    let before = Instant::now();
    job.control((1, 5)).stop("ana", 60_000).unwrap();
    std::fs::write(job.home.path().join("late"), "").unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert!(before.elapsed() < Duration::from_secs(30), "it was ended by the kill alone");
}

#[test]
fn stop_reaches_a_job_that_is_itself_stopped() {
    let job = Job::sh("echo $$ > pid; kill -STOP $$; sleep 1000");
    job.start();
    job.wait_pids("pid");
    job.control((1, 5)).stop("ana", 20_000).unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert_eq!((job.exit().reason, job.exit().signal), (stopped_by("ana"), Some(libc::SIGTERM)));
}

#[test]
fn stop_asked_twice_takes_the_shorter_grace_and_the_first_actor() {
    let job = Job::sh("trap '' TERM; echo up > up; while :; do sleep 0.02; done");
    job.start();
    job.wait_file("up");
    let mut control = job.control((1, 5));
    assert_eq!(control.stop("ana", 600_000).unwrap().status.phase, Phase::Stopping);
    control.stop("ben", 0).unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert_eq!(job.exit().reason, stopped_by("ana"));
}

#[test]
fn stop_after_the_end_changes_nothing() {
    let mut job = Job::sh("(sleep 1000) & echo $! > pid; exit 3");
    job.spec.limits.drain_ms = 600_000;
    job.start();
    job.wait_pids("pid");
    let mut control = job.control((1, 5));
    until(|| (control.status().unwrap().status.phase == Phase::Draining).then_some(()));
    match control.stop("ana", 0) {
        Err(ControlError::Refused { why, .. }) => assert_eq!(why, Refused::AlreadyEnded),
        other => panic!("{other:?}"),
    }
    assert_eq!(job.wait_shim().code, Some(0));
    assert_eq!((job.exit().reason, job.exit().code), (ReasonRecord::Exited, Some(3)));
}

#[test]
fn stop_with_an_older_token_is_refused() {
    let job = Job::sh("echo up > up; sleep 1000");
    job.start();
    job.wait_file("up");
    let mut old = job.control((1, 5));
    assert_eq!(job.control((1, 7)).status().unwrap().epoch, 7);
    for token in [(1, 6), (0, 900)] {
        let refused = ControlClient::connect(&job.dir, &job.spec.nonce, token, PATIENCE);
        assert!(matches!(refused, Err(ControlError::Refused { why: Refused::StaleEpoch, .. })));
    }
    let refused = old.stop("stale", 0);
    assert!(matches!(refused, Err(ControlError::Refused { why: Refused::StaleEpoch, .. })));
    assert_eq!(job.control((2, 0)).status().unwrap().status.phase, Phase::Running);
    job.control((2, 0)).stop("ana", 0).unwrap();
    job.wait_shim();
    assert_eq!(job.exit().reason, stopped_by("ana"));
}

#[test]
fn client_with_another_nonce_is_told_so() {
    let job = Job::sh("echo up > up; sleep 1000");
    job.start();
    job.wait_file("up");
    let other = ControlClient::connect(&job.dir, "other", (1, 5), PATIENCE);
    assert!(matches!(other, Err(ControlError::OtherNonce)));
}

#[test]
fn noise_and_later_operations_are_answered_and_harmless() {
    let job = Job::sh("echo up > up; sleep 1000");
    job.start();
    job.wait_file("up");
    let mut stream = UnixStream::connect(job.dir.file("control.sock")).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    for (sent, expected) in [
        ("noise\n", "bad_request"),
        ("{}\n", "bad_request"),
        ("{\"v\":1,\"epoch\":9,\"op\":\"fly\"}\n", "unknown_op"),
        ("\n", "bad_request"),
    ] {
        stream.write_all(sent.as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.contains(&format!("\"error\":\"{expected}\"")), "{sent}: {answer}");
    }
    // Too long a line ends the conversation, not the shim.
    let _ = stream.write_all(&vec![b'x'; 100_000]);
    assert_eq!(job.control((1, 5)).status().unwrap().status.phase, Phase::Running);
}

#[test]
fn signal_storm_on_the_shim_is_one_orderly_stop() {
    let job = Job::sh("trap 'exit 5' TERM; echo up > up; while :; do sleep 0.02; done");
    job.start();
    job.wait_file("up");
    let shim = job.wait_started().shim;
    for _ in 0..2_000 {
        for signal in [libc::SIGCHLD, libc::SIGHUP, libc::SIGTERM, libc::SIGINT] {
            let _ = identity::signal(&shim, signal);
        }
    }
    assert_eq!(job.wait_shim().code, Some(0));
    assert_eq!((job.exit().reason, job.exit().code), (stopped_by("signal"), Some(5)));
}

#[test]
fn hangup_of_the_shim_changes_nothing() {
    let job = Job::sh("echo up > up; read line < go; exit 2");
    let fifo = job.home.path().join("go");
    std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    job.start();
    job.wait_file("up");
    identity::signal(&job.wait_started().shim, libc::SIGHUP).unwrap();
    std::fs::write(&fifo, "go\n").unwrap();
    job.wait_shim();
    assert_eq!((job.exit().reason, job.exit().code), (ReasonRecord::Exited, Some(2)));
}
