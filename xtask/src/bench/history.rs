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

/// Each query beside many runs against the same beside few.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let few = Queries::beside(bench, FEW)?;
    let many = Queries::beside(bench, MANY)?;
    let ratio =
        |many: &Samples, few: &Samples| many.median().as_secs_f64() / few.median().as_secs_f64();
    let row = |what: &str, many: &Samples, few: &Samples| {
        Row::below(&format!("{what}, 10,000 runs to 10"), ratio(many, few), 1.3, "x")
    };
    Ok(vec![
        row("status of a run", &many.status, &few.status),
        row("a page of the list", &many.list, &few.list),
        row("submit, claim and start", &many.claim, &few.claim),
        Row::info(
            "status, list, claim beside 10,000",
            format!("{}; {}; {}", many.status, many.list, many.claim),
        ),
    ])
}

struct Queries {
    status: Samples,
    list: Samples,
    claim: Samples,
}

impl Queries {
    fn beside(bench: &Bench, number: usize) -> Result<Self> {
        let place = bench.place()?;
        place.daemon()?;
        let runs = finished(&place, number)?;
        let run = &runs[number / 2];
        let call = |words: &[&str]| time(|| quietly(&mut place.call(words)));
        Ok(Self {
            status: Samples::take(ROUNDS, || call(&["status", run]))?,
            list: Samples::take(ROUNDS, || call(&["list", "--limit", "10"]))?,
            claim: claims(&place)?,
        })
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

fn claims(place: &Place) -> Result<Samples> {
    let me = own_path()?;
    let mut round = 0;
    Samples::take(ROUNDS / 2, || {
        round += 1;
        let file = place.beside(&format!("claim-{round}"));
        let path = file.to_str().context("a path that is no text")?;
        let begun = now()?;
        let (answer, _) = wire::submit(place, None, &[&me, "job", "stamp", path])?;
        let took = parse(&appears(&file)?)?.saturating_sub(begun);
        place.wait(&run_id(&answer)?)?;
        Ok(took.max(Duration::from_nanos(1)))
    })
}
