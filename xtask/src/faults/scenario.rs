//! What runs while a fault strikes, and how it must end: the demo's plan, a launcher that says where it is, one that does not.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::chance::Chance;
use super::fault::Fault;
use super::{Arena, demo};
use crate::site::{Place, quietly, run_id};

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    /// The plan of the demo, nothing held.
    Plan,
    /// A launcher with a selection that keeps its journal.
    Journal,
    /// A launcher that says nothing.
    Silent,
}

/// What came of it.
pub(super) struct Outcome {
    /// Where it ran.
    pub(super) place: Place,
    /// The run at its end.
    pub(super) run: Value,
    /// Whether the fault hit anything.
    pub(super) hit: bool,
}

/// Two waves, each recorded in the journal before its work.
const JOURNAL: &str = r#"
echo "launcher $$" >>"$1/starts"
wave=${TIDEGATE_RESUME_WAVE:-${TIDEGATE_START_WAVE:-1}}
while [ "$wave" -le 2 ]; do
    "$2" progress --wave "$wave" --phase working
    sleep 0.2
    wave=$((wave + 1))
done
"$2" progress --wave 2 --finalized completed --exit-code 0
"#;

const SILENT: &str = r#"
echo "launcher $$" >>"$1/starts"
sleep 0.4
exit 3
"#;

/// The tree that the plan ends with when nothing is disturbed.
pub(super) fn undisturbed(arena: &Arena) -> Result<String> {
    let calm = Fault::Point { name: String::new(), hit: 0 };
    let outcome = Scenario::Plan.play_with(arena, &calm, false)?;
    ensure!(outcome.run["status"] == "completed", "undisturbed: {}", outcome.run);
    tree(&outcome.place)
}

impl Scenario {
    /// One of them; the plan twice as often as each of the others.
    pub(super) fn choose(chance: &mut Chance) -> Self {
        chance.one_of(&[Self::Plan, Self::Plan, Self::Journal, Self::Silent])
    }

    /// Runs it, lets the fault strike, and waits for the end. Whatever died is started again by `wait` alone.
    pub(super) fn play(self, arena: &Arena, fault: &Fault) -> Result<Outcome> {
        self.play_with(arena, fault, true)
    }

    fn play_with(self, arena: &Arena, fault: &Fault, armed: bool) -> Result<Outcome> {
        let place = Place::new(&arena.binary, &arena.scratch)?;
        let desk = place.beside("desk");
        let once = place.beside("once");
        std::fs::create_dir(&desk)?;
        std::fs::create_dir(&once)?;
        if self == Self::Plan {
            set(&place, &desk)?;
        }
        let mut daemon = place.call(&["daemon", "start"]);
        if armed {
            fault.arm(&mut daemon, &once);
        }
        // It may die right at its start: that is what some faults are.
        let _ = daemon.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        let run = run_id(&place.verb(&self.submit(arena, &desk)?)?)?;
        let struck = armed && fault.strike(&place)?;
        place.verb(&["wait", &run, "--timeout", "120s"]).context("the run does not end")?;
        let document = place.verb(&["status", &run])?;
        let hit = struck || once.read_dir()?.next().is_some();
        Ok(Outcome { place, run: document, hit })
    }

    fn submit(self, arena: &Arena, desk: &Path) -> Result<Vec<String>> {
        let text = |path: &Path| path.to_str().map(str::to_owned).context("a path that is no text");
        let launcher = |script: &str, selection: &[&str]| -> Result<Vec<String>> {
            let mut words = vec!["submit".to_owned()];
            words.extend(selection.iter().map(ToString::to_string));
            words.extend(["--", "sh", "-c", script, "sh"].map(str::to_owned));
            words.extend([text(desk)?, text(&arena.binary)?]);
            Ok(words)
        };
        match self {
            Self::Plan => Ok(vec!["submit".to_owned(), "plans/board.toml".to_owned()]),
            Self::Journal => launcher(JOURNAL, &["--start-wave", "1", "--end-wave", "2"]),
            Self::Silent => launcher(SILENT, &[]),
        }
    }

    /// Whether it ended as it must.
    pub(super) fn judge(self, arena: &Arena, outcome: &Outcome) -> Result<()> {
        let Outcome { place, run, hit } = outcome;
        let status = run["status"].as_str().unwrap_or_default();
        let disposition = run["terminalDisposition"].as_str().unwrap_or_default();
        match self {
            Self::Plan => {
                ensure!(status == "completed", "{status}: {}", run["features"]);
                ensure!(tree(place)? == arena.tree, "another tree than undisturbed");
                landed(place, run)
            }
            Self::Journal => {
                ensure!(status == "completed", "{status} {disposition}: {}", run["detail"]);
                starts(place, "launcher", 1 + run["resumeAttempts"].as_u64().unwrap_or(0))
            }
            Self::Silent => {
                let ended = status == "failed" && run["exitCode"] == 3;
                let lost = status == "failed"
                    && disposition == "launcher-lost-before-status"
                    && run["exitCode"].is_null();
                ensure!(ended || (*hit && lost), "{status} {disposition} {}", run["exitCode"]);
                starts(place, "launcher", 1)
            }
        }
    }
}

/// Every landed commit is on the branch, and no agent was started more often than is recorded.
fn landed(place: &Place, run: &Value) -> Result<()> {
    for feature in run["features"].as_array().context("no features")? {
        let id = feature["id"].as_str().unwrap_or_default();
        let commit = feature["commit"].as_str().with_context(|| format!("{id} has no commit"))?;
        place
            .git(&["merge-base", "--is-ancestor", commit, "main"])
            .with_context(|| format!("the commit of {id} is lost"))?;
        starts(place, id, feature["attempts"].as_u64().unwrap_or(0))?;
    }
    Ok(())
}

fn starts(place: &Place, name: &str, recorded: u64) -> Result<()> {
    let text = std::fs::read_to_string(place.beside("desk").join("starts")).unwrap_or_default();
    let counted = text.lines().filter(|line| line.split(' ').next() == Some(name)).count() as u64;
    ensure!(counted <= recorded, "{name} was started {counted} times, {recorded} recorded");
    Ok(())
}

fn tree(place: &Place) -> Result<String> {
    let output = std::process::Command::new("git")
        .args(["rev-parse", "main^{tree}"])
        .current_dir(place.repository())
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Puts the demo's repository and crew into a place.
fn set(place: &Place, desk: &Path) -> Result<()> {
    copy(&demo().join("harbour"), &place.repository())?;
    let crew = place.beside("crew");
    copy(&demo().join("crew"), &crew)?;
    let config = place.file("tidegate.toml");
    let text = std::fs::read_to_string(&config)?;
    let text = text.replace("@CREW@", crew.to_str().context("a path that is no text")?);
    let text = text.replace("@DESK@", desk.to_str().context("a path that is no text")?);
    std::fs::write(&config, text)?;
    quietly(std::process::Command::new("chmod").arg("+x").arg(place.file("bin/harbour")))?;
    place.git(&["add", "--all"])?;
    // The config names this place, so it is no part of the tree that is compared.
    place.git(&["rm", "--quiet", "--cached", "tidegate.toml"])?;
    place.git(&["commit", "--quiet", "--message", "Open the harbour"])?;
    place.verb(&["config", "trust"]).map(|_| ())
}

fn copy(from: &Path, to: &PathBuf) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in from.read_dir()? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
