//! The log of a daemon in the background: bounded, a whole line at a time. It must not know what is
//! said.
//!
//! `daemon.log` is what is written now; `daemon.log.1` is what was written before, then `.2`, `.3`.
//! Each line is one write, so that no reader sees a part of one, and no line is split between files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// A log that has grown to this is set aside, in bytes.
const BYTES_MAX: u64 = 8 << 20;
/// How many logs that were set aside are kept.
const KEPT: u32 = 3;

/// The log of a home, open for writing.
#[derive(Debug)]
pub struct HomeLog {
    path: PathBuf,
    file: File,
    bytes_max: u64,
    /// The standard output and error of this process go where the log goes.
    is_stdio: bool,
    /// The last write ended in the middle of a line: the disk was full.
    is_torn: bool,
}

impl HomeLog {
    /// Opens the log of `home` as the standard output and error of this process.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(home: &Path) -> io::Result<Self> {
        let mut log = Self::at(&home.join("daemon.log"), BYTES_MAX)?;
        log.is_stdio = true;
        log.redirect()?;
        Ok(log)
    }

    fn at(path: &Path, bytes_max: u64) -> io::Result<Self> {
        let file = open(path)?;
        Ok(Self { path: path.to_owned(), file, bytes_max, is_stdio: false, is_torn: false })
    }

    fn redirect(&self) -> io::Result<()> {
        if self.is_stdio {
            rustix::stdio::dup2_stdout(&self.file)?;
            rustix::stdio::dup2_stderr(&self.file)?;
        }
        Ok(())
    }

    /// Sees to it that the next line goes to a log with room, at the log's own path.
    fn make_room(&mut self) -> io::Result<()> {
        let own = self.file.metadata()?;
        let is_current =
            |log: &Self| place(&log.path).is_ok_and(|found| found == (own.dev(), own.ino()));
        if is_current(self) && own.len() < self.bytes_max {
            return Ok(());
        }
        let found = place(&self.path);
        if found.is_err() && !self.path.with_file_name("daemon.lock").exists() {
            // A home that was emptied stays empty.
            return Ok(());
        }
        if is_current(self) {
            // Another daemon that is about to start or to end may have the same thought.
            match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => return Ok(()),
                locked => locked?,
            }
            if is_current(self) {
                self.set_aside()?;
            }
        }
        self.file = open(&self.path)?;
        self.is_torn = false;
        self.redirect()
    }

    /// Moves each log one further, the oldest first: whatever happens in between, only the oldest
    /// is lost.
    fn set_aside(&self) -> io::Result<()> {
        for number in (1..KEPT).rev() {
            match fs::rename(aside(&self.path, number), aside(&self.path, number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        fail::fail_point!("daemon.log.before_rename");
        fs::rename(&self.path, aside(&self.path, 1))?;
        fail::fail_point!("daemon.log.after_rename");
        Ok(())
    }
}

impl Write for HomeLog {
    /// Writes whole lines. A log that cannot be set aside grows: nothing is left unsaid for it.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let _ = self.make_room();
        if self.is_torn {
            self.file.write_all(b"\n")?;
            self.is_torn = false;
        }
        let written = self.file.write(lines);
        if written.as_ref().is_ok_and(|count| *count < lines.len()) {
            self.is_torn = true;
            // The rest of a line would be told as one of its own.
            return Ok(lines.len());
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The logs of `home` that exist, the present one first, and how long they are together, in bytes.
pub fn logs(home: &Path) -> (Vec<PathBuf>, u64) {
    let path = home.join("daemon.log");
    let all = std::iter::once(path.clone()).chain((1..=KEPT).map(|number| aside(&path, number)));
    let found = all.filter_map(|path| Some((fs::metadata(&path).ok()?.len(), path)));
    let (lengths, paths): (Vec<u64>, Vec<PathBuf>) = found.unzip();
    (paths, lengths.iter().sum())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn aside(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// Names a file whatever its path is.
fn place(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Every line of the logs in `folder`, oldest first, and the length of the longest log.
    fn told(folder: &Path) -> (Vec<usize>, u64) {
        let (paths, _) = logs(folder);
        let longest = paths.iter().map(|path| fs::metadata(path).unwrap().len()).max().unwrap();
        let text: String =
            paths.iter().rev().map(|path| fs::read_to_string(path).unwrap()).collect();
        assert!(text.ends_with('\n'), "a torn line: {text:?}");
        let number = |line: &str| line.strip_prefix("line ").unwrap().parse().unwrap();
        (text.lines().map(number).collect(), longest)
    }

    #[test]
    fn log_that_is_full_is_set_aside_and_three_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = HomeLog::at(&folder.path().join("daemon.log"), 100).unwrap();
        for number in 1000..1100 {
            log.write_all(format!("line {number}\n").as_bytes()).unwrap();
        }
        let (lines, longest) = told(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
        assert!(longest < 120, "{longest}");
        assert!(lines.len() > 30, "{lines:?}");
        assert_eq!(lines, (1100 - lines.len()..1100).collect::<Vec<_>>(), "a gap");
    }

    #[test]
    fn logs_of_a_crash_in_the_middle_are_set_aside_without_a_loss() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        fs::write(aside(&path, 2), "line 1001\n").unwrap();
        fs::write(aside(&path, 1), "line 1002\n").unwrap();
        // Killed after the present log became the first, and before the next one was made.
        let mut log = HomeLog::at(&path, 10).unwrap();
        log.write_all(b"line 1003\n").unwrap();
        log.write_all(b"line 1004\n").unwrap();
        assert_eq!(told(folder.path()).0, [1001, 1002, 1003, 1004]);
    }

    #[test]
    fn two_writers_of_one_log_lose_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        std::thread::scope(|scope| {
            for writer in 0..2 {
                let mut log = HomeLog::at(&path, 1200).unwrap();
                scope.spawn(move || {
                    for number in 0..150 {
                        log.write_all(
                            format!("line {}\n", 1000 + 150 * writer + number).as_bytes(),
                        )
                        .unwrap();
                    }
                });
            }
        });
        let (mut lines, _) = told(folder.path());
        lines.sort_unstable();
        assert_eq!(lines, (1000..1300).collect::<Vec<_>>());
    }

    #[test]
    fn log_that_was_removed_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let mut log = HomeLog::at(&path, 100).unwrap();
        fs::remove_file(&path).unwrap();
        log.write_all(b"line 1\n").unwrap();
        assert!(!path.exists(), "a home that was emptied is not filled");
        fs::write(folder.path().join("daemon.lock"), "").unwrap();
        log.write_all(b"line 2\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "line 2\n");
    }
}
