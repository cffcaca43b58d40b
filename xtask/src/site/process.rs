//! What the kernel says of a process: its time on a core, its writes, its memory.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Time that all threads of a process have spent on a core.
pub(crate) fn busy(pid: u32) -> Result<Duration> {
    let mut nanos = 0;
    for thread in path(pid, "task").read_dir()? {
        let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        nanos += text.split(' ').next().context("an empty schedstat")?.parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanos))
}

/// Time that a process and those of its children that have ended spent on a core.
pub(crate) fn busy_with_children(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(path(pid, "stat"))?;
    let rest = stat.rsplit(')').next().context("an odd stat")?;
    // utime, stime, cutime and cstime, after the name and eleven further fields.
    let ticks = rest.split_whitespace().skip(11).take(4);
    let ticks = ticks.map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    let of_a_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_millis(ticks * 1000 / of_a_second))
}

/// Calls by which a process has written anything.
pub(crate) fn writes(pid: u32) -> Result<u64> {
    field(pid, "io", "syscw:")
}

/// Resident memory, in mebibytes.
pub(crate) fn resident(pid: u32) -> Result<f64> {
    mebibytes(field(pid, "smaps_rollup", "Rss:")?)
}

/// Memory that is its own and was written, in mebibytes.
pub(crate) fn private_dirty(pid: u32) -> Result<f64> {
    mebibytes(field(pid, "smaps_rollup", "Private_Dirty:")?)
}

/// Children of a process whose command line has `word`.
pub(crate) fn with_argument(home: &str, word: &str) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in PathBuf::from("/proc").read_dir()? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(line) = std::fs::read(path(pid, "cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line);
        let mut words = line.split('\0');
        if words.clone().any(|argument| argument == word)
            && words.any(|path| path.starts_with(home))
        {
            found.push(pid);
        }
    }
    Ok(found)
}

fn mebibytes(kibibytes: u64) -> Result<f64> {
    Ok(f64::from(u32::try_from(kibibytes)?) / 1024.0)
}

fn field(pid: u32, file: &str, name: &str) -> Result<u64> {
    let text = std::fs::read_to_string(path(pid, file))?;
    let line = text.lines().find(|line| line.starts_with(name)).context("a missing field")?;
    Ok(line.split_whitespace().nth(1).context("an empty field")?.parse()?)
}

fn path(pid: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

/// Kills one process, held by a descriptor; false when it is gone already.
pub(crate) fn kill(pid: u32) -> bool {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw);
    let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    process.is_some_and(|process| pidfd_send_signal(process, Signal::KILL).is_ok())
}

/// Ends every process whose environment or command line names `text`, until none is left; what could not be ended.
pub(crate) fn sweep(text: &str) -> Vec<u32> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left = mentioning(text);
        if left.is_empty() || Instant::now() >= deadline {
            return left;
        }
        for pid in left {
            kill(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Living processes, but for this one, whose environment or command line names `text`.
fn mentioning(text: &str) -> Vec<u32> {
    let names = |pid: u32, file: &str| {
        let bytes = std::fs::read(path(pid, file)).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    };
    let entries = PathBuf::from("/proc").read_dir().into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let others = pids.filter(|pid| *pid != std::process::id());
    others.filter(|pid| names(*pid, "cmdline") || names(*pid, "environ")).collect()
}
