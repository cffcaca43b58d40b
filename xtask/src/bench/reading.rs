//! `status RUN --json`: a read that people and scripts do all the time, with a daemon and without.

use std::process::Command;

use anyhow::Result;

use super::Bench;
use super::row::Row;
use super::samples::{Samples, time};
use crate::site::{Place, quietly};

const ROUNDS: usize = 150;

/// Against `/bin/true`, and against the peer.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    let run = place.submit(None, &["true"])?;
    place.wait(&run)?;
    let (null, with) = interleaved(&place, &run)?;
    place.stop()?;
    let (null_without, without) = interleaved(&place, &run)?;
    let row = |what: &str, status: &Samples, null: &Samples| {
        Row::at_most(what, status.median(), null.median() * 5, "5 x /bin/true beside it")
    };
    let mut rows = vec![
        row("status RUN --json, daemon running", &with, &null),
        row("status RUN --json, no daemon", &without, &null_without),
        Row::info("the same, from least to most", format!("{with}; {without}")),
    ];
    if let Some(peer) = &bench.peer {
        let theirs = peer.status(&bench.scratch)?;
        rows.push(Row::faster("status RUN --json", with.median(), theirs.median(), 25.0));
    }
    Ok(rows)
}

/// `/bin/true` and the status in turn, so that whatever else the machine does hits both.
fn interleaved(place: &Place, run: &str) -> Result<(Samples, Samples)> {
    let (mut null, mut status) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        null.push(time(|| quietly(&mut Command::new("/bin/true")))?);
        status.push(time(|| quietly(&mut place.call(&["status", run])))?);
    }
    Ok((Samples::of(null)?, Samples::of(status)?))
}
