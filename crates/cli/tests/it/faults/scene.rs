//! What runs while a fault strikes, and how it must end.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::audit;
use super::fault::{Fault, Kill, Moment};
use super::follow::Follower;
use super::trace::Calm;
use super::victim::Victim;
use crate::plan_stage::{Stage, waves};

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scene {
    /// A plan of two waves; one of its features fails its gate and is repaired.
    Plan,
    /// The same, and the target is checked out nowhere.
    Off,
    /// A launcher with a selection that keeps its journal.
    Journal,
    /// A launcher that says nothing.
    Silent,
    /// A launcher that registers an agent.
    Crewed,
    /// A launcher that is cancelled at once, and takes no notice of TERM.
    Cancelled,
}

const AGENT: &str = r#"
case $feature in
    tides) case $prompt in
        *"between two tides"*) echo even >tides.txt ;;
        *) echo steps >tides.txt ;;
    esac ;;
    board) cat berths.txt tides.txt >board.txt ;;
    notice) cat board.txt cargo.txt >notice.txt ;;
    *) echo "$feature" >"$feature.txt" ;;
esac"#;

const CHECK: &str = r#"
! grep -qx steps tides.txt 2>/dev/null || { echo "not ok: between two tides"; exit 1; }"#;

/// Faults reach the verbs that a launcher calls only when it hands them on.
const ARMED: &str = r#"
[ -z "${FAULT-}" ] || export TIDEGATE_FAIL="$FAULT" TIDEGATE_FAIL_ONCE="$T/once"
[ ! -e "$T/trace" ] || export TIDEGATE_FAIL_TRACE="$T/trace"
echo "launcher $TIDEGATE_RUN_TAG" >>"$T/starts"
"#;

const JOURNAL: &str = r#"
wave=${TIDEGATE_RESUME_WAVE:-${TIDEGATE_START_WAVE:-1}}
while [ "$wave" -le 2 ]; do
    tidegate progress --wave "$wave" --phase working
    echo "$wave" >>"$T/waves"
    wave=$((wave + 1))
done
tidegate progress --wave 2 --finalized completed --exit-code 0
exit 0"#;

const SILENT: &str = "sleep 0.3\nexit 3";

const CREWED: &str = r#"
cat >"$T/crew.sh" <<'CREW'
echo "pilot $TIDEGATE_RUN_TAG.$$" >>"$T/starts"
tidegate agent register --id pilot --pid $$
echo $$ >"$T/registered"
sleep 0.4
tidegate agent exit --id pilot --code 0
CREW
sh "$T/crew.sh" &
wait
exit 3"#;

const DEAF: &str = "trap '' TERM\nsetsid sleep 1000 &\nwait";

impl Scene {
    pub(super) const ALL: &[Self] =
        &[Self::Plan, Self::Off, Self::Journal, Self::Silent, Self::Crewed, Self::Cancelled];

    /// Makes the place where it will run.
    pub(super) fn stage(self) -> Stage {
        let stage = Stage::new(AGENT, CHECK);
        std::fs::create_dir(stage.home.beside("once")).unwrap();
        if self == Self::Off {
            stage.home.repo().git(&["checkout", "--quiet", "-b", "mine"]);
        }
        stage
    }

    /// Submits it; the run.
    pub(super) fn submit(self, stage: &Stage, fault: Option<&Fault>) -> String {
        let mut call = match self {
            Self::Plan | Self::Off => {
                let plan = waves(&[
                    &["berths", "tides", "cargo"],
                    &[
                        "board; needs = [\"berths\", \"tides\"]",
                        "notice; needs = [\"board\", \"cargo\"]",
                    ],
                ]);
                stage.home.repo().write("plan.toml", &plan);
                stage.home.call(&["--json", "submit", "plan.toml"])
            }
            Self::Journal => launcher(stage, &["--start-wave", "1", "--end-wave", "2"], JOURNAL),
            Self::Silent => launcher(stage, &[], SILENT),
            Self::Crewed => launcher(stage, &[], CREWED),
            Self::Cancelled => launcher(stage, &[], DEAF),
        };
        if let Some(told) = fault.and_then(|fault| fault.kill.told()) {
            call.env("FAULT", told);
        }
        let output = call.output().unwrap();
        assert!(output.status.success(), "submit: {output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let run = answer["data"]["runId"].as_str().unwrap().to_owned();
        if self == Self::Cancelled {
            let cancel = stage.home.json(&["cancel", &run]);
            let late = cancel.code == 1 && cancel.error() == "invalid_status_transition";
            assert!(cancel.code == 0 || (late && fault.is_some()), "{cancel:?}");
        }
        run
    }

    /// Whether a run of it ended as it must after `fault`, which was hit or not.
    pub(super) fn judge(
        self,
        stage: &Stage,
        document: &Value,
        calm: &Calm,
        fault: &Fault,
        hit: bool,
    ) {
        let run = document["runId"].as_str().unwrap();
        let why = || format!("{document:#}\n{}", stage.story(run));
        let ended = |status: &str| document["status"] == status;
        let disposition = document["terminalDisposition"].as_str().unwrap();
        match self {
            Self::Plan | Self::Off => {
                assert!(ended("completed"), "{}", why());
                assert_eq!(audit::tree(stage), calm.tree, "another tree\n{}", why());
                audit::landed(stage, document);
            }
            Self::Journal => {
                // Row 1, row 4 or row 5: the work is done to its end in each.
                assert!(ended("completed"), "{}", why());
                assert_eq!(document["exitCode"], 0, "{}", why());
                let starts = stage.starts("launcher") as u64;
                let resumes = document["resumeAttempts"].as_u64().unwrap();
                assert!(starts <= 1 + resumes && resumes <= 1, "{starts} starts\n{}", why());
                let recovered = document["recoveryState"] == "recovered-from-progress";
                assert!(!recovered || hit, "{}", why());
            }
            Self::Cancelled => {
                // A launcher that was lost before the cancel came has failed already.
                let lost = ended("failed") && disposition == "launcher-lost-before-status";
                let asked = !stage.home.events_of(run, "cancel-requested").is_empty();
                assert!(if asked { ended("cancelled") } else { lost && hit }, "{}", why());
                assert!(stage.starts("launcher") <= 1, "started twice\n{}", why());
            }
            Self::Silent | Self::Crewed => {
                assert!(ended("failed"), "{}", why());
                assert!(stage.starts("launcher") <= 1, "started twice\n{}", why());
                assert!(stage.starts("pilot") <= 1, "started twice\n{}", why());
                assert_eq!(document["resumeAttempts"], 0, "{}", why());
                // Row 1, or row 6 when the launcher was lost before it left a word.
                let lost =
                    disposition == "launcher-lost-before-status" && document["exitCode"].is_null();
                let own = disposition == "failed" && document["exitCode"] == 3;
                assert!(own || (lost && hit), "{}", why());
                if hit && fault.kill == Kill::Outside(Victim::Daemon) {
                    assert!(own, "the launcher outlives the daemon\n{}", why());
                }
                let at_work = fault.moment == Moment::event("agent-registered", 1);
                if hit && at_work && fault.kill == Kill::Outside(Victim::Launcher) {
                    assert!(lost, "{}", why());
                    let adopted = stage.home.events_of(run, "agent-runtime-adopted");
                    // An agent whose end was told before the launcher's leaves nothing to adopt.
                    let seq = |kind| stage.home.events_of(run, kind)[0]["seq"].as_u64();
                    let outlived = seq("agent-exited") > seq("job-finished");
                    assert_eq!(adopted.len(), usize::from(outlived), "row 3\n{}", why());
                }
            }
        }
    }
}

fn launcher(stage: &Stage, flags: &[&str], script: &str) -> Command {
    let mut call = stage.home.call(&["--json", "submit"]);
    call.args(flags).args(["--", "sh", "-c", &format!("{ARMED}{script}")]);
    call
}

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
    let document = ended(&stage, &run, fault);
    let claimed = || std::fs::read_dir(home.beside("once")).unwrap().next().is_some();
    fault.scene.judge(&stage, &document, calm, fault, struck || claimed());
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

fn tell(stage: &Stage, fault: &Fault, call: &mut Command) {
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

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plan => "plan",
            Self::Off => "off",
            Self::Journal => "journal",
            Self::Silent => "silent",
            Self::Crewed => "crewed",
            Self::Cancelled => "cancelled",
        })
    }
}
