//! A shim that is killed or refused at every one of its fail points.

use std::path::Path;
use std::sync::mpsc;

use tidegate_core::verdict::{Row, Verdict, verdict};
use tidegate_process::control::{ControlError, Refused};
use tidegate_process::output::Stream;
use tidegate_process::record::ReasonRecord;
use tidegate_process::shim::ShimExit;
use tidegate_process::{Spawner, Sweep};

use crate::fixture::{Job, PATIENCE, shim_program, until};

/// All fail points that a shim passes, as the sources name them.
fn points() -> Vec<String> {
    fn visit(dir: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let calls = text.split("fail_point!(\"").skip(1);
            found.extend(calls.map(|call| call.split('"').next().unwrap().to_owned()));
        }
    }
    let mut found = Vec::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let of_shim = ["shim.", "child.", "started.", "jobdir.before_fsync", "jobdir.after_fsync"];
    found.retain(|name| of_shim.iter().any(|prefix| name.starts_with(prefix)));
    assert!(found.len() > 20, "{found:?}");
    found
}

fn armed(job: &mut Job, order: &str) {
    let mut program = shim_program();
    program.env.push(("TIDEGATE_FAIL".into(), order.into()));
    let (tell, ended) = mpsc::channel();
    job.spawner = Spawner::start(program, tell).unwrap();
    job.ended = ended;
}

/// Does what a daemon does after the fault, until the attempt is over. True: it was lost.
fn recover(job: &mut Job) -> bool {
    until(|| match verdict(Row::Launching, job.look().to_core()) {
        Verdict::Spawn => {
            armed(job, "none=off");
            job.spawner.spawn(job.dir.path()).unwrap();
            job.wait_shim();
            None
        }
        Verdict::Finished { .. } => Some(false),
        Verdict::Lost(started) => {
            let swept = Sweep::lost_shim(&started, &job.spec.run_tag).run(PATIENCE).unwrap();
            assert!(swept.is_empty());
            Some(true)
        }
        // The main process holds the lock until it has closed its copy.
        Verdict::Wait | Verdict::Adopt(_) => None,
        other => panic!("{other:?}"),
    })
}

#[test]
fn shim_killed_at_every_point_starts_its_job_at_most_once() {
    for point in points() {
        let mut job = Job::sh("echo ran >> runs; setsid sleep 1000 & exit 3");
        armed(&mut job, &format!("{point}=kill"));
        job.start();
        job.wait_shim();
        let lost = recover(&mut job);
        let runs = std::fs::read_to_string(job.home.path().join("runs")).unwrap_or_default();
        assert!(runs.len() <= "ran\n".len(), "{point}: {runs}");
        if !lost {
            let exit = job.exit();
            let end = (exit.reason, exit.code);
            // At the child's points the main process kills itself, not the shim.
            let of_child = point.starts_with("child.") && end == (ReasonRecord::Signalled, None);
            assert!(of_child || end == (ReasonRecord::Exited, Some(3)), "{point}: {end:?}");
        }
        let left = Sweep::tagged(vec![job.spec.run_tag.clone()]);
        assert!(!left.is_anything_alive().unwrap(), "{point}");
    }
}

#[test]
fn refusals_before_the_start_start_nothing_and_can_be_repeated() {
    for (point, exit) in [
        ("shim.before_reserve_exit", ShimExit::Storage),
        ("shim.before_fork", ShimExit::Refused),
        ("jobdir.before_fsync", ShimExit::Storage),
    ] {
        let mut job = Job::sh("echo ran >> runs; exit 3");
        armed(&mut job, &format!("{point}=return"));
        job.start();
        assert_eq!(job.wait_shim().code, Some(exit as i32), "{point}");
        assert!(!job.home.path().join("runs").exists());
        assert!(!recover(&mut job));
        assert_eq!(job.exit().code, Some(3));
        assert_eq!(job.wait_file("runs"), "ran\n");
    }
}

#[test]
fn exit_that_the_disk_refuses_is_recorded_later_and_the_lock_held_until_then() {
    for point in ["shim.before_write_exit", "shim.before_fsync_exit"] {
        let mut job = Job::sh("exit 3");
        armed(&mut job, &format!("{point}=2*return->off"));
        job.start();
        assert_eq!(job.wait_shim().code, Some(0));
        assert_eq!(job.exit().code, Some(3));
    }
}

#[test]
fn input_that_the_disk_refuses_is_not_accepted_and_not_written() {
    for point in ["input.before_append", "input.before_fsync"] {
        let mut job = Job::sh("cat");
        job.spec.stdin = tidegate_process::Stdin::Pipe;
        armed(&mut job, &format!("{point}=1*return->off"));
        job.start();
        job.wait_started();
        let mut control = job.control((1, 5));
        let refused = control.input(1, b"lost\n");
        assert!(
            matches!(refused, Err(ControlError::Refused { why: Refused::Storage, .. })),
            "{point}: {refused:?}"
        );
        // The same number is free: nothing of it is left.
        control.input(1, b"kept\n").unwrap();
        control.close_input(2).unwrap();
        job.wait_shim();
        assert_eq!(job.written(Stream::Stdout), b"kept\n", "{point}");
    }
}

#[test]
fn input_whose_shim_is_killed_is_kept_whole_or_not_at_all() {
    for point in ["input.before_append", "input.before_fsync", "input.after_fsync"] {
        let mut job = Job::sh("cat");
        job.spec.stdin = tidegate_process::Stdin::Pipe;
        armed(&mut job, &format!("{point}=kill"));
        job.start();
        job.wait_started();
        let mut control = job.control((1, 5));
        assert!(control.input(1, b"first\n").is_err(), "{point}: it was accepted");
        job.wait_shim();
        assert!(recover(&mut job), "{point}: not lost");
        let log = std::fs::read(job.dir.path().join("stdin.log")).unwrap_or_default();
        let whole = log.ends_with(b"first\n");
        assert!(whole || (log.is_empty() && point == "input.before_append"), "{point}: {log:?}");
        assert_eq!(job.written(Stream::Stdout), b"", "{point}: written before it was durable");
        let left = Sweep::tagged(vec![job.spec.run_tag.clone()]);
        assert!(!left.is_anything_alive().unwrap(), "{point}");
    }
}

#[test]
fn second_shim_of_a_job_that_dies_refusing_harms_nothing() {
    let mut job = Job::sh("echo ran >> runs; read -r _ < go; exit 3");
    let go = job.home.path().join("go");
    rustix::fs::mknodat(rustix::fs::CWD, &go, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    job.start();
    assert_eq!(job.wait_file("runs"), "ran\n");
    armed(&mut job, "shim.before_refuse=kill");
    job.spawner.spawn(job.dir.path()).unwrap();
    assert_eq!(job.wait_shim().code, None, "it was not come to");
    std::fs::write(&go, "go\n").unwrap();
    until(|| matches!(job.look().exit, tidegate_core::verdict::Mark::Present(_)).then_some(()));
    assert_eq!(job.exit().code, Some(3));
    assert_eq!(job.wait_file("runs"), "ran\n");
}
