//! Output: every byte, of the right stream, without ever blocking the job.

use tidegate_process::output::{FrameKind, OutputReader, Stream};

use crate::fixture::{Job, until};

#[test]
fn streams_are_told_apart() {
    let job = Job::sh("for i in 1 2 3; do echo out$i; echo err$i >&2; done");
    job.run();
    assert_eq!(job.written(Stream::Stdout), b"out1\nout2\nout3\n");
    assert_eq!(job.written(Stream::Stderr), b"err1\nerr2\nerr3\n");
}

#[test]
fn bytes_that_are_not_text_are_kept() {
    let job = Job::sh("printf '\\377\\000\\376bytes'; printf '\\200' >&2");
    job.run();
    assert_eq!(job.written(Stream::Stdout), b"\xff\x00\xfebytes");
    assert_eq!(job.written(Stream::Stderr), b"\x80");
    assert_eq!(std::fs::metadata(job.dir.file("output.0")).unwrap().len(), 9);
}

#[test]
fn writing_to_dev_stderr_truncates_nothing() {
    let job = Job::sh("echo one >&2; echo two > /dev/stderr; echo three >&2; echo x > /dev/stdout");
    assert_eq!(job.run().code, Some(0));
    assert_eq!(job.written(Stream::Stderr), b"one\ntwo\nthree\n");
    assert_eq!(job.written(Stream::Stdout), b"x\n");
}

#[test]
fn job_that_closes_its_output_goes_on() {
    let job = Job::sh("echo before; exec >&- 2>&-; sleep 0.1; echo done > done; exit 8");
    assert_eq!(job.run().code, Some(8));
    assert_eq!(job.wait_file("done"), "done\n");
    assert_eq!(job.written(Stream::Stdout), b"before\n");
}

#[test]
fn flood_of_100_mb_is_stored_in_segments() {
    let mut job = Job::sh("head -c 104857600 /dev/zero; echo end >&2");
    job.spec.limits.segment_bytes = 8 << 20;
    let exit = job.run();
    assert_eq!((exit.bytes.stdout, exit.bytes.stderr, exit.bytes.lost), (100 << 20, 4, 0));
    let segments = OutputReader::segments(job.dir.path()).unwrap();
    assert_eq!(segments.iter().map(|segment| segment.length).sum::<u64>(), (100 << 20) + 4);
    assert!(segments.len() >= 12 && segments.iter().all(|s| s.length <= (8 << 20) + (64 << 10)));
    let index = std::fs::metadata(job.dir.file("index")).unwrap().len();
    assert!(index < 64 << 10, "{index}");
    assert_eq!(job.written(Stream::Stderr), b"end\n");
}

#[test]
fn size_limit_drops_the_oldest_segments() {
    let mut job = Job::sh(
        "i=0; while [ $i -lt 40 ]; do head -c 65536 /dev/zero; i=$((i+1)); done; echo last",
    );
    job.spec.limits.segment_bytes = 256 << 10;
    job.spec.limits.output_bytes_max = Some(512 << 10);
    job.run();
    let segments = OutputReader::segments(job.dir.path()).unwrap();
    let total: u64 = segments.iter().map(|segment| segment.length).sum();
    assert!(total < 1 << 20 && segments[0].number > 0, "{segments:?}");
    let mut reader = OutputReader::new(job.dir.path());
    let frames = reader.next_frames().unwrap();
    assert_eq!(reader.bytes(&frames[0]).unwrap(), None, "dropped");
    let last = reader.bytes(frames.last().unwrap()).unwrap().unwrap();
    assert!(last.ends_with(b"last\n"));
}

#[test]
fn output_can_be_followed_while_it_is_written() {
    let job = Job::sh("echo one; read line < go; echo two");
    std::process::Command::new("mkfifo").arg(job.home.path().join("go")).status().unwrap();
    job.start();
    let mut reader = OutputReader::new(job.dir.path());
    let first = until(|| reader.next_frames().unwrap().pop());
    assert_eq!(reader.bytes(&first).unwrap().unwrap(), b"one\n");
    std::fs::write(job.home.path().join("go"), "go\n").unwrap();
    let second = until(|| reader.next_frames().unwrap().pop());
    assert_eq!(reader.bytes(&second).unwrap().unwrap(), b"two\n");
    assert_eq!(reader.frame(), 2);
    let mut again = OutputReader::new(job.dir.path()).from_frame(1);
    assert_eq!(again.next_frames().unwrap(), [second]);
    job.wait_shim();
}

#[test]
fn full_disk_loses_bytes_but_neither_the_job_nor_its_exit() {
    let mut job = Job::sh("head -c 3000000 /dev/zero; echo survived > done; exit 5");
    let jobs = job.home.path().join("small");
    std::fs::create_dir(&jobs).unwrap();
    let mount = |args: &[&str]| {
        std::process::Command::new("mount").args(args).arg(&jobs).status().unwrap().success()
    };
    assert!(mount(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"]));
    job.dir = tidegate_process::JobDir::create(&jobs, "r0000010000-1").unwrap();
    let exit = job.run();
    let frames = OutputReader::new(job.dir.path()).next_frames().unwrap();
    std::process::Command::new("umount").arg("-l").arg(&jobs).status().unwrap();
    assert_eq!((exit.code, exit.bytes.stdout), (Some(5), 3_000_000));
    assert!(exit.bytes.lost > 1_900_000, "{:?}", exit.bytes);
    let gaps = frames.iter().filter(|frame| frame.kind == FrameKind::Gap);
    assert!(gaps.count() >= 1);
}
