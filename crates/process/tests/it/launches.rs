//! At most one start per attempt, whatever races or crashes.

use std::collections::HashSet;

use tidegate_core::verdict::{Mark, Row, Verdict, verdict};
use tidegate_process::observe::observe;
use tidegate_process::shim::ShimExit;
use tidegate_process::{JobDir, Withdrawal, identity};

use crate::fixture::{Job, is_gone, until};

#[test]
fn start_raced_by_many_shims_happens_once() {
    let job = Job::sh("echo ran >> runs; read line < go; exit 7");
    let fifo = job.home.path().join("go");
    std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
    let shims = 12;
    job.dir.write_spec(&job.spec).unwrap();
    for _ in 0..shims {
        job.spawner.spawn(job.dir.path()).unwrap();
    }
    let losers: Vec<_> = (1..shims).map(|_| job.wait_shim()).collect();
    job.wait_started();
    for ended in losers {
        let code = ended.code.and_then(ShimExit::from_code);
        assert!(matches!(code, Some(ShimExit::LockNotHad | ShimExit::StartedBefore)), "{ended:?}");
    }
    std::fs::write(&fifo, "go\n").unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert_eq!(job.exit().code, Some(7));
    assert_eq!(job.wait_file("runs"), "ran\n");
}

#[test]
fn start_after_the_end_is_refused_with_76() {
    let job = Job::sh("echo ran >> runs");
    job.run();
    job.spawner.spawn(job.dir.path()).unwrap();
    assert_eq!(job.wait_shim().code, Some(ShimExit::StartedBefore as i32));
    assert_eq!(job.wait_file("runs"), "ran\n");
}

#[test]
fn start_after_a_withdrawal_is_refused_with_76() {
    let job = Job::sh("echo ran >> runs");
    job.dir.write_spec(&job.spec).unwrap();
    for _ in 0..2 {
        let done = job.dir.withdraw(&job.spec.job, &job.spec.nonce).unwrap();
        assert_eq!(done, Withdrawal::Withdrawn);
    }
    job.spawner.spawn(job.dir.path()).unwrap();
    assert_eq!(job.wait_shim().code, Some(ShimExit::StartedBefore as i32));
    assert!(!job.home.path().join("runs").exists());
    let seen = observe(job.dir.path(), &job.spec.nonce).unwrap();
    assert_eq!(verdict(Row::Stopping, seen), Verdict::Withdrawn);
}

#[test]
fn withdrawal_after_the_start_says_so() {
    let job = Job::sh("exit 0");
    job.run();
    let done = job.dir.withdraw(&job.spec.job, &job.spec.nonce).unwrap();
    assert_eq!(done, Withdrawal::AlreadyStarted);
    assert!(matches!(job.look().started, Mark::Present(_)));
}

#[test]
fn start_without_a_readable_spec_is_refused_with_78() {
    let job = Job::sh("exit 0");
    job.spawner.spawn(job.dir.path()).unwrap();
    assert_eq!(job.wait_shim().code, Some(ShimExit::BadSpec as i32));
    for garbage in ["", "{", "{\"v\":2}", "[1]"] {
        std::fs::write(job.dir.file("spec.json"), garbage).unwrap();
        job.spawner.spawn(job.dir.path()).unwrap();
        assert_eq!(job.wait_shim().code, Some(ShimExit::BadSpec as i32), "{garbage}");
    }
    assert_eq!(job.look().started, Mark::Absent);
}

#[test]
fn leftovers_of_a_shim_that_died_before_the_link_do_no_harm() {
    let job = Job::sh("echo fresh");
    std::fs::write(job.dir.file("exit.tmp"), "old").unwrap();
    std::fs::write(job.dir.file("started.tmp"), "old").unwrap();
    std::fs::write(job.dir.file("control.sock"), "old").unwrap();
    std::fs::write(job.dir.file("output.0"), "a longer old text").unwrap();
    std::fs::write(job.dir.file("index"), vec![0; 96]).unwrap();
    assert_eq!(job.run().code, Some(0));
    assert_eq!(std::fs::read(job.dir.file("output.0")).unwrap(), b"fresh\n");
    assert_eq!(job.written(tidegate_process::output::Stream::Stdout), b"fresh\n");
}

#[test]
fn temporary_name_that_is_a_second_link_to_started_is_not_written_through() {
    let job = Job::sh("exit 0");
    job.run();
    let temp = format!("withdrawn.{}.tmp", std::process::id());
    std::fs::hard_link(job.dir.file("started"), job.dir.file(&temp)).unwrap();
    job.dir.withdraw(&job.spec.job, &job.spec.nonce).unwrap();
    assert!(matches!(job.look().started, Mark::Present(_)));
}

#[test]
fn lock_is_held_by_the_shim_alone() {
    let job = Job::sh("echo $$ > pid; sleep 1000");
    job.start();
    let started = job.wait_started();
    let child = job.wait_pids("pid")[0];
    assert_eq!(child, started.child.pid);
    assert!(job.look().lock_held);
    let open = |pid: u32| -> HashSet<_> {
        let fds = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        fds.filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok()).collect()
    };
    let lock = job.dir.file("lock").canonicalize().unwrap();
    assert!(open(started.shim.pid).contains(&lock));
    assert!(!open(child).contains(&lock));
    // The kernel lets go as soon as the shim is dead, and the main process dies with it.
    identity::signal(&started.shim, libc::SIGKILL).unwrap();
    until(|| (!job.look().lock_held).then_some(()));
    until(|| is_gone(child).then_some(()));
}

#[test]
fn shim_has_its_own_session_and_no_foreign_descriptor() {
    let job = Job::sh("echo $$ > pid; sleep 1000");
    job.start();
    let started = job.wait_started();
    job.wait_pids("pid");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", started.shim.pid)).unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    assert_eq!(fields[3], started.shim.pid.to_string(), "session");
    for fd in std::fs::read_dir(format!("/proc/{}/fd", started.shim.pid)).unwrap() {
        let fd = fd.unwrap();
        let target = std::fs::read_link(fd.path()).unwrap();
        let text = target.to_str().unwrap();
        let own = target.starts_with(job.dir.path().canonicalize().unwrap())
            || text == "/dev/null"
            || text.starts_with("pipe:")
            || text.starts_with("socket:")
            || text.starts_with("anon_inode:");
        assert!(own, "{text}");
    }
}

#[test]
fn directory_with_a_long_path_gets_its_socket() {
    let mut job = Job::sh("sleep 1000");
    let mut deep = job.home.path().to_owned();
    for _ in 0..5 {
        deep.push("d".repeat(60));
    }
    std::fs::create_dir_all(&deep).unwrap();
    job.dir = JobDir::create(&deep, "r0000010000-1").unwrap();
    job.start();
    job.wait_started();
    assert_eq!(job.control((1, 5)).status().unwrap().status.nonce, job.spec.nonce);
}

#[test]
fn directory_is_made_for_its_owner_only_and_names_are_checked() {
    use std::os::unix::fs::PermissionsExt as _;
    let job = Job::sh("exit 0");
    job.run();
    let mode = |path: std::path::PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(job.dir.path().to_owned()), 0o700);
    for file in ["spec.json", "lock", "started", "exit", "output.0", "index"] {
        assert_eq!(mode(job.dir.file(file)), 0o600, "{file}");
    }
    for name in ["", "..", "a/b", "a\nb", "."] {
        assert!(JobDir::create(job.home.path(), name).is_err(), "{name}");
    }
}
