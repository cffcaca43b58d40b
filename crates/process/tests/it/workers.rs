//! Helpers: fed, drained, bounded in time, and dead when the daemon is.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use tidegate_process::helper::{Helper, HelperError, run};

use crate::fixture::{PATIENCE, is_gone, until};

fn helper(script: &str) -> Helper {
    let path = std::env::var_os("PATH").unwrap();
    Helper {
        argv: vec!["sh".into(), "-c".into(), script.into()],
        cwd: "/".into(),
        env: vec![("PATH".into(), path), ("ONE".into(), "1".into())],
        stdin: Vec::new(),
        source: None,
        sink: None,
        timeout: PATIENCE,
    }
}

#[test]
fn helper_gets_exactly_its_environment_and_directory() {
    let output = run(&helper("pwd; env | grep -cv -E '^(PATH|ONE|PWD|SHLVL|_|OLDPWD)='")).unwrap();
    assert_eq!(output.stdout, b"/\n0\n");
    assert_eq!(output.status.code(), Some(1), "grep -c found none");
}

#[test]
fn helper_with_much_input_and_output_does_not_deadlock() {
    let mut helper = helper("tee /dev/stderr");
    helper.stdin = (0..3_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let output = run(&helper).unwrap();
    assert!(output.status.success() && output.stdout == helper.stdin);
    assert_eq!(output.stderr.len(), helper.stdin.len());
}

#[test]
fn helper_that_reads_no_input_ends() {
    let mut helper = helper("exec <&-; echo done; exit 3");
    helper.stdin = vec![b'x'; 1 << 20];
    let output = run(&helper).unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(3), &b"done\n"[..]));
}

#[test]
fn helper_over_its_time_is_killed_with_its_group() {
    let home = tempfile::tempdir().unwrap();
    let mut helper = helper("trap '' TERM; sleep 1000 & echo $! > pid; wait");
    helper.cwd = home.path().into();
    helper.timeout = Duration::from_millis(300);
    let output = run(&helper).unwrap();
    assert!(output.timed_out && output.status.signal() == Some(libc::SIGKILL));
    let pid = std::fs::read_to_string(home.path().join("pid")).unwrap().trim().parse().unwrap();
    until(|| is_gone(pid).then_some(()));
}

#[test]
fn helper_whose_pipe_is_held_ends_soon_after_itself() {
    let home = tempfile::tempdir().unwrap();
    let mut helper = helper("sleep 1000 & echo $! > pid; echo said");
    helper.cwd = home.path().into();
    let begin = Instant::now();
    let output = run(&helper).unwrap();
    assert_eq!(output.stdout, b"said\n");
    assert!(begin.elapsed() < PATIENCE / 2);
    let pid = std::fs::read_to_string(home.path().join("pid")).unwrap().trim().parse().unwrap();
    let left = tidegate_process::identity::of(pid).unwrap().unwrap();
    tidegate_process::identity::signal(&left, libc::SIGKILL).unwrap();
}

#[test]
fn helper_outlives_the_thread_that_asked_for_it() {
    let output = std::thread::spawn(|| run(&helper("echo $$"))).join().unwrap().unwrap();
    assert!(output.status.success());
}

#[test]
fn helpers_from_many_threads_run_side_by_side() {
    let begin = Instant::now();
    let threads: Vec<_> =
        (0..8).map(|_| std::thread::spawn(|| run(&helper("sleep 1")).unwrap())).collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap().status.success()));
    assert!(begin.elapsed() < Duration::from_secs(6));
}

#[test]
fn helper_dies_with_its_daemon() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("pid");
    let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_shim-under-test"))
        .arg("host-a-helper")
        .arg(&file)
        .spawn()
        .unwrap();
    let pid = until(|| std::fs::read_to_string(&file).ok()).trim().parse().unwrap();
    assert!(!is_gone(pid));
    host.kill().unwrap();
    host.wait().unwrap();
    until(|| is_gone(pid).then_some(()));
}

#[test]
fn helper_that_does_not_exist_is_named() {
    let mut helper = helper("");
    helper.argv = vec!["no-such-helper".into()];
    match run(&helper) {
        Err(HelperError::Start { program, .. }) => {
            assert_eq!(program.to_str(), Some("no-such-helper"));
        }
        other => panic!("{other:?}"),
    }
}
