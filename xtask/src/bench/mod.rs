//! `cargo xtask bench`: speed and size of a release build against their bars, on the machine that runs it.
//!
//! Every bar is a ratio or a sum of what is measured in the same run (`/bin/true`, an fsync of the same disk, the same
//! git commands by hand, the peer), so that a slow machine does not fail it and a fast one does not hide a slow build.

mod commands;
mod crowd;
mod history;
mod idle;
mod job;
mod landing;
mod launching;
mod peer;
mod plans;
mod reading;
mod row;
mod samples;
mod snapshots;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::site::Place;
pub(crate) use job::run as job;
use row::Row;
use samples::Samples;

/// What the rows share: the binary, and what this machine costs.
struct Bench {
    /// The release build.
    binary: PathBuf,
    /// Where homes are made: the disk whose fsync is measured.
    scratch: PathBuf,
    /// Start and end of `/bin/true`.
    null: Samples,
    /// One appended page and its fsync.
    fsync: Samples,
    /// The peer, when it is asked for.
    peer: Option<peer::Peer>,
}

impl Bench {
    fn place(&self) -> Result<Place> {
        Place::new(&self.binary, &self.scratch)
    }
}

type Measure = fn(&Bench) -> Result<Vec<Row>>;

const MEASURES: [(&str, Measure); 10] = [
    ("reading", reading::measure),
    ("launching", launching::measure),
    ("plans", plans::measure),
    ("landing", landing::measure),
    ("idle", idle::measure),
    ("memory", idle::measure_memory),
    ("history", history::measure),
    ("crowd", crowd::measure),
    ("commands", commands::measure),
    ("snapshots", snapshots::measure),
];

/// Measures everything, or the rows that are named; `--peer` measures the peer too.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let with_peer = arguments.iter().any(|argument| argument == "--peer");
    let named: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|name| !name.starts_with("--")).collect();
    if let Some(unknown) = named.iter().find(|name| !MEASURES.iter().any(|(row, _)| row == *name)) {
        let known: Vec<&str> = MEASURES.iter().map(|(row, _)| *row).collect();
        bail!("no row `{unknown}`: {}", known.join(", "));
    }
    let mut build = crate::workspace::cargo(&["build", "--release", "--package", "tidegate"]);
    crate::workspace::succeed(&mut build, "cargo build --release")?;
    let target = crate::workspace::target_dir()?;
    let scratch = tempfile::Builder::new().prefix("bench-").tempdir_in(&target)?;
    let bench = Bench {
        binary: target.join("release/tidegate"),
        scratch: scratch.path().to_path_buf(),
        null: samples::null(200)?,
        fsync: samples::fsync(scratch.path(), 100)?,
        peer: with_peer.then(|| peer::Peer::install(&target)).transpose()?,
    };
    println!("one /bin/true {}, one fsync {}", bench.null, bench.fsync);
    let mut failed = 0;
    for (name, measure) in MEASURES {
        if !named.is_empty() && !named.contains(&name) {
            continue;
        }
        match measure(&bench) {
            Ok(rows) => {
                failed += rows.iter().filter(|row| row.fails()).count();
                for row in &rows {
                    println!("{row}");
                }
            }
            Err(error) => {
                failed += 1;
                println!("FAIL  {name}: {error:#}");
            }
        }
    }
    if failed > 0 {
        bail!("{failed} bars are not met");
    }
    Ok(())
}
