//! The main process between fork and exec.
//!
//! It holds no lock, dies with the shim, and does nothing before it is released.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use fail::fail_point;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Pid, Signal};

use crate::jobdir::JobDir;
use crate::record::{Spec, Stdin, Text};
use crate::sys::{exec, fork, signals};
use crate::tree::RUN_TAG;

/// Where a program without `/` is looked for when the environment has no `PATH`.
const PATH_DEFAULT: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// What the child execs, made ready before the fork.
pub(crate) struct Program {
    candidates: Vec<CString>,
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
    stdin: CString,
    umask: Mode,
}

impl Program {
    /// Prepares `spec`; fails on a zero byte where the kernel takes none.
    pub(crate) fn prepare(spec: &Spec) -> Result<Self, std::ffi::NulError> {
        let argv = spec.argv.iter().map(Text::to_c).collect::<Result<Vec<_>, _>>()?;
        let tag = Text::from(spec.run_tag.as_str());
        let name = Text::from(RUN_TAG);
        let all = || spec.env.iter().map(|(n, v)| (n, v)).chain([(&name, &tag)]);
        let mut env: Vec<(&Text, &Text)> = Vec::new();
        for (name, value) in all() {
            match env.iter_mut().find(|(known, _)| *known == name) {
                Some(entry) => entry.1 = value,
                None => env.push((name, value)),
            }
        }
        let path = env.iter().find(|(name, _)| name.as_bytes() == b"PATH");
        let path = path.map_or(PATH_DEFAULT, |(_, value)| value.as_bytes());
        let candidates = candidates(spec.argv[0].as_bytes(), path)?;
        let entry = |(name, value): &(&Text, &Text)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
        };
        Ok(Self {
            candidates,
            argv,
            env: env.iter().map(entry).collect::<Result<_, _>>()?,
            cwd: spec.cwd.to_c()?,
            stdin: match &spec.stdin {
                // A pipe or a terminal is opened by the shim.
                Stdin::Null | Stdin::Pipe => CString::new("/dev/null")?,
                Stdin::File(path) => path.to_c()?,
            },
            umask: Mode::from_raw_mode(spec.umask & 0o777),
        })
    }
}

fn candidates(program: &[u8], path: &[u8]) -> Result<Vec<CString>, std::ffi::NulError> {
    if program.contains(&b'/') || program.is_empty() {
        return Ok(vec![CString::new(program)?]);
    }
    let in_dir = |dir: &[u8]| {
        let dir = if dir.is_empty() { b"." } else { dir };
        CString::new([dir, b"/", program].concat())
    };
    path.split(|byte| *byte == b':').map(in_dir).collect()
}

/// What the child's standard streams become.
#[derive(Default)]
pub(crate) struct ChildStdio {
    /// Standard input; `None` is the file of the program.
    pub(crate) input: Option<OwnedFd>,
    /// Standard output and error; `None` is `/dev/null`.
    pub(crate) output: Option<(OwnedFd, OwnedFd)>,
}

/// The ends of the pipes that the child needs, and what it must let go.
pub(crate) struct ChildEnds<'a> {
    pub(crate) lock: BorrowedFd<'a>,
    pub(crate) release: OwnedFd,
    pub(crate) release_writer: BorrowedFd<'a>,
    pub(crate) report: OwnedFd,
    pub(crate) stdio: ChildStdio,
    pub(crate) shim: u32,
}

/// What failed between release and exec. Its number travels through the report pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Opening standard input.
    Stdin = 1,
    /// Changing to the working directory.
    Cwd = 2,
    /// Redirecting standard streams.
    Redirect = 3,
    /// Executing the program.
    Exec = 4,
}

/// Size of a report: stage and errno.
pub(crate) const REPORT_BYTES: usize = 8;

/// Reads a report of the child: which stage failed, and why.
pub(crate) fn read_report(bytes: [u8; REPORT_BYTES]) -> (Option<Stage>, io::Error) {
    let [s0, s1, s2, s3, e0, e1, e2, e3] = bytes;
    let number = i32::from_ne_bytes([s0, s1, s2, s3]);
    let errno = i32::from_ne_bytes([e0, e1, e2, e3]);
    let stages = [Stage::Stdin, Stage::Cwd, Stage::Redirect, Stage::Exec];
    let stage = stages.into_iter().find(|stage| *stage as i32 == number);
    (stage, io::Error::from_raw_os_error(errno))
}

/// Goes on as the child: waits for the release, then execs. Never returns.
pub(crate) fn run(ends: &ChildEnds<'_>, dir: &JobDir, program: &Program) -> ! {
    // First of all: whoever holds a descriptor of the lock file counts as a living shim.
    fork::close_in_child(ends.lock);
    fork::close_in_child(ends.release_writer);
    fail_point!("child.after_fork");
    let _ = rustix::process::setpgid(None, None);
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    if parent() != Some(ends.shim) || !released(&ends.release) {
        fork::exit_now(1);
    }
    fail_point!("child.before_exec");
    let (stage, error) = become_program(&ends.stdio, dir, program);
    let mut report = [0; REPORT_BYTES];
    report[..4].copy_from_slice(&(stage as i32).to_ne_bytes());
    report[4..].copy_from_slice(&error.raw_os_error().unwrap_or(libc::EINVAL).to_ne_bytes());
    let _ = rustix::io::write(&ends.report, &report);
    fork::exit_now(if error.raw_os_error() == Some(libc::ENOENT) { 127 } else { 126 });
}

fn parent() -> Option<u32> {
    rustix::process::getppid().map(|pid| Pid::as_raw_nonzero(pid).get().cast_unsigned())
}

/// Waits for the release; false when the shim is gone instead.
fn released(pipe: &OwnedFd) -> bool {
    loop {
        match rustix::io::read(pipe, &mut [0_u8]) {
            Ok(count) => return count == 1,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

fn become_program(stdio: &ChildStdio, dir: &JobDir, program: &Program) -> (Stage, io::Error) {
    rustix::process::umask(program.umask);
    // Standard input is opened before the working directory changes: a relative path is taken
    // from the job directory.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = match &stdio.input {
        Some(_) => None,
        None => match rustix::fs::openat(dir, &program.stdin, flags, Mode::empty()) {
            Ok(fd) => Some(fd),
            Err(error) => return (Stage::Stdin, error.into()),
        },
    };
    if let Err(error) = rustix::process::chdir(&program.cwd) {
        return (Stage::Cwd, error.into());
    }
    if let Some(input) = stdio.input.as_ref().or(opened.as_ref())
        && let Err(error) = redirect(input, stdio.output.as_ref())
    {
        return (Stage::Redirect, error);
    }
    signals::reset_all();
    (Stage::Exec, exec::exec(&program.candidates, &program.argv, &program.env))
}

fn redirect(stdin: &OwnedFd, output: Option<&(OwnedFd, OwnedFd)>) -> io::Result<()> {
    fork::redirect(stdin.as_fd(), 0)?;
    if let Some((stdout, stderr)) = output {
        fork::redirect(stdout.as_fd(), 1)?;
        return fork::redirect(stderr.as_fd(), 2);
    }
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let null = rustix::fs::openat(CWD, "/dev/null", flags, Mode::empty())?;
    fork::redirect(null.as_fd(), 1)?;
    fork::redirect(null.as_fd(), 2)
}

/// Name of the program for messages.
pub(crate) fn display_name(spec: &Spec) -> String {
    String::from_utf8_lossy(spec.argv[0].as_os_str().as_bytes()).chars().take(200).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn text(list: &[CString]) -> Vec<&str> {
        list.iter().map(|entry| entry.to_str().unwrap()).collect()
    }

    #[test]
    fn candidates_of_a_bare_name_follow_the_path_in_order() {
        assert_eq!(text(&candidates(b"x", b"/a::/b/").unwrap()), ["/a/x", "./x", "/b//x"]);
    }

    #[test]
    fn candidates_of_a_path_ignore_the_search_path() {
        assert_eq!(text(&candidates(b"./x", b"/a").unwrap()), ["./x"]);
        assert_eq!(text(&candidates(b"", b"/a").unwrap()), [""]);
    }

    #[test]
    fn report_names_its_stage_and_errno() {
        let mut bytes = [0; REPORT_BYTES];
        bytes[..4].copy_from_slice(&2_i32.to_ne_bytes());
        bytes[4..].copy_from_slice(&libc::ENOENT.to_ne_bytes());
        let (stage, error) = read_report(bytes);
        assert_eq!((stage, error.raw_os_error()), (Some(Stage::Cwd), Some(libc::ENOENT)));
    }
}
