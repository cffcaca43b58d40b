//! Simulates many worlds: `sim [--seeds N] [--from N] [--jobs N] [--seed N]`.

use std::process::ExitCode;

use tidegate_testkit::sim::{Options, Report, run};

/// Worlds after which it says how far it is.
const AT_ONCE: u64 = 5_000;

fn main() -> ExitCode {
    let mut options = Options::default();
    let (mut from, mut count) = (0, 2_000);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse::<u64>().ok());
        match (flag.as_str(), value) {
            ("--seeds", Some(value)) => count = value,
            ("--from", Some(value)) => from = value,
            ("--jobs", Some(value)) => options.threads = usize::try_from(value).unwrap_or(1),
            ("--seed", Some(value)) => (from, count) = (value, 1),
            (_, _) => {
                eprintln!("usage: sim [--seeds N] [--from N] [--jobs N] [--seed N]");
                return ExitCode::from(2);
            }
        }
    }
    options.disk_may_fill = cfg!(feature = "failpoints") && options.threads == 1;
    let mut report = Report::default();
    let mut next = from;
    while next < from + count && report.failures.is_empty() {
        let end = (next + AT_ONCE).min(from + count);
        report.merge(run(next..end, &options));
        next = end;
        if next < from + count {
            eprintln!("{} worlds", report.held);
        }
    }
    println!("{report}");
    if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
