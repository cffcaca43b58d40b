//! `status RUN --json`: a read that people and scripts do all the time, with a daemon and without.

use anyhow::Result;

use super::Bench;
use super::row::Row;
use super::samples::{Samples, time};
use crate::site::quietly;

const ROUNDS: usize = 100;

/// Against `/bin/true`, and against the peer.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    let run = place.submit(None, &["true"])?;
    place.wait(&run)?;
    let status = || time(|| quietly(&mut place.call(&["status", &run])));
    let with = Samples::take(ROUNDS, status)?;
    place.stop()?;
    let without = Samples::take(ROUNDS, status)?;
    let bar = bench.null.median() * 5;
    let rule = "5 x /bin/true";
    let mut rows = vec![
        Row::at_most("status RUN --json, daemon running", with.median(), bar, rule),
        Row::at_most("status RUN --json, no daemon", without.median(), bar, rule),
    ];
    if let Some(peer) = &bench.peer {
        let theirs = peer.status(&bench.scratch)?;
        rows.push(Row::faster("status RUN --json", with.median(), theirs.median(), 25.0));
    }
    Ok(rows)
}
