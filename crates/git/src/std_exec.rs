//! The plain way to run a program, by the standard library. It must not know what git is, and gives no promise that
//! the program ends when its caller dies.

use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::exec::{Call, Done, Ending, Exec};

/// How long to look between two checks for the end of a program that has closed neither of its outputs.
const POLL: Duration = Duration::from_millis(20);
/// How long outputs that a background process of a hook keeps open are read after the program itself has ended.
const DRAIN: Duration = Duration::from_millis(200);

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
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        fail::fail_point!("git.program.after_spawn");
        let (closed, ends) = mpsc::channel();
        feed(child.stdin.take(), call.stdin.clone());
        let stdout = collect(child.stdout.take(), closed.clone());
        let stderr = collect(child.stderr.take(), closed);
        let status = wait(&mut child, &ends, call.timeout)?;
        Ok(Done { ending: ending(status), stdout: taken(&stdout), stderr: taken(&stderr) })
    }
}

fn ending(status: ExitStatus) -> Ending {
    status
        .code()
        .map_or_else(|| Ending::Signalled(status.signal().unwrap_or_default()), Ending::Exited)
}

/// Waits for the program, then shortly for the ends of its outputs.
fn wait(child: &mut Child, ends: &Receiver<()>, timeout: Duration) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + timeout;
    let mut open = 2;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            kill_group(child);
            child.wait()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        if open > 0 {
            match ends.recv_timeout(POLL) {
                Ok(()) => open -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => open = 0,
            }
        } else {
            thread::sleep(Duration::from_millis(1));
        }
    };
    let drained = Instant::now() + DRAIN;
    while open > 0 {
        let left = drained.saturating_duration_since(Instant::now());
        match ends.recv_timeout(left) {
            Ok(()) => open -= 1,
            Err(_) => break,
        }
    }
    Ok(status)
}

/// The child has not been reaped yet, so its number is still its own.
fn kill_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // It may have ended in this moment; there is nothing left to kill then.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// A program that does not read its input closes the pipe; that is its right.
fn feed(pipe: Option<impl Write + Send + 'static>, bytes: Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    if bytes.is_empty() {
        return;
    }
    thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
}

fn collect(
    pipe: Option<impl Read + Send + 'static>,
    closed: mpsc::Sender<()>,
) -> Arc<Mutex<Vec<u8>>> {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let Some(mut pipe) = pipe else { return bytes };
    let target = Arc::clone(&bytes);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(n) => target
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(&buffer[..n]),
            }
        }
        // Nobody listens any more when the call was given up.
        let _ = closed.send(());
    });
    bytes
}

fn taken(bytes: &Arc<Mutex<Vec<u8>>>) -> Vec<u8> {
    std::mem::take(&mut bytes.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration) -> io::Result<Done> {
        StdExec.exec(&Call {
            argv: vec!["sh".into(), "-c".into(), script.into()],
            cwd: "/".into(),
            env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
            stdin: b"given".to_vec(),
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
