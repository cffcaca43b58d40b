//! Jobs with a terminal: what the job sees, what those who attach see, and that nobody waits.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use tidegate_process::control::{
    Attach, ControlError, FrameKind, Refused, TerminalFrame, decode_frames, encode_frame,
};
use tidegate_process::output::Stream;
use tidegate_process::{ControlClient, OutputMode, ReasonRecord};

use crate::fixture::{Job, PATIENCE, is_gone, until};

const TYPING: Attach = Attach { rows: 24, cols: 80, read_only: false, history: true };

/// Somebody who is attached.
struct Viewer {
    stream: UnixStream,
    received: Vec<u8>,
    frames: Vec<TerminalFrame>,
}

impl Viewer {
    fn new(job: &Job, how: Attach) -> Self {
        let (stream, received) = job.control((1, 5)).attach(how).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        Self { stream, received, frames: Vec::new() }
    }

    fn say(&mut self, kind: FrameKind, bytes: &[u8]) {
        let mut out = Vec::new();
        encode_frame(&mut out, kind, bytes);
        self.stream.write_all(&out).unwrap();
    }

    fn resize(&mut self, rows: u16, cols: u16) {
        let frame = TerminalFrame::size(FrameKind::Resize, rows, cols);
        self.say(frame.kind, &frame.bytes);
    }

    /// Reads what is there; false at the end of the connection.
    fn read(&mut self) -> bool {
        let mut buffer = vec![0; 65536];
        let open = match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.received.extend_from_slice(&buffer[..count]);
                true
            }
            Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        };
        self.frames.extend(decode_frames(&mut self.received).unwrap());
        open
    }

    /// All that was shown, snapshots included.
    fn shown(&self) -> String {
        let shown =
            |frame: &&TerminalFrame| matches!(frame.kind, FrameKind::Output | FrameKind::Snapshot);
        let bytes: Vec<u8> =
            self.frames.iter().filter(shown).flat_map(|frame| frame.bytes.clone()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn wait_for(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.shown().contains(text) {
            assert!(self.read(), "it ended before {text:?}: {:?}", self.shown());
            assert!(Instant::now() < deadline, "no {text:?}: {:?}", self.shown());
        }
    }

    fn wait_end(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.read() {
            assert!(Instant::now() < deadline);
        }
        assert_eq!(self.frames.last().map(|frame| frame.kind), Some(FrameKind::End));
    }
}

fn terminal(script: &str) -> Job {
    let mut job = Job::sh(script);
    job.spec.output = OutputMode::Terminal { rows: 30, cols: 100 };
    job
}

fn started(script: &str) -> Job {
    let job = terminal(script);
    job.start();
    job.wait_started();
    job
}

#[test]
fn job_sees_a_terminal_of_its_size_and_leads_the_foreground() {
    let job = terminal(
        "tty >&2; test -t 0 && test -t 1 && test -t 2 && echo all; stty size; \
         ps -o tpgid=,pgid= -p $$ 2>/dev/null || echo 1 1; echo x > /dev/tty; exit 4",
    );
    let exit = job.run();
    assert_eq!((exit.code, exit.bytes.lost), (Some(4), 0));
    let text = String::from_utf8(job.written(Stream::Stdout)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("/dev/pts/"), "{text}");
    assert_eq!(&lines[1..3], ["all", "30 100"]);
    let groups: Vec<&str> = lines[3].split_whitespace().collect();
    assert_eq!(groups[0], groups[1], "{text}");
    assert_eq!(lines[4], "x");
}

#[test]
fn last_bytes_of_a_job_that_ends_at_once_are_kept() {
    // More than the kernel keeps for a terminal, then the end without a pause.
    let job = terminal(
        "i=0; while [ $i -lt 400 ]; do echo 0123456789012345678901234567890; i=$((i+1)); done; printf last",
    );
    job.run();
    let written = job.written(Stream::Stdout);
    assert!(written.ends_with(b"\r\nlast"), "{}", String::from_utf8_lossy(&written));
    assert_eq!(written.len(), 400 * 33 + 4);
}

#[test]
fn program_that_asks_its_terminal_is_answered_with_nobody_there() {
    let job = terminal(
        "stty raw -echo min 1 time 50; printf 'ab\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; \
         printf '\\033[c'; dd bs=1 count=9 2>/dev/null | od -An -c",
    );
    assert_eq!(job.run().code, Some(0));
    let text = String::from_utf8(job.written(Stream::Stdout)).unwrap();
    assert!(text.contains("033   [   1   ;   3   R"), "{text}");
    assert!(text.contains("033   [   ?   6   2   ;   2   2   c"), "{text}");
}

#[test]
fn viewer_sees_what_was_before_types_and_sees_the_end() {
    let job = started("echo before; read line; echo \"got $line\"; exit 3");
    until(|| job.written(Stream::Stdout).starts_with(b"before").then_some(()));
    let mut viewer = Viewer::new(&job, TYPING);
    viewer.wait_for("before");
    viewer.say(FrameKind::Input, b"hello\r");
    viewer.wait_for("got hello");
    viewer.wait_end();
    job.wait_shim();
    assert_eq!(job.exit().code, Some(3));
}

#[test]
fn interrupt_is_typed_like_any_key() {
    let job = started("trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done");
    let mut viewer = Viewer::new(&job, TYPING);
    viewer.wait_for("ready");
    viewer.say(FrameKind::Input, b"\x03");
    viewer.wait_for("caught");
    job.wait_shim();
    assert_eq!(job.exit().code, Some(9));
}

#[test]
fn reader_types_nothing_and_its_window_does_not_count() {
    let job = started("read line; echo \"got $line\"; stty size");
    let mut reader =
        Viewer::new(&job, Attach { read_only: true, rows: 5, cols: 10, history: true });
    reader.say(FrameKind::Input, b"reader\r");
    let mut viewer = Viewer::new(&job, TYPING);
    // Both are served in turn: the reader's frame came first.
    viewer.say(FrameKind::Input, b"viewer\r");
    reader.wait_for("got viewer");
    reader.wait_for("24 80");
    assert!(!reader.shown().contains("reader"));
}

#[test]
fn smallest_window_of_those_who_type_is_the_size() {
    let job = started("trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done");
    until(|| job.written(Stream::Stdout).starts_with(b"ready").then_some(()));
    let mut large = Viewer::new(&job, TYPING);
    large.wait_for("24 80");
    let mut small = Viewer::new(&job, Attach { rows: 40, cols: 60, ..TYPING });
    small.wait_for("24 60");
    small.resize(10, 40);
    large.wait_for("10 40");
    let sizes: Vec<_> = large.frames.iter().filter(|f| f.kind == FrameKind::Size).collect();
    assert_eq!(sizes.last().and_then(|frame| frame.as_size()), Some((10, 40)));
    drop(small);
    large.frames.clear();
    large.wait_for("24 80");
}

#[test]
fn viewer_that_reads_nothing_keeps_nobody_waiting_and_catches_up() {
    let job = started(
        "read go; head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 79; echo; echo finis; read end",
    );
    let mut slow = Viewer::new(&job, TYPING);
    let mut quick = Viewer::new(&job, TYPING);
    quick.say(FrameKind::Input, b"\r");
    quick.wait_for("finis");
    slow.wait_for("finis");
    let snapshots = slow.frames.iter().filter(|f| f.kind == FrameKind::Snapshot).count();
    assert!(snapshots >= 2, "it was shown everything: {}", slow.shown().len());
    quick.say(FrameKind::Input, b"\r");
    slow.wait_end();
    let written = job.written(Stream::Stdout);
    let lines = written.split(|byte| *byte != b'x').map(<[u8]>::len).sum::<usize>();
    assert_eq!(lines, 20_000_000);
}

#[test]
fn flood_of_100_mb_through_a_terminal_is_stored_whole() {
    let mut job = terminal("stty raw; head -c 104857600 /dev/zero | tr '\\0' 'y'");
    job.spec.limits.segment_bytes = 32 << 20;
    let exit = job.run();
    assert_eq!((exit.bytes.stdout, exit.bytes.lost), (100 << 20, 0));
}

#[test]
fn job_without_a_terminal_and_one_too_many_are_refused() {
    let job = Job::sh("sleep 100");
    job.start();
    job.wait_started();
    let refused = job.control((1, 5)).attach(TYPING);
    assert!(matches!(refused, Err(ControlError::Refused { why: Refused::NoTerminal, .. })));

    let job = started("sleep 100");
    let viewers: Vec<_> = (0..16).map(|_| Viewer::new(&job, TYPING)).collect();
    let refused = job.control((1, 5)).attach(TYPING);
    assert!(matches!(refused, Err(ControlError::Refused { why: Refused::TooMany, .. })));
    assert_eq!(job.control((1, 5)).status().unwrap().status.terminal.unwrap().clients, 16);
    drop(viewers);
    Viewer::new(&job, TYPING).read();
}

#[test]
fn newer_daemon_ends_the_views_of_the_older_one() {
    let job = started("echo here; sleep 100");
    let mut viewer = Viewer::new(&job, TYPING);
    viewer.wait_for("here");
    job.control((1, 6));
    let deadline = Instant::now() + PATIENCE;
    while viewer.read() {
        assert!(Instant::now() < deadline);
    }
    let stale = ControlClient::connect(&job.dir, &job.spec.nonce, (1, 5), PATIENCE);
    assert!(matches!(stale, Err(ControlError::Refused { why: Refused::StaleEpoch, .. })));
}

#[test]
fn shell_in_a_terminal_ends_when_it_is_stopped() {
    let mut job = Job::new(&["bash", "--norc", "-i"]);
    job.spec.output = OutputMode::Terminal { rows: 24, cols: 80 };
    job.spec.limits.grace_ms = 60_000;
    job.start();
    let started = job.wait_started();
    let mut viewer = Viewer::new(&job, TYPING);
    viewer.say(FrameKind::Input, b"sleep 1000 & setsid sleep 1000 &\recho $((6*7))\r");
    viewer.wait_for("42");
    let before = Instant::now();
    job.control((1, 5)).stop("test", 60_000).unwrap();
    job.wait_shim();
    assert!(before.elapsed() < Duration::from_secs(30), "it heeded nothing but the kill");
    assert!(is_gone(started.child.pid));
    assert_eq!(job.exit().reason, ReasonRecord::Stopped { actor: "test".into() });
}

#[test]
fn killed_shim_takes_the_terminal_with_it() {
    let job = started("trap '' HUP; sleep 1000 & echo $! > pid; wait");
    let pid = job.wait_pids("pid")[0];
    let shim = job.wait_started().shim.pid;
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(shim.cast_signed()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    until(|| is_gone(job.wait_started().child.pid).then_some(()));
    let started = job.wait_started().to_core();
    let swept = tidegate_process::Sweep::lost_shim(&started, &job.spec.run_tag).run(PATIENCE);
    assert!(swept.unwrap().is_empty());
    assert!(is_gone(pid));
}
