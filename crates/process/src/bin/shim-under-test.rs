//! A shim for the tests of this crate; the product's is `tidegate shim`.
//!
//! With the feature `failpoints`, `TIDEGATE_FAIL=name=kill` kills the process at that point and any
//! other action is one of the crate `fail`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "failpoints")]
    arm();
    if std::env::args_os().nth(1).is_some_and(|arg| arg == "host-a-helper") {
        return host_a_helper();
    }
    let job_dir = std::env::args_os().nth(1).map(PathBuf::from).unwrap_or_default();
    tidegate_process::shim::main(&job_dir)
}

/// Stands for a daemon that waits for a helper, which writes its pid to a file.
fn host_a_helper() -> ExitCode {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = std::env::args_os().nth(2).unwrap_or_default();
    let script = "echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 1000";
    let helper = tidegate_process::helper::Helper {
        argv: vec!["sh".into(), "-c".into(), script.into(), file],
        cwd: "/".into(),
        env: vec![("PATH".into(), path)],
        stdin: Vec::new(),
        source: None,
        sink: None,
        timeout: std::time::Duration::from_mins(10),
    };
    ExitCode::from(u8::from(tidegate_process::helper::run(&helper).is_err()))
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
