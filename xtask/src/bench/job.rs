//! The jobs of the bench, small enough not to be what is measured: `xtask job WHAT`, started by the product.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

/// Does one job.
///
/// - `stamp FILE`: writes the time of its start;
/// - `end FILE MILLIS`: sleeps, then writes the time of its end;
/// - `sleep SECONDS`: sleeps;
/// - `lines NUMBER SECONDS`: prints that many lines a second.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["stamp", file] => stamp(Path::new(file)),
        ["end", file, millis] => {
            std::thread::sleep(Duration::from_millis(millis.parse()?));
            stamp(Path::new(file))
        }
        ["sleep", seconds] => {
            std::thread::sleep(Duration::from_secs(seconds.parse()?));
            Ok(())
        }
        ["lines", number, seconds] => lines(number.parse()?, seconds.parse()?),
        _ => bail!("no such job: {}", words.join(" ")),
    }
}

/// The time on the wall, which two processes can compare.
pub(super) fn now() -> Result<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).context("a clock before 1970")
}

/// What is in a file of `stamp`.
pub(super) fn parse(text: &str) -> Result<Duration> {
    let nanos: u64 = text.trim().parse().with_context(|| format!("{text:?} is no stamp"))?;
    Ok(Duration::from_nanos(nanos))
}

fn stamp(file: &Path) -> Result<()> {
    let fresh = file.with_extension("new");
    std::fs::write(&fresh, now()?.as_nanos().to_string())?;
    std::fs::rename(&fresh, file)?;
    Ok(())
}

fn lines(number: u64, seconds: u64) -> Result<()> {
    let pause = Duration::from_nanos(1_000_000_000 / number.max(1));
    let mut output = std::io::stdout().lock();
    for line in 0..number * seconds {
        writeln!(output, "line {line} of a job that has something to say now and then")?;
        output.flush()?;
        std::thread::sleep(pause);
    }
    Ok(())
}
