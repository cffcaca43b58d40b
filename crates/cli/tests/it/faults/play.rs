//! Plays a scene with its fault, and looks at everything afterwards.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::audit;
use super::fault::{Fault, Kill, Moment};
use super::follow::Follower;
use super::trace::Calm;
use crate::plan_stage::Stage;

/// Plays a scene with its fault and looks at everything afterwards. Whether the fault was hit.
///
/// # Panics
/// When something does not hold.
pub(super) fn play(fault: &Fault, calm: &Calm) -> bool {
    let stage = fault.scene.stage();
    let home = &stage.home;
    if fault.moment == Moment::Start {
        arm(&stage, fault);
    }
    let run = fault.scene.submit(&stage, Some(fault));
    let struck = match (&fault.moment, &fault.kill) {
        (Moment::Start, Kill::Points(_)) => false,
        (_, Kill::Points(_)) => {
            if Follower::of(home, &run).until(&fault.moment) {
                // Jobs go on under their shims while the daemon is exchanged.
                home.run(&["daemon", "stop"]).ends_with(0);
                arm(&stage, fault);
            }
            false
        }
        (_, Kill::Outside(victim)) => {
            let daemon = home.daemon();
            let came = Follower::of(home, &run).until(&fault.moment);
            came && daemon.is_some_and(|daemon| victim.kill(&home.path(), daemon))
        }
    };
    fault.scene.attend(&stage, &run, Some(fault));
    let document = ended(&stage, &run, fault);
    let claimed = || std::fs::read_dir(home.beside("once")).unwrap().next().is_some();
    fault.scene.judge(&stage, &document, calm, fault, struck || claimed());
    fault.scene.clear(&stage, &run, Some(fault));
    // Some points are come to only by the end in good order.
    home.run(&["daemon", "stop"]).ends_with(0);
    let hit = struck || claimed();
    audit::everything(stage, &run);
    hit
}

/// Starts a daemon with the fault in its environment. It may die at once: some faults are that.
fn arm(stage: &Stage, fault: &Fault) {
    let mut call = stage.home.call(&["daemon", "start"]);
    tell(stage, fault, &mut call);
    start(&mut call);
}

/// Gives a call the fault in its environment.
pub(super) fn tell(stage: &Stage, fault: &Fault, call: &mut Command) {
    if let Some(told) = fault.kill.told() {
        call.env("TIDEGATE_FAIL", told).env("TIDEGATE_FAIL_ONCE", stage.home.beside("once"));
    }
}

/// Waits for the end of the run as a user does: whatever died is started again by that alone, and
/// may die again at a further point.
fn ended(stage: &Stage, run: &str, fault: &Fault) -> Value {
    for _ in 0..3 {
        let mut wait = stage.home.call(&["--json", "wait", run, "--timeout", "60s"]);
        tell(stage, fault, &mut wait);
        let output = wait.output().unwrap();
        if let Some(code) = output.status.code() {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!([0, 10, 11].contains(&code), "wait: {code} {text}\n{}", stage.story(run));
            return stage.home.status(run);
        }
        // The waiting process itself came to a point.
    }
    panic!("wait dies again and again");
}

/// Starts a daemon whose points leave their names in a file.
pub(super) fn start_traced(stage: &Stage, trace: &Path) {
    std::fs::write(trace, "").unwrap();
    start(stage.home.call(&["daemon", "start"]).env("TIDEGATE_FAIL_TRACE", trace));
}

fn start(call: &mut Command) {
    let _ = call.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
}
