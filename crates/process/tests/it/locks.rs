//! The daemon's lock: one holder, known to the kernel, probed without being taken.

use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use tidegate_process::peer::{KnownShim, Origin, origin, peer};
use tidegate_process::{HomeLock, LockError, LockNote, RUN_TAG, identity};

use crate::fixture::{Job, identity_of, until};

#[test]
fn lock_has_one_holder_and_probing_does_not_take_it() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("daemon.lock");
    assert!(!HomeLock::probe(&path).unwrap().held);
    let lock = HomeLock::acquire(&path).unwrap();
    let own = identity::own().unwrap();
    let note = LockNote {
        v: 1,
        daemon: own.clone(),
        generation: 2,
        epoch: 9,
        acquired_at_ms: 77,
        version: "0.1.0".into(),
    };
    lock.write_note(&note).unwrap();
    for _ in 0..3 {
        let probe = HomeLock::probe(&path).unwrap();
        assert!(probe.held && probe.note.as_ref() == Some(&note));
    }
    match HomeLock::acquire(&path) {
        Err(LockError::Held { note: Some(held), .. }) => assert_eq!(*held, note),
        other => panic!("{other:?}"),
    }
    assert!(HomeLock::is_holder(&path, &own).unwrap());
    drop(lock);
    assert!(!HomeLock::is_holder(&path, &own).unwrap());
    assert!(!HomeLock::probe(&path).unwrap().held);
    HomeLock::acquire(&path).unwrap();
}

#[test]
fn note_that_lies_proves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("daemon.lock");
    let _lock = HomeLock::acquire(&path).unwrap();
    let mut innocent = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    assert!(!HomeLock::is_holder(&path, &identity_of(innocent.id())).unwrap());
    std::fs::write(&path, "garbage").unwrap();
    assert!(matches!(HomeLock::acquire(&path), Err(LockError::Held { note: None, .. })));
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}

#[test]
fn lock_is_not_passed_on_to_shims_and_helpers() {
    let job = Job::sh("echo up > up; sleep 1000");
    let path = job.home.path().join("daemon.lock");
    let lock = HomeLock::acquire(&path).unwrap();
    job.start();
    job.wait_file("up");
    drop(lock);
    assert!(!HomeLock::probe(&path).unwrap().held);
}

#[test]
fn origin_below_a_shim_is_its_job_even_without_a_tag() {
    let job =
        Job::sh("setsid env -i sh -c 'sh -c \"echo \\$\\$ > pid; exec sleep 1000\" &'; sleep 1000");
    job.start();
    let shim = job.wait_started().shim;
    let pid = job.wait_pids("pid")[0];
    let known = [KnownShim { shim, job: job.spec.job.clone() }];
    let found = until(|| match origin(&identity_of(pid), "h", &known).unwrap() {
        Origin::Unknown => None,
        known => Some(known),
    });
    assert_eq!(found, Origin::Job(job.spec.job.clone()));
}

#[test]
fn origin_by_tag_counts_for_its_home_only() {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "env -i sleep 1000; exit 0"]).env(RUN_TAG, "h1:r1:r1-3");
    let mut tagged = command.spawn().unwrap();
    let sleep = until(|| {
        let children = format!("/proc/{0}/task/{0}/children", tagged.id());
        std::fs::read_to_string(children).ok()?.trim().parse().ok()
    });
    let sleep = identity_of(sleep);
    assert_eq!(origin(&sleep, "h1", &[]).unwrap(), Origin::Job("r1-3".into()));
    assert_eq!(origin(&sleep, "h2", &[]).unwrap(), Origin::Outside);
    identity::signal(&sleep, libc::SIGKILL).unwrap();
    tagged.wait().unwrap();
    assert_eq!(origin(&sleep, "h1", &[]).unwrap(), Origin::Unknown);
}

#[test]
fn peer_of_a_socket_is_named_by_the_kernel() {
    let (one, _other) = UnixStream::pair().unwrap();
    let peer = peer(one.as_fd()).unwrap();
    assert_eq!(peer.pid, std::process::id());
    assert_eq!(peer.identity, Some(identity::own().unwrap()));
}
