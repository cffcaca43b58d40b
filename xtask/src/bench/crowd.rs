//! Many clients at once: how many submits share one commit, and how much faster that is than one client.

use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};

use super::Bench;
use super::launching::own_path;
use super::row::Row;
use crate::site::wire;
use crate::site::{Place, run_id};

const CLIENTS: usize = 64;
const EACH: usize = 50;

/// Where the high-water mark has the number of committed transactions, and where its second slot begins, in bytes.
const TURN: usize = 24;
const SLOT: usize = 4096;

/// Sixty-four clients against one.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    place.daemon()?;
    let me = own_path()?;
    let first = run_id(&wire::submit(&place, None, &[&me, "job", "sleep", "600"])?.0)?;
    let (alone, _) = rate(&place, 1, CLIENTS * 2)?;
    let (together, per_commit) = rate(&place, CLIENTS, EACH)?;
    wire::cancel(&place, &first)?;
    Ok(vec![
        Row::above("submits per commit, 64 clients", per_commit, 8.0, "submits"),
        Row::above("64 clients to one client", together / alone, 3.0, "x"),
        Row::info("submits a second, one client and 64", format!("{alone:.0} and {together:.0}")),
    ])
}

/// Submits a second, and submits per durable commit. All of them are cancelled afterwards.
fn rate(place: &Place, clients: usize, each: usize) -> Result<(f64, f64)> {
    let before = commits(place)?;
    let begun = Instant::now();
    let runs = submit(place, clients, each)?;
    let took = begun.elapsed().as_secs_f64();
    let commits = u32::try_from(commits(place)? - before)?;
    cancel(place, &runs)?;
    let submits = f64::from(u32::try_from(runs.len())?);
    Ok((submits / took, submits / f64::from(commits.max(1))))
}

/// Submits from `clients` threads, `each` one after the other. They queue behind what runs.
pub(super) fn submit(place: &Place, clients: usize, each: usize) -> Result<Vec<String>> {
    let runs = Mutex::new(Vec::new());
    at_once(clients, |_| {
        for _ in 0..each {
            let run = run_id(&wire::submit(place, None, &["true"])?.0)?;
            runs.lock().map_err(|_| anyhow!("a client panicked"))?.push(run);
        }
        Ok(())
    })?;
    runs.into_inner().map_err(|_| anyhow!("a client panicked"))
}

/// Cancels runs from many threads.
pub(super) fn cancel(place: &Place, runs: &[String]) -> Result<()> {
    at_once(CLIENTS, |client| {
        runs.iter().skip(client).step_by(CLIENTS).try_for_each(|run| wire::cancel(place, run))
    })
}

fn at_once(number: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..number).map(|n| scope.spawn(move || work(n))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a client panicked"))?)
    })
}

/// Committed transactions of the home, as its high-water mark has them: the larger of its two slots.
fn commits(place: &Place) -> Result<u64> {
    let mark = std::fs::read(place.home().join("highwater"))?;
    let slot = |start: usize| -> Option<u64> {
        Some(u64::from_le_bytes(mark.get(start + TURN..start + TURN + 8)?.try_into().ok()?))
    };
    slot(0).max(slot(SLOT)).context("a high-water mark without a slot")
}
