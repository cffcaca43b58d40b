//! Ten thousand finished runs: whether reads and the next run notice them.

use std::time::Duration;

use anyhow::{Context, Result};

use super::Bench;
use super::crowd;
use super::job::{now, parse};
use super::launching::own_path;
use super::row::Row;
use super::samples::{Samples, time};
use crate::site::quietly;
use crate::site::wire;
use crate::site::{Place, appears, run_id};

const FEW: usize = 10;
const MANY: usize = 10_000;
const ROUNDS: usize = 60;

/// Each query beside many runs against the same beside few, in turn.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let (few, many) = (Past::of(bench, FEW)?, Past::of(bench, MANY)?);
    let mut rows = Vec::new();
    for (what, query) in QUERIES {
        let (mut beside_few, mut beside_many) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            beside_few.push(query(&few, round)?);
            beside_many.push(query(&many, round)?);
        }
        let (few, many) = (Samples::of(beside_few)?, Samples::of(beside_many)?);
        let ratio = many.median().as_secs_f64() / few.median().as_secs_f64();
        rows.push(Row::below(&format!("{what}, 10,000 runs to 10"), ratio, 1.3, "x"));
        rows.push(Row::info("  beside 10 and 10,000", format!("{few}; {many}")));
    }
    Ok(rows)
}

type Query = fn(&Past, usize) -> Result<Duration>;

const QUERIES: [(&str, Query); 3] = [
    ("status of a run", |past, _| past.call(&["status", &past.run])),
    ("a page of the list", |past, _| past.call(&["list", "--limit", "10"])),
    ("submit, claim and start", Past::claim),
];

/// A home with finished runs.
struct Past {
    place: Place,
    run: String,
}

impl Past {
    fn of(bench: &Bench, number: usize) -> Result<Self> {
        let place = bench.place()?;
        place.daemon()?;
        let runs = finished(&place, number)?;
        let run = runs[number / 2].clone();
        Ok(Self { place, run })
    }

    fn call(&self, words: &[&str]) -> Result<Duration> {
        time(|| quietly(&mut self.place.call(words)))
    }

    fn claim(&self, round: usize) -> Result<Duration> {
        let me = own_path()?;
        let file = self.place.beside(&format!("claim-{round}"));
        let path = file.to_str().context("a path that is no text")?;
        let begun = now()?;
        let (answer, _) = wire::submit(&self.place, None, &[&me, "job", "stamp", path])?;
        let took = parse(&appears(&file)?)?.saturating_sub(begun);
        self.place.wait(&run_id(&answer)?)?;
        Ok(took)
    }
}

/// Runs that ended before they began: queued behind one that runs, then cancelled.
fn finished(place: &Place, number: usize) -> Result<Vec<String>> {
    let me = own_path()?;
    let first = run_id(&wire::submit(place, None, &[&me, "job", "sleep", "600"])?.0)?;
    let runs = crowd::submit(place, 64, number.div_ceil(64))?;
    crowd::cancel(place, &runs)?;
    wire::cancel(place, &first)?;
    place.verb(&["wait", &first, "--timeout", "60s"]).ok();
    Ok(runs)
}
