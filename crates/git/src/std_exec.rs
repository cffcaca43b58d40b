//! The plain way to run a program, by the standard library. It must not know what git is, and gives no promise that
//! the program ends when its caller dies.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::exec::{Call, Done, Ending, Exec};

/// Runs each call in a process group of its own, which is killed when the time is over.
#[derive(Debug, Clone, Copy, Default)]
pub struct StdExec;

impl Exec for StdExec {
    fn exec(&self, call: &Call) -> io::Result<Done> {
        let (program, arguments) =
            call.argv.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        fail::fail_point!("git.program.before_spawn");
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(&call.cwd)
            .env_clear()
            .envs(call.env.iter().map(|(name, value)| (name, value)))
            .stdin(end(call.source.as_deref())?)
            .stdout(end(call.sink.as_deref())?)
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        fail::fail_point!("git.program.after_spawn");
        let attended = attend(&mut child, call);
        if attended.is_err() {
            // Not reaped yet, or reaped and then without effect: it is never left behind.
            kill_group(&child);
            let _ = child.wait();
        }
        attended
    }
}

/// A pipe, or the file in its place.
fn end(file: Option<&File>) -> io::Result<Stdio> {
    file.map_or_else(|| Ok(Stdio::piped()), |file| Ok(file.try_clone()?.into()))
}

/// Feeds and drains a program until it has ended. What it wrote is in the pipes then: all of that is read, and nothing
/// that a background process of a hook, which keeps them open, may write later.
fn attend(child: &mut Child, call: &Call) -> io::Result<Done> {
    let deadline = Instant::now() + call.timeout;
    let process = open(child)?;
    let mut input = Input::take(child.stdin.take(), &call.stdin)?;
    let mut stdout = Output::take(child.stdout.take())?;
    let mut stderr = Output::take(child.stderr.take())?;
    loop {
        input.turn();
        stdout.turn();
        stderr.turn();
        if let Some(status) = child.try_wait()? {
            stdout.turn();
            stderr.turn();
            return Ok(Done { ending: ending(status), stdout: stdout.bytes, stderr: stderr.bytes });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut fds = vec![PollFd::new(&process, PollFlags::IN)];
        fds.extend(input.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        fds.extend(stdout.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(stderr.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        // An interrupted wait is only a turn taken early.
        let _ = poll(&mut fds, Some(&timespec(left)));
    }
}

fn open(child: &Child) -> io::Result<OwnedFd> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

fn timespec(left: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    }
}

fn ending(status: ExitStatus) -> Ending {
    status
        .code()
        .map_or_else(|| Ending::Signalled(status.signal().unwrap_or_default()), Ending::Exited)
}

/// The child has not been reaped yet, so its number is still its own.
fn kill_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // It may have ended in this moment; there is nothing left to kill then.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// What the program may read.
struct Input<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(pipe: Option<ChildStdin>, rest: &'a [u8]) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, rest })
    }

    fn turn(&mut self) {
        while let Some(pipe) = &mut self.pipe {
            if self.rest.is_empty() {
                self.pipe = None;
                break;
            }
            match pipe.write(self.rest) {
                Ok(count) => self.rest = &self.rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A program that does not read its input closes the pipe; that is its right.
                Err(_) => self.pipe = None,
            }
        }
    }
}

/// What the program writes.
struct Output<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
}

impl<P: Read + AsFd> Output<P> {
    fn take(pipe: Option<P>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, bytes: Vec::new() })
    }

    /// Reads what is there.
    fn turn(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read_to_end(&mut self.bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.pipe = None,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Seek;
    use std::sync::Arc;

    use super::*;

    fn shell(script: &str, timeout: Duration) -> io::Result<Done> {
        StdExec.exec(&Call {
            argv: vec!["sh".into(), "-c".into(), script.into()],
            cwd: "/".into(),
            env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
            stdin: b"given".to_vec(),
            source: None,
            sink: None,
            timeout,
        })
    }

    #[test]
    fn program_that_fails_gives_code_and_both_outputs() {
        let done = shell("cat; echo bad >&2; exit 3", Duration::from_secs(20)).unwrap();
        assert_eq!(
            (done.ending, &done.stdout[..], &done.stderr[..]),
            (Ending::Exited(3), &b"given"[..], &b"bad\n"[..])
        );
    }

    #[test]
    fn output_that_outlasts_the_program_in_its_pipe_is_read_whole() {
        // More than a pipe holds, and a last piece that nobody has read when the program ends.
        let script = "cat >/dev/null; head -c 300000 /dev/zero; printf tail";
        for _ in 0..20 {
            let done = shell(script, Duration::from_mins(1)).unwrap();
            assert_eq!(done.stdout.len(), 300_004);
            assert!(done.stdout.ends_with(b"tail"));
        }
    }

    #[test]
    fn files_take_the_place_of_the_pipes() {
        let (mut source, sink) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        source.write_all(b"passed over, read").unwrap();
        source.seek(io::SeekFrom::Start(13)).unwrap();
        let done = StdExec
            .exec(&Call {
                argv: vec!["cat".into()],
                cwd: "/".into(),
                env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
                stdin: b"given".to_vec(),
                source: Some(Arc::new(source)),
                sink: Some(Arc::new(sink.try_clone().unwrap())),
                timeout: Duration::from_secs(20),
            })
            .unwrap();
        assert_eq!((done.ending, &done.stdout[..]), (Ending::Exited(0), &b""[..]));
        let mut written = String::new();
        (&sink).rewind().unwrap();
        (&sink).read_to_string(&mut written).unwrap();
        assert_eq!(written, "read");
    }

    #[test]
    fn program_that_kills_itself_is_signalled() {
        let done = shell("kill -9 $$", Duration::from_secs(20)).unwrap();
        assert_eq!(done.ending, Ending::Signalled(9));
    }

    #[test]
    fn program_over_its_time_is_killed_with_its_group() {
        let error = shell("tail -f /dev/null & wait", Duration::from_millis(50)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn background_process_that_keeps_the_output_open_is_not_waited_for() {
        let started = Instant::now();
        let done = shell("tail -f /dev/null & echo $!", Duration::from_secs(30)).unwrap();
        assert!(done.success());
        assert!(started.elapsed() < Duration::from_secs(20));
        let pid: i32 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
}
