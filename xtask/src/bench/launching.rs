//! From a submit to its answer, to the launcher's first instruction, and from its last one to the recorded end.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Bench;
use super::job::{now, parse};
use super::row::Row;
use super::samples::Samples;
use crate::site::wire;
use crate::site::{Place, appears, run_id};

const ROUNDS: usize = 40;

/// Against the fsync of the same disk, and against the peer.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    place.daemon()?;
    let me = own_path()?;
    let acknowledged = acknowledgements(&place)?;
    let (whole, executed) = executions(&place, &me)?;
    let recorded = ends(&place, &me)?;
    let fsync = bench.fsync.median();
    let bar = |fsyncs: u32, millis: u64| fsync * fsyncs + Duration::from_millis(millis);
    let mut rows = vec![
        Row::at_most("submit acknowledged", acknowledged.median(), bar(4, 5), "4 fsync + 5 ms"),
        Row::info("tidegate submit, the whole process", whole),
        Row::at_most("submit to launcher exec", executed.median(), bar(8, 25), "8 fsync + 25 ms"),
        Row::at_most(
            "launcher exit to wait's end",
            recorded.median(),
            bar(4, 15),
            "4 fsync + 15 ms",
        ),
    ];
    if let Some(peer) = &bench.peer {
        let theirs = peer.submit(&bench.scratch)?;
        rows.push(Row::faster("submit to launcher exec", executed.median(), theirs.median(), 30.0));
        let theirs = peer.end(&bench.scratch)?;
        rows.push(Row::faster(
            "launcher exit to recorded",
            recorded.median(),
            theirs.median(),
            50.0,
        ));
    }
    Ok(rows)
}

/// Path of this program, whose jobs the product starts.
pub(super) fn own_path() -> Result<String> {
    let path = std::env::current_exe()?;
    Ok(path.to_str().context("a path that is no text")?.to_owned())
}

/// From the request on the socket to its answer.
fn acknowledgements(place: &Place) -> Result<Samples> {
    let mut last = String::new();
    let samples = Samples::take(ROUNDS, || {
        let (answer, took) = wire::submit(place, None, &["true"])?;
        last = run_id(&answer)?;
        Ok(took)
    })?;
    place.wait(&last)?;
    Ok(samples)
}

/// The whole `tidegate submit`, and from its start to the launcher's first instruction.
fn executions(place: &Place, me: &str) -> Result<(Samples, Samples)> {
    let (mut whole, mut executed) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let file = place.beside(&format!("stamp-{round}"));
        let path = file.to_str().context("a path that is no text")?;
        let begun = now()?;
        let run = place.submit(None, &[me, "job", "stamp", path])?;
        whole.push(now()?.saturating_sub(begun));
        executed.push(parse(&appears(&file)?)?.saturating_sub(begun));
        place.wait(&run)?;
    }
    Ok((Samples::of(whole)?, Samples::of(executed)?))
}

/// From the launcher's last instruction to the end of a `tidegate wait` that waits for it.
fn ends(place: &Place, me: &str) -> Result<Samples> {
    let mut recorded = Vec::new();
    for round in 0..ROUNDS / 2 {
        let file = place.beside(&format!("end-{round}"));
        let path = file.to_str().context("a path that is no text")?;
        let run = place.submit(None, &[me, "job", "end", path, "200"])?;
        let status = place.call(&["wait", &run]).stdout(Stdio::null()).status()?;
        let seen = now()?;
        anyhow::ensure!(status.success(), "wait: {status}");
        recorded.push(seen.saturating_sub(parse(&appears(&file)?)?));
    }
    Samples::of(recorded)
}
