//! What a daemon costs while nothing happens, alone and with two hundred jobs: time on a core, writes, memory.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::Bench;
use super::launching::own_path;
use super::row::Row;
use crate::site::wire;
use crate::site::{Place, poll};
use crate::site::{busy, private_dirty, resident, with_argument, writes};

const JOBS: usize = 200;
const WATCHED: Duration = Duration::from_secs(20);

/// Time on a core and writes, over twenty seconds.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    let daemon = place.daemon()?;
    let run = place.submit(None, &["true"])?;
    place.wait(&run)?;
    let (alone, written) = watch(&[daemon])?;
    let runs = start(&place, &["sleep", "600"])?;
    let shims = shims(&place)?;
    let all: Vec<u32> = shims.iter().copied().chain([daemon]).collect();
    let (with_jobs, _) = watch(&all)?;
    end(&place, &runs)?;
    Ok(vec![
        Row::below("idle daemon, share of a core", alone * 100.0, 0.1, "%"),
        Row::below("idle daemon, writes in 20 s", written, 0.0, "calls"),
        Row::below("daemon and shims of 200 sleeping jobs", with_jobs * 100.0, 1.0, "%"),
    ])
}

/// Memory of the daemon and of a shim.
pub(super) fn measure_memory(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    let daemon = place.daemon()?;
    let run = place.submit(None, &["true"])?;
    place.wait(&run)?;
    let idle = resident(daemon)?;
    let runs = start(&place, &["lines", "50", "600"])?;
    let shims = shims(&place)?;
    std::thread::sleep(WATCHED);
    let busy = resident(daemon)?;
    let mut dirty = shims.iter().map(|shim| private_dirty(*shim)).collect::<Result<Vec<f64>>>()?;
    dirty.sort_by(f64::total_cmp);
    end(&place, &runs)?;
    Ok(vec![
        Row::below("memory of an idle daemon", idle, 15.0, "MiB"),
        Row::below("memory of the daemon, 200 jobs of 50 lines/s", busy, 120.0, "MiB"),
        Row::below("private dirty memory of a shim", dirty[dirty.len() / 2], 2.0, "MiB"),
    ])
}

/// Share of a core and write calls of some processes while nothing is asked of them.
fn watch(processes: &[u32]) -> Result<(f64, f64)> {
    std::thread::sleep(Duration::from_secs(2));
    let sum = || -> Result<(Duration, u64)> {
        let busy = processes.iter().map(|pid| busy(*pid)).sum::<Result<Duration>>()?;
        Ok((busy, processes.iter().map(|pid| writes(*pid)).sum::<Result<u64>>()?))
    };
    let begun = Instant::now();
    let (busy_before, written_before) = sum()?;
    std::thread::sleep(WATCHED);
    let (busy_after, written_after) = sum()?;
    let share =
        busy_after.saturating_sub(busy_before).as_secs_f64() / begun.elapsed().as_secs_f64();
    Ok((share, f64::from(u32::try_from(written_after - written_before)?)))
}

fn start(place: &Place, job: &[&str]) -> Result<Vec<String>> {
    let me = own_path()?;
    let argv = [&[me.as_str(), "job"], job].concat();
    (0..JOBS)
        .map(|number| {
            let queue = format!("job{number}");
            crate::site::run_id(&wire::submit(place, Some(&queue), &argv)?.0)
        })
        .collect()
}

/// The shims, once all of them are there.
fn shims(place: &Place) -> Result<Vec<u32>> {
    let home = place.home().display().to_string();
    poll("the shims of all jobs", || {
        let shims = with_argument(&home, "shim")?;
        Ok((shims.len() >= JOBS).then_some(shims))
    })
}

fn end(place: &Place, runs: &[String]) -> Result<()> {
    for run in runs {
        wire::cancel(place, run)?;
    }
    let home = place.home().display().to_string();
    poll("the end of all jobs", || Ok(with_argument(&home, "shim")?.is_empty().then_some(())))
}
