//! A shim for the tests of this crate; the product's is `tidegate shim`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let job_dir = std::env::args_os().nth(1).map(PathBuf::from).unwrap_or_default();
    tidegate_process::shim::main(&job_dir)
}
