//! The tasks of this workspace: `cargo xtask tidy | test | ci | deny | demo`.
//!
//! Whatever continuous integration runs, runs here by the same words. Nothing in the product knows of this crate.

use std::process::ExitCode;

mod bench;
mod cases;
mod ci;
mod deny;
mod races;
mod shares;
mod site;
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
  bench   speed and size of a release build against their bars; [--peer] [row ...]
  faults  the kill matrix, five hundred faults by default; [NUMBER | all] [--seed SEED]
  power   power cuts on loop devices, two hundred by default; [NUMBER] [--seed SEED]
  killloop  random victims for ten minutes by default; [--minutes N] [--rounds M]
  snapshots  random edits and a disaster in each of five hundred rounds by default; [NUMBER] [--seed SEED]
  sim     simulated worlds, a hundred thousand by default; [NUMBER]
  cases   public bug reports of other tools, played against this one; [--all | --hollow | ID | CATEGORY ...]
  races   two to eight daemons at once, a thousand times by default; [NUMBER]
  upgrade  daemons replaced under fifty live jobs, twenty times by default; [NUMBER]
  storm   commands of four clients while the daemon is killed, 200 and 50 kills by default; [COMMANDS] [KILLS]
  train   branches that land at once, of which some may not, sixty by default; [NUMBER] [--seed SEED]
  agents  the slower real agents against a scripted model, all of them by default; [NAME ...]
  docs    writes docs/cli.md from the command line's own help
  fuzz    streams that no agent would write, a hundred thousand by default; [NUMBER] [--seed SEED]
  integrity  sabotages caught and false alarms of honest changes; [NUMBER], a hundred by default
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
        "faults" => shares::faults(&rest),
        "power" => shares::power(&rest),
        "killloop" => shares::kill_loop(&rest),
        "snapshots" => shares::snapshots(&rest),
        "sim" => shares::sim(&rest),
        "races" => races::run(&rest),
        "upgrade" => shares::upgrade(&rest),
        "storm" => shares::storm(&rest),
        "train" => shares::train(&rest),
        "agents" => suite::agents::drive(&rest),
        "docs" => shares::docs(),
        "fuzz" => shares::fuzz(&rest),
        "integrity" => shares::integrity(&rest),
        "cases" => cases::run(&rest),
        "bench" => bench::run(&rest),
        "job" => bench::job(&rest),
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
