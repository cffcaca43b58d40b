//! Repeated measurements, and what this machine costs: a process, an fsync.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::site::quietly;

/// Durations of the same thing, sorted.
pub(super) struct Samples(Vec<Duration>);

impl Samples {
    /// Of measurements that were made elsewhere.
    pub(super) fn of(mut times: Vec<Duration>) -> Result<Self> {
        ensure!(!times.is_empty(), "nothing was measured");
        times.sort();
        Ok(Self(times))
    }

    /// Of `number` measurements by `once`, after one that is not counted.
    pub(super) fn take(number: usize, mut once: impl FnMut() -> Result<Duration>) -> Result<Self> {
        once()?;
        Self::of((0..number).map(|_| once()).collect::<Result<_>>()?)
    }

    /// The middle one.
    pub(super) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = |time: &Duration| time.as_secs_f64() * 1000.0;
        let (first, last) = (&self.0[0], &self.0[self.0.len() - 1]);
        let number = self.0.len();
        let median = millis(&self.median());
        write!(f, "{median:.2} ms ({:.2} to {:.2}, n {number})", millis(first), millis(last))
    }
}

/// How long `run` takes.
pub(super) fn time(run: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let begun = Instant::now();
    run()?;
    Ok(begun.elapsed())
}

/// Start and end of `/bin/true`.
pub(super) fn null(number: usize) -> Result<Samples> {
    Samples::take(number, || time(|| quietly(&mut Command::new("/bin/true"))))
}

/// One appended page and its fsync, on the disk of `folder`.
pub(super) fn fsync(folder: &Path, number: usize) -> Result<Samples> {
    let path = folder.join("fsync");
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    Samples::take(number, || {
        time(|| {
            file.write_all(&[0x5a; 4096])?;
            file.sync_all()?;
            Ok(())
        })
    })
}
