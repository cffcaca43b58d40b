//! One call of the git program: arguments, place, hooks, limits, waiting for locks. It must not know what the arguments
//! mean.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Seek;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, str, thread};

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::exec::{Call, Done, Ending};
use crate::git::Git;
use crate::spool::Spool;

/// Longest end of stderr that goes into an error.
const TAIL_BYTES: usize = 8 * 1024;

/// Where a call works.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// On a common dir, without a worktree and without any search for a repository.
    Common(&'a Path),
    /// In exactly this worktree; the search for a repository does not climb above it.
    Worktree(&'a Path),
    /// Wherever a user stands; the search climbs.
    Cwd(&'a Path),
}

/// Whether a call may write. Reads take no optional locks, so that they leave even the index's times alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A call of git that is being put together.
#[derive(Debug, Clone)]
pub(crate) struct Invocation<'a> {
    git: &'a Git,
    doing: &'static str,
    place: Place<'a>,
    access: Access,
    hooks: bool,
    durable: bool,
    config: Vec<OsString>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
    source: Option<Arc<File>>,
    sink: Option<Arc<File>>,
    timeout: Duration,
}

impl<'a> Invocation<'a> {
    pub(crate) fn new(git: &'a Git, doing: &'static str, place: Place<'a>, access: Access) -> Self {
        let timeout = match access {
            Access::Read => git.limits().read,
            Access::Write => git.limits().write,
        };
        Self {
            git,
            doing,
            place,
            access,
            hooks: false,
            durable: access == Access::Write,
            config: Vec::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            stdin: Vec::new(),
            source: None,
            sink: None,
            timeout,
        }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Adds an option of git itself, before the subcommand.
    pub(crate) fn global(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.config.push(argument.as_ref().to_owned());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Reads this file, from its beginning.
    pub(crate) fn stdin_of(mut self, spool: &Spool) -> Self {
        self.source = Some(spool.file());
        self
    }

    /// Writes its stdout to this file, which then has nothing else.
    pub(crate) fn stdout_to(mut self, spool: &Spool) -> Self {
        self.sink = Some(spool.file());
        self
    }

    /// Lets the kernel write it to disk when it likes: for checkouts, which can be made again. A sync after thousands of
    /// new files would take many times as long as writing them.
    pub(crate) fn without_sync(mut self) -> Self {
        self.durable = false;
        self
    }

    /// Ends it after this long.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Lets the repository's hooks run.
    pub(crate) fn with_hooks(mut self) -> Self {
        self.hooks = true;
        self.timeout = self.git.limits().hooks;
        self
    }

    /// Runs it; any exit code is the caller's business. Waits for lock files of others, within the patience.
    pub(crate) fn done(&self) -> Result<Done> {
        let call = self.call();
        let deadline = Instant::now() + self.git.limits().lock_patience;
        let mut pause = Duration::from_millis(10);
        loop {
            self.rewind().map_err(|e| self.exec_error(e, &call))?;
            let done = self.git.exec().exec(&call).map_err(|e| self.exec_error(e, &call))?;
            if let Ending::Signalled(signal) = done.ending {
                return Err(GitError::Killed { doing: self.doing, signal });
            }
            let busy = if done.success() { None } else { lock_in_the_way(&done.stderr) };
            let Some(path) = busy else { return Ok(done) };
            if self.access == Access::Read || Instant::now() + pause > deadline {
                return Err(GitError::LockBusy { path: call.cwd.join(path) });
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }

    /// Its files as each try has to find them.
    fn rewind(&self) -> io::Result<()> {
        if let Some(source) = &self.source {
            (&**source).rewind()?;
        }
        if let Some(sink) = &self.sink {
            (&**sink).rewind()?;
            sink.set_len(0)?;
        }
        Ok(())
    }

    /// Runs it; gives stdout, and an error for any exit code but 0.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let done = self.done()?;
        if done.success() { Ok(done.stdout) } else { Err(self.refused(&done)) }
    }

    /// Like [`Self::bytes`], as text without the last line end.
    pub(crate) fn text(&self) -> Result<String> {
        let mut text = String::from_utf8(self.bytes()?)
            .map_err(|_| GitError::Unparsable { doing: self.doing })?;
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    /// Like [`Self::text`], as one object name.
    pub(crate) fn oid(&self) -> Result<Oid> {
        Oid::new(self.text()?).ok_or(GitError::Unparsable { doing: self.doing })
    }

    /// Runs a question: exit code 0 is yes, 1 is no, anything else is an error.
    pub(crate) fn answer(&self) -> Result<bool> {
        let done = self.done()?;
        match done.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.refused(&done)),
        }
    }

    /// The error for a call whose exit code means failure.
    pub(crate) fn refused(&self, done: &Done) -> GitError {
        GitError::Refused { doing: self.doing, stderr: tail(&done.stderr) }
    }

    fn exec_error(&self, source: io::Error, call: &Call) -> GitError {
        match source.kind() {
            io::ErrorKind::TimedOut => GitError::Timeout { doing: self.doing },
            io::ErrorKind::NotFound if call.cwd.is_dir() => GitError::NoProgram,
            io::ErrorKind::NotFound => {
                GitError::Missing { what: format!("the directory {}", call.cwd.display()) }
            }
            _ => GitError::Io { doing: self.doing, path: call.cwd.clone(), source },
        }
    }

    fn call(&self) -> Call {
        let mut argv: Vec<OsString> = vec!["git".into()];
        let mut environment = self.environment.clone();
        let cwd = match self.place {
            Place::Common(dir) => {
                let mut option = OsString::from("--git-dir=");
                option.push(dir);
                argv.push(option);
                dir
            }
            Place::Worktree(dir) => {
                if let Some(parent) = dir.parent() {
                    environment.push(("GIT_CEILING_DIRECTORIES".into(), parent.into()));
                }
                dir
            }
            Place::Cwd(dir) => dir,
        };
        if self.access == Access::Read {
            environment.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        }
        let mut config = vec!["gc.auto=0", "maintenance.auto=false", "core.fsmonitor=false"];
        if self.durable {
            config.push("core.fsync=objects,derived-metadata,reference");
            config.push("core.fsyncMethod=batch");
        } else {
            config.push("core.fsync=none");
        }
        if !self.hooks {
            config.push("core.hooksPath=/dev/null");
        }
        for setting in config {
            argv.push("-c".into());
            argv.push(setting.into());
        }
        argv.extend(self.config.iter().cloned());
        argv.extend(self.arguments.iter().cloned());
        Call {
            argv,
            cwd: cwd.to_owned(),
            env: self.git.environment().with(&environment),
            stdin: self.stdin.clone(),
            source: self.source.clone(),
            sink: self.sink.clone(),
            timeout: self.timeout,
        }
    }
}

/// The end of what git printed, as text.
pub(crate) fn tail(bytes: &[u8]) -> String {
    let start = bytes.len().saturating_sub(TAIL_BYTES);
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}

/// The lock file that git found taken, from its message `Unable to create '<path>': File exists`.
fn lock_in_the_way(stderr: &[u8]) -> Option<PathBuf> {
    const BEGIN: &[u8] = b"nable to create '";
    const END: &[u8] = b"': File exists";
    let begin = find(stderr, BEGIN)? + BEGIN.len();
    let rest = &stderr[begin..];
    let path = &rest[..find(rest, END)?];
    path.ends_with(b".lock").then(|| PathBuf::from(OsStr::from_bytes(path)))
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_message_gives_the_path() {
        let text = b"fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git";
        assert_eq!(lock_in_the_way(text), Some("/r/.git/index.lock".into()));
        let text = b"error: cannot lock ref 'refs/heads/m': Unable to create '/r/refs/heads/m.lock': File exists.";
        assert_eq!(lock_in_the_way(text), Some("/r/refs/heads/m.lock".into()));
        assert_eq!(lock_in_the_way(b"fatal: unable to create 'x': Permission denied"), None);
    }

    #[test]
    fn tail_of_long_output_is_bounded() {
        assert_eq!(tail(&vec![b'a'; TAIL_BYTES * 2]).len(), TAIL_BYTES);
    }
}
