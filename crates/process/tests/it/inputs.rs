//! The input that stays open: durable, once, in order, and without waiting for the job.

use tidegate_process::control::{ControlError, Refused};
use tidegate_process::output::Stream;
use tidegate_process::{OutputMode, Stdin};

use crate::fixture::{Job, until};

fn started(script: &str) -> Job {
    let mut job = Job::sh(script);
    job.spec.stdin = Stdin::Pipe;
    job.start();
    job.wait_started();
    job
}

fn refusal(outcome: Result<tidegate_process::control::Reply, ControlError>) -> Refused {
    match outcome {
        Err(ControlError::Refused { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn input_is_written_once_although_its_sender_was_cut_off() {
    let job = started("cat; while ! test -e go; do sleep 0.02; done");
    let mut first = job.control((1, 5));
    first.input(1, b"one\n").unwrap();
    // Sent, and the connection is lost before the answer was read: by the next daemon's sight it is
    // not known whether it arrived.
    drop(first);
    let mut second = job.control((1, 6));
    let reply = second.input(1, b"one\n").unwrap();
    assert_eq!(reply.status.input.unwrap().accepted, 1);
    second.input(2, b"\xff\x00two\n").unwrap();
    second.input(2, b"never\n").unwrap();
    assert_eq!(refusal(second.input(4, b"four\n")), Refused::OutOfOrder);
    let reply = second.close_input(3).unwrap();
    assert!(reply.status.input.unwrap().closed);
    assert_eq!(second.close_input(3).unwrap().status.input.unwrap().accepted, 3);
    assert_eq!(refusal(second.input(4, b"late\n")), Refused::InputClosed);
    std::fs::write(job.home.path().join("go"), "").unwrap();
    job.wait_shim();
    assert_eq!(job.exit().code, Some(0));
    assert_eq!(job.written(Stream::Stdout), b"one\n\xff\x00two\n");
}

#[test]
fn input_of_a_job_that_does_not_read_is_accepted_and_bounded() {
    let job = started("while ! test -e go; do sleep 0.02; done; wc -c");
    let mut control = job.control((1, 5));
    let part = vec![b'x'; 64 << 10];
    let mut seq = 0;
    let refused = loop {
        match control.input(seq + 1, &part) {
            Ok(reply) => {
                seq += 1;
                assert_eq!(reply.status.input.unwrap().accepted, seq);
            }
            Err(error) => break refusal(Err(error)),
        }
    };
    assert_eq!(refused, Refused::InputFull);
    let status = control.status().unwrap().status.input.unwrap();
    assert!(status.written < status.accepted && status.accepted > 100, "{status:?}");
    std::fs::write(job.home.path().join("go"), "").unwrap();
    until(|| (control.status().unwrap().status.input.unwrap().written == seq).then_some(()));
    control.close_input(seq + 1).unwrap();
    job.wait_shim();
    let counted = String::from_utf8(job.written(Stream::Stdout)).unwrap();
    assert_eq!(counted.trim().parse(), Ok(seq * (64 << 10)));
}

#[test]
fn input_of_a_job_that_closed_it_or_has_none_is_refused() {
    let job = started("exec <&-; echo > closed; sleep 100");
    job.wait_file("closed");
    let mut control = job.control((1, 5));
    // The first is accepted: that nobody reads is known by writing.
    let _ = control.input(1, b"x");
    assert_eq!(refusal(control.input(2, b"x")), Refused::InputClosed);

    let job = Job::sh("sleep 100");
    job.start();
    job.wait_started();
    assert_eq!(refusal(job.control((1, 5)).input(1, b"x")), Refused::NoInput);
}

#[test]
fn journal_of_the_input_is_a_file_from_the_first_byte() {
    let job = started("cat > /dev/null");
    let mut control = job.control((1, 5));
    control.input(1, b"abc").unwrap();
    control.close_input(2).unwrap();
    job.wait_shim();
    let log = std::fs::read(job.dir.file("stdin.log")).unwrap();
    let head = |closes: u8, length: u8, seq: u8| {
        [1, closes, 0, 0, length, 0, 0, 0, seq, 0, 0, 0, 0, 0, 0, 0].to_vec()
    };
    assert_eq!(log, [head(0, 3, 1), b"abc".to_vec(), head(1, 0, 2)].concat());
}

#[test]
fn open_input_beside_a_terminal_is_a_pipe() {
    let mut job = Job::sh("test -t 0 || echo pipe; test -t 1 && echo tty; cat");
    job.spec.stdin = Stdin::Pipe;
    job.spec.output = OutputMode::Terminal { rows: 24, cols: 80 };
    job.start();
    job.wait_started();
    let mut control = job.control((1, 5));
    control.input(1, b"typed\n").unwrap();
    control.close_input(2).unwrap();
    job.wait_shim();
    assert_eq!(job.written(Stream::Stdout), b"pipe\r\ntty\r\ntyped\r\n");
}
