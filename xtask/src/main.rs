//! The tasks of this workspace: `cargo xtask tidy | test | ci | deny | demo`.
//!
//! Whatever continuous integration runs, runs here by the same words. Nothing in the product knows of this crate.

use std::process::ExitCode;

mod ci;
mod deny;
mod smoke;
mod suite;
mod tidy;
mod workspace;

const USAGE: &str = "\
usage: cargo xtask TASK

  tidy    rules of the sources that the compiler does not check
  test    every test of the workspace, fail points included; [--deny-skips] [filter ...]
  ci      fmt, clippy, tidy, deny, doc, test, demo: what .ci/run runs
  deny    licences, bans and sources of every dependency, by deny.toml
  demo    builds the product without fail points, runs its demo and checks what it reports
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match task.as_str() {
        "tidy" => tidy::run(),
        "test" => suite::run(&rest),
        "ci" => ci::run(),
        "deny" => deny::run(),
        "demo" => smoke::run(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {task}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
