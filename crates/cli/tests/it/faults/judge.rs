//! How a scene must have ended after a fault.

use serde_json::Value;

use super::audit;
use super::fault::{Fault, Kill, Moment};
use super::scene::Scene;
use super::trace::Calm;
use super::victim::Victim;
use crate::plan_stage::Stage;

impl Scene {
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
            Self::Plan | Self::Off | Self::Reconciled | Self::Furnished | Self::Tended => {
                assert!(ended("completed"), "{}", why());
                assert_eq!(audit::tree(stage), calm.tree, "another tree\n{}", why());
                // What was replayed is not what its branch has.
                if self != Self::Furnished {
                    audit::landed(stage, document);
                }
                audit::given_back(stage);
            }
            Self::Attached => {
                assert!(ended("failed"), "{}", why());
                assert_eq!((&document["exitCode"], stage.starts("launcher")), (&7.into(), 1));
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
