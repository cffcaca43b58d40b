//! What runs while a fault strikes.

use std::fmt;
use std::process::Command;

use serde_json::Value;

use super::fault::Fault;
use super::places;
use super::scripts::{AGENT, ARMED, ASKS, CHECK, CREWED, DEAF, JOURNAL, SILENT};
use crate::plan_stage::{Stage, one_wave, waves};

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
    /// A plan whose second change conflicts with its first; the target follows a remote.
    Reconciled,
    /// A plan whose worktrees have all that one can have.
    Furnished,
    /// A plan whose user rolls back, approves, restores, cleans up and deletes.
    Tended,
    /// A launcher on a terminal that its user attaches to.
    Attached,
}

impl Scene {
    pub(super) const ALL: &[Self] = &[
        Self::Plan,
        Self::Off,
        Self::Journal,
        Self::Silent,
        Self::Crewed,
        Self::Cancelled,
        Self::Reconciled,
        Self::Furnished,
        Self::Tended,
        Self::Attached,
    ];

    /// Whether only those points are killed at that no scene before it comes to: the others are the same as there.
    pub(super) fn is_for_its_own_points(self) -> bool {
        self >= Self::Reconciled
    }

    /// Makes the place where it will run.
    pub(super) fn stage(self) -> Stage {
        let stage = match self {
            Self::Reconciled => places::reconciled(),
            Self::Furnished => places::furnished(),
            Self::Tended => places::tended(),
            Self::Plan
            | Self::Off
            | Self::Journal
            | Self::Silent
            | Self::Crewed
            | Self::Cancelled
            | Self::Attached => Stage::new(AGENT, CHECK),
        };
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
                planned(stage, &plan)
            }
            Self::Reconciled | Self::Furnished => planned(stage, &one_wave(&["a", "b"])),
            Self::Tended => planned(stage, &one_wave(&["a"])),
            Self::Attached => launcher(stage, &["--pty", "--resume-limit", "0"], ASKS),
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
}

fn planned(stage: &Stage, plan: &str) -> Command {
    stage.home.repo().write("plan.toml", plan);
    stage.home.call(&["--json", "submit", "plan.toml"])
}

fn launcher(stage: &Stage, flags: &[&str], script: &str) -> Command {
    let mut call = stage.home.call(&["--json", "submit"]);
    call.args(flags).args(["--", "sh", "-c", &format!("{ARMED}{script}")]);
    call
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
            Self::Reconciled => "reconciled",
            Self::Furnished => "furnished",
            Self::Tended => "tended",
            Self::Attached => "attached",
        })
    }
}
