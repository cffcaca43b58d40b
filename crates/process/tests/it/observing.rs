//! What a directory says is never more than what it proves, and looking changes nothing.

use std::os::unix::fs::MetadataExt as _;

use tidegate_core::verdict::{Mark, Row, Verdict, verdict};
use tidegate_process::observe::{look, observe};
use tidegate_process::{ControlClient, identity};

use crate::fixture::{Job, PATIENCE, until};

#[test]
fn directory_that_does_not_exist_says_not_started() {
    let job = Job::sh("exit 0");
    let seen = observe(&job.home.path().join("nowhere"), "n").unwrap();
    assert_eq!(verdict(Row::Launching, seen), Verdict::Spawn);
}

#[test]
fn running_job_is_adopted_and_a_finished_one_finished() {
    let job = Job::sh("echo up > up; sleep 1000");
    job.start();
    job.wait_file("up");
    let seen = job.look();
    assert!(seen.lock_held && seen.same_boot);
    for row in [Row::Launching, Row::Running, Row::Stopping] {
        assert!(matches!(verdict(row, seen.to_core()), Verdict::Adopt(_)), "{row:?}");
    }
    assert!(matches!(verdict(Row::Finished, seen.to_core()), Verdict::Contradiction(_)));
    job.control((1, 5)).stop("ana", 0).unwrap();
    job.wait_shim();
    assert!(matches!(verdict(Row::Running, job.look().to_core()), Verdict::Finished { .. }));
}

#[test]
fn damaged_exit_records_are_suspicious_and_never_an_end() {
    let job = Job::sh("exit 0");
    job.run();
    let whole = std::fs::read(job.dir.file("exit")).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let other_nonce = text.replace(&job.spec.nonce, "0123456789");
    let later = text.replace("\"v\":1", "\"v\":2");
    let cases: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"garbage".to_vec(),
        vec![0; 4096],
        whole[..whole.len() - 1].to_vec(),
        whole[..whole.len() / 2].to_vec(),
        other_nonce.into_bytes(),
        later.into_bytes(),
        b"{\"v\":1,\"reason\":{\"kind\":\"exited\"},\"code\":0}".to_vec(),
        text.replace("\"exited\"", "\"vanished\"").into_bytes(),
    ];
    for bytes in cases {
        std::fs::write(job.dir.file("exit"), &bytes).unwrap();
        let seen = job.look();
        let shown = String::from_utf8_lossy(&bytes);
        assert!(matches!(seen.exit, Mark::Suspicious { .. }), "{shown}");
        assert!(matches!(verdict(Row::Running, seen.to_core()), Verdict::Quarantine { .. }));
    }
}

#[test]
fn damaged_started_records_are_suspicious() {
    let job = Job::sh("exit 0");
    job.run();
    let text = std::fs::read_to_string(job.dir.file("started")).unwrap();
    for bytes in ["", "{}", "\0\0\0", &text[1..], &text.replace(&job.spec.nonce, "other")] {
        std::fs::write(job.dir.file("started"), bytes).unwrap();
        assert!(matches!(job.look().started, Mark::Suspicious { .. }), "{bytes}");
    }
}

#[test]
fn records_of_another_boot_say_so() {
    let job = Job::sh("exit 0");
    job.run();
    let boot = identity::own().unwrap().boot_id;
    let text = std::fs::read_to_string(job.dir.file("started")).unwrap();
    std::fs::write(job.dir.file("started"), text.replace(&boot, "another-boot")).unwrap();
    std::fs::remove_file(job.dir.file("exit")).unwrap();
    let seen = job.look();
    assert!(!seen.same_boot);
    assert!(matches!(verdict(Row::Running, seen.to_core()), Verdict::LostReboot(_)));
}

#[test]
fn record_that_is_no_regular_file_is_an_error_and_does_not_hang() {
    let job = Job::sh("exit 0");
    std::process::Command::new("mkfifo").arg(job.dir.file("exit")).status().unwrap();
    assert!(look(job.dir.path(), &job.spec.nonce).is_err());
    std::fs::remove_file(job.dir.file("exit")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", job.dir.file("exit")).unwrap();
    assert!(look(job.dir.path(), &job.spec.nonce).is_err());
}

#[test]
fn looking_changes_no_byte_and_no_time_and_takes_no_lock() {
    let job = Job::sh("echo out; echo up > up; sleep 1000");
    job.start();
    job.wait_file("up");
    until(|| (!job.written(tidegate_process::output::Stream::Stdout).is_empty()).then_some(()));
    let state = || {
        let mut state = Vec::new();
        for entry in std::fs::read_dir(job.dir.path()).unwrap() {
            let meta = entry.as_ref().unwrap().metadata().unwrap();
            let name = entry.unwrap().file_name();
            state.push((name, meta.len(), meta.mtime_nsec(), meta.ctime_nsec(), meta.ino()));
        }
        state.sort();
        state
    };
    let before = state();
    for _ in 0..200 {
        assert!(job.look().lock_held);
        job.written(tidegate_process::output::Stream::Stdout);
    }
    assert_eq!(state(), before);
}

#[test]
fn looking_works_on_a_read_only_mount() {
    let job = Job::sh("echo up > up; sleep 1000");
    job.start();
    job.wait_file("up");
    let mirror = job.home.path().join("mirror");
    std::fs::create_dir(&mirror).unwrap();
    let run = |args: &[&std::ffi::OsStr]| {
        std::process::Command::new("mount").args(args).status().unwrap().success()
    };
    let (dir, place) = (job.dir.path().as_os_str(), mirror.as_os_str());
    assert!(run(&["--bind".as_ref(), dir, place]));
    assert!(run(&["-o".as_ref(), "remount,ro,bind".as_ref(), place]));
    let read_only = std::fs::write(mirror.join("x"), "x").is_err();
    let held = look(&mirror, &job.spec.nonce);
    let umounted = std::process::Command::new("umount").arg("-l").arg(&mirror).status().unwrap();
    assert!(read_only && umounted.success());
    assert!(held.unwrap().lock_held);
}

#[test]
fn stopped_shim_still_holds_its_lock_and_its_client_gives_up_in_time() {
    let job = Job::sh("echo up > up; sleep 1000");
    job.start();
    job.wait_file("up");
    let shim = job.wait_started().shim;
    identity::signal(&shim, libc::SIGSTOP).unwrap();
    let patience = std::time::Duration::from_millis(50);
    let client = ControlClient::connect(&job.dir, &job.spec.nonce, (1, 5), patience);
    assert!(client.is_err());
    assert!(matches!(verdict(Row::Running, job.look().to_core()), Verdict::Adopt(_)));
    identity::signal(&shim, libc::SIGCONT).unwrap();
    assert!(ControlClient::connect(&job.dir, &job.spec.nonce, (1, 5), PATIENCE).is_ok());
}
