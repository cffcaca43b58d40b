//! A trivial command: how long from the request to the durable answer, beside few and beside very many that wait.

use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::crowd;
use super::launching::own_path;
use super::row::Row;
use super::samples::Samples;
use crate::site::{Place, run_id, wire};

/// Commands that are timed.
const TIMED: u32 = 60;
/// The bar of one, beside nothing and beside ten thousand.
const BAR: Duration = Duration::from_millis(10);
/// How much slower it may be beside ten thousand.
const FLAT: f64 = 1.5;

/// A change of a priority, with one run and with ten thousand in the queue.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    place.daemon()?;
    let me = own_path()?;
    let first = run_id(&wire::submit(&place, None, &[&me, "job", "sleep", "600"])?.0)?;
    let waiting = run_id(&wire::submit(&place, None, &["true"])?.0)?;
    let few = timed(&place, &waiting, 0)?;
    let mut runs = crowd::submit(&place, 64, 157)?;
    let many = timed(&place, &waiting, TIMED)?;
    runs.push(waiting);
    crowd::cancel(&place, &runs)?;
    wire::cancel(&place, &first)?;
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    Ok(vec![
        Row::at_most("trivial command, one run waits (median)", few, BAR, "10 ms"),
        Row::at_most("trivial command, 10,000 runs wait (median)", many, BAR, "10 ms"),
        Row::below("trivial command, 10,000 pending to one", ratio, FLAT, "x"),
    ])
}

fn timed(place: &Place, run: &str, from: u32) -> Result<Duration> {
    let mut times = Vec::new();
    for n in 1..=TIMED {
        times.push(wire::prioritise(place, run, from + n)?);
    }
    Ok(Samples::of(times)?.median())
}
