//! A shim for the tests of this crate; the product's is `tidegate shim`.
//!
//! With the feature `failpoints`, `TIDEGATE_FAIL=name=kill` kills the process at that point and any
//! other action is one of the crate `fail`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "failpoints")]
    arm();
    let job_dir = std::env::args_os().nth(1).map(PathBuf::from).unwrap_or_default();
    tidegate_process::shim::main(&job_dir)
}

#[cfg(feature = "failpoints")]
fn arm() {
    let Ok(order) = std::env::var("TIDEGATE_FAIL") else { return };
    let Some((name, action)) = order.split_once('=') else { return };
    let armed = match action {
        "kill" => fail::cfg_callback(name, || {
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        }),
        other => fail::cfg(name, other),
    };
    assert!(armed.is_ok(), "{order}");
}
