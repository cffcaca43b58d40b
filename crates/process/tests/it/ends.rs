//! How jobs end, and that the record says exactly that.

use tidegate_process::output::Stream;
use tidegate_process::record::ReasonRecord;
use tidegate_process::{ExitRecord, OutputMode, Stdin};

use crate::fixture::Job;

fn exit_of(script: &str) -> ExitRecord {
    Job::sh(script).run()
}

#[test]
fn exit_code_of_every_value_is_recorded() {
    for code in 0..=255 {
        let exit = exit_of(&format!("exit {code}"));
        assert_eq!((exit.reason, exit.code, exit.signal), (ReasonRecord::Exited, Some(code), None));
    }
}

#[test]
fn exit_by_every_fatal_signal_is_recorded() {
    let harmless = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    let stopping = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
    let real_time = [libc::SIGRTMIN(), libc::SIGRTMAX()];
    let fatal = (1..32).filter(|n| !harmless.contains(n) && !stopping.contains(n));
    for signal in fatal.chain(real_time) {
        let exit = exit_of(&format!("ulimit -c 0; kill -{signal} $$"));
        let expected = (ReasonRecord::Signalled, None, Some(signal));
        assert_eq!((exit.reason, exit.code, exit.signal), expected);
    }
}

#[test]
fn record_names_its_attempt_and_what_was_used() {
    let job = Job::sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo out; echo err >&2");
    let exit = job.run();
    assert_eq!((exit.v, exit.attempt, exit.generation, exit.epoch), (1, 1, 1, 5));
    assert_eq!((exit.nonce.as_str(), exit.job.as_str()), (&*job.spec.nonce, &*job.spec.job));
    assert_eq!((exit.bytes.stdout, exit.bytes.stderr, exit.bytes.lost), (4, 4, 0));
    assert!(exit.usage.user_us > 0 && exit.usage.max_rss_kib > 0, "{exit:?}");
    assert!(exit.ended_wall_ms >= exit.started_wall_ms && exit.requires_human.is_empty());
    assert!(!job.look().lock_held);
}

#[test]
fn program_that_does_not_exist_is_exec_failed_127() {
    let exit = Job::new(&["no-such-program-here"]).run();
    assert_eq!((exit.reason, exit.code), (ReasonRecord::ExecFailed, None));
    let detail = exit.detail.unwrap();
    assert!(detail.contains("no-such-program-here") && detail.ends_with("code 127"), "{detail}");
}

#[test]
fn program_that_must_not_be_executed_is_exec_failed_126() {
    let exit = Job::new(&["/etc/passwd"]).run();
    assert_eq!(exit.reason, ReasonRecord::ExecFailed);
    assert!(exit.detail.unwrap().ends_with("code 126"));
}

#[test]
fn program_without_a_shebang_is_not_given_to_a_shell() {
    use std::os::unix::fs::PermissionsExt as _;
    let job = Job::new(&["./tool"]);
    let tool = job.home.path().join("tool");
    std::fs::write(&tool, "echo hi\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(job.run().reason, ReasonRecord::ExecFailed);
}

#[test]
fn working_directory_that_is_gone_is_exec_failed() {
    let mut job = Job::sh("exit 0");
    job.spec.cwd = job.home.path().join("gone").into();
    let exit = job.run();
    assert_eq!(exit.reason, ReasonRecord::ExecFailed);
    assert!(exit.detail.unwrap().contains("working directory"));
}

#[test]
fn input_file_that_is_gone_is_exec_failed() {
    let mut job = Job::sh("exit 0");
    job.spec.stdin = Stdin::File("gone".into());
    assert!(job.run().detail.unwrap().contains("standard input"));
}

#[test]
fn input_from_a_file_is_read_to_its_end() {
    let mut job = Job::sh("cat; echo after");
    job.spec.stdin = Stdin::File("prompt".into());
    std::fs::write(job.dir.file("prompt"), "the prompt\n").unwrap();
    assert_eq!(job.run().code, Some(0));
    assert_eq!(job.written(Stream::Stdout), b"the prompt\nafter\n");
}

#[test]
fn output_mode_null_stores_nothing() {
    let mut job = Job::sh("echo out; echo err >&2; exit 4");
    job.spec.output = OutputMode::Null;
    let exit = job.run();
    assert_eq!((exit.code, exit.bytes.stdout, exit.bytes.stderr), (Some(4), 0, 0));
}

#[test]
fn job_gets_no_descriptor_but_the_three() {
    let job = Job::new(&["ls", "/proc/self/fd"]);
    job.run();
    assert_eq!(job.written(Stream::Stdout), b"0\n1\n2\n3\n", "3 is the listing itself");
}

#[test]
fn job_gets_default_signals() {
    let job = Job::new(&["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]);
    job.run();
    let written = job.written(Stream::Stdout);
    assert_eq!(written, b"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

#[test]
fn job_gets_its_umask_directory_and_environment() {
    let mut job = Job::sh("umask; pwd; env");
    job.spec.umask = 0o027;
    job.spec.env.push(("TIDEGATE_RUN_TAG".into(), "forged".into()));
    job.spec.env.push(("TWICE".into(), "one".into()));
    job.spec.env.push(("TWICE".into(), "two".into()));
    assert_eq!(job.run().code, Some(0));
    let text = String::from_utf8(job.written(Stream::Stdout)).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "0027");
    let home = job.home.path().canonicalize().unwrap();
    assert_eq!(lines[1], home.to_str().unwrap());
    assert!(lines.contains(&format!("TIDEGATE_RUN_TAG={}", job.spec.run_tag).as_str()), "{text}");
    assert!(lines.contains(&"TWICE=two") && !text.contains("forged") && !text.contains("=one"));
}

#[test]
fn arguments_and_environment_of_any_bytes_arrive() {
    use std::os::unix::ffi::OsStringExt as _;
    let odd = std::ffi::OsString::from_vec(b"a\xff\xfe b".to_vec());
    let mut job = Job::new(&["sh", "-c", "printf '%s|%s' \"$1\" \"$ODD\"", "sh"]);
    job.spec.argv.push(odd.clone().into());
    job.spec.env.push(("ODD".into(), odd.into()));
    job.run();
    let written = job.written(Stream::Stdout);
    assert_eq!(written, b"a\xff\xfe b|a\xff\xfe b");
}

#[test]
fn limit_in_time_ends_the_job_as_timeout() {
    let mut job = Job::sh("trap '' TERM; while :; do sleep 0.05; done");
    job.spec.limits.timeout_ms = Some(100);
    let exit = job.run();
    assert_eq!((exit.reason, exit.signal), (ReasonRecord::Timeout, Some(libc::SIGKILL)));
    assert!(exit.ran_ms >= 400, "limit and grace: {}", exit.ran_ms);
}
