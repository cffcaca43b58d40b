//! What the demo says at its end, as data and as text, and whether everything happened that it promises.

use std::fmt::Write;

use serde::Serialize;
use tidegate_protocol::EventView;

use crate::demo::stage::{HELD, Stage};
use crate::demo::watch::Seen;
use crate::error::CliError;
use crate::render::style;

/// Features of the plan.
const FEATURES: usize = 6;

/// The end of a demo.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Whether everything happened that the demo promises.
    pub(super) complete: bool,
    /// What did not.
    missing: Vec<String>,
    landed: Vec<Landed>,
    killed: Vec<Killed>,
    daemon: Option<Reigns>,
    repaired: Vec<Repaired>,
    starts: Vec<Starts>,
    tests: Tests,
    repository: String,
    home: String,
    run: String,
    elapsed_ms: u64,
    #[serde(skip)]
    place: String,
    #[serde(skip)]
    board: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Landed {
    feature: String,
    wave: u32,
    title: String,
    commit: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Killed {
    feature: String,
    job: String,
    pid: u32,
    how: &'static str,
    came_back_as: Option<String>,
    attempt: Option<u32>,
}

/// The daemon that was killed, and the one that went on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Reigns {
    pid: u32,
    epoch: u64,
    how: &'static str,
    came_back_as: u32,
    next_epoch: u64,
    /// Process of the agent that worked on meanwhile and was taken over.
    adopted: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Repaired {
    feature: String,
    gate: String,
    job: String,
    evidence: String,
    iterations: u32,
}

/// Starts of a feature's agent: as it counted them itself, and as they are recorded.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Starts {
    feature: String,
    counted: usize,
    recorded: u32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tests {
    passed: bool,
    summary: String,
}

impl Report {
    /// Draws it up from what was seen and from what lies on the stage now.
    ///
    /// # Errors
    /// When the tests of the repository cannot be started.
    pub(super) fn new(stage: &Stage, seen: &Seen, elapsed_ms: u64) -> Result<Self, CliError> {
        let (passed, output) = stage.test()?;
        let mut report = Self {
            complete: false,
            missing: Vec::new(),
            landed: landed(seen),
            killed: killed(seen).into_iter().collect(),
            daemon: reigns(seen),
            repaired: repaired(stage, seen),
            starts: starts(stage, seen),
            tests: Tests { passed, summary: output.lines().last().unwrap_or_default().to_owned() },
            repository: stage.repository.display().to_string(),
            home: stage.home.display().to_string(),
            run: seen.run.run_id.clone(),
            elapsed_ms,
            place: stage.place.display().to_string(),
            board: stage.board(),
        };
        report.missing = report.find_missing(stage, seen);
        report.complete = report.missing.is_empty();
        Ok(report)
    }

    fn find_missing(&self, stage: &Stage, seen: &Seen) -> Vec<String> {
        let mut missing = Vec::new();
        for feature in seen.run.features.iter().filter(|feature| !feature.landed) {
            let why = feature.reason.as_deref().unwrap_or("no reason is recorded");
            missing.push(format!("{} is {}, not landed: {why}", feature.id, feature.state));
        }
        if self.landed.len() < FEATURES {
            missing.push(format!("{} of {FEATURES} features landed", self.landed.len()));
        }
        for landed in &self.landed {
            if !landed.commit.as_deref().is_some_and(|commit| stage.has(commit)) {
                missing.push(format!("the commit of {} is not on the branch", landed.feature));
            }
        }
        match self.killed.first() {
            None => missing.push("no agent was killed".to_owned()),
            Some(killed) if killed.came_back_as.is_none() => {
                missing.push(format!("the agent of {} did not come back", killed.feature));
            }
            Some(_) => {}
        }
        if self.daemon.as_ref().is_none_or(|daemon| daemon.adopted.is_none()) {
            missing.push("the daemon was not killed and replaced under a working agent".to_owned());
        }
        if self.repaired.is_empty() {
            missing.push("no gate failed, so nothing was repaired".to_owned());
        }
        for starts in &self.starts {
            if starts.counted != starts.recorded as usize {
                let Starts { feature, counted, recorded } = starts;
                missing.push(format!(
                    "{feature} was started {counted} times, {recorded} are recorded"
                ));
            }
        }
        if !self.tests.passed {
            missing.push(format!("the tests of the branch fail: {}", self.tests.summary));
        }
        missing
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        let (strong, good, bad, faint) = (style::STRONG, style::GOOD, style::BAD, style::FAINT);
        let mut text = String::new();
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        line(format!("\n{strong}Landed on main{strong:#}"));
        for Landed { feature, title, commit, .. } in &self.landed {
            let commit = commit.as_deref().map_or("-", short);
            line(format!("  {good}{commit}{good:#}  {feature:<8} {title}"));
        }
        line(format!("\n{strong}Killed{strong:#}"));
        if let Some(Reigns { pid, came_back_as, adopted, .. }) = &self.daemon {
            line(format!("  the daemon: process {pid}, by SIGKILL while agents worked"));
            let adopted = adopted.map_or("nobody".to_owned(), |pid| format!("process {pid}"));
            line(format!(
                "  came back as process {came_back_as} and took over {adopted} of {HELD}"
            ));
        }
        for Killed { feature, job, pid, came_back_as, attempt, .. } in &self.killed {
            line(format!("  {feature}: job {job}, process {pid}, by SIGKILL in mid-work"));
            if let (Some(job), Some(attempt)) = (came_back_as, attempt) {
                line(format!("  came back as job {job}, attempt {attempt}, in the same worktree"));
            }
        }
        for Repaired { feature, gate, evidence, iterations, .. } in &self.repaired {
            line(format!("\n{strong}Repaired{strong:#}"));
            line(format!("  {feature}: gate `{gate}` failed on its first commit"));
            line(format!("  {bad}{evidence}{bad:#}"));
            line(format!("  its agent read that and mended it: {iterations} iterations"));
        }
        line(format!("\n{strong}Tests of the branch{strong:#}\n  {}", self.tests.summary));
        if let Some(board) = &self.board {
            line(format!("\n{strong}$ bin/harbour notice 10:00{strong:#}"));
            board.lines().for_each(|row| line(format!("  {row}")));
        }
        for missing in &self.missing {
            line(format!("\n{bad}missing:{bad:#} {missing}"));
        }
        let _ = write!(text, "\n{}", self.places(&faint.to_string(), &format!("{faint:#}")));
        text
    }

    fn places(&self, faint: &str, plain: &str) -> String {
        let Self { repository, home, run, place, .. } = self;
        let seconds = self.elapsed_ms / 1000;
        let tenths = self.elapsed_ms % 1000 / 100;
        format!(
            "Everything took {seconds}.{tenths} s and is below {place}:\n\
             \u{20} git -C {repository} log --graph --oneline\n\
             \u{20} tidegate --home {home} status {run}\n\
             \u{20} tidegate --home {home} explain {run} --feature {HELD}\n\
             \u{20} tidegate --home {home} events {run}\n\
             {faint}  rm -r {place}   # when you have seen enough; its daemon is stopped{plain}\n"
        )
    }
}

fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

fn landed(seen: &Seen) -> Vec<Landed> {
    let landed = seen.run.features.iter().filter(|feature| feature.landed);
    landed
        .map(|feature| Landed {
            feature: feature.id.clone(),
            wave: feature.wave,
            title: feature.title.clone(),
            commit: feature.commit.clone(),
        })
        .collect()
}

fn killed(seen: &Seen) -> Option<Killed> {
    let victim = seen.victim.as_ref()?;
    let agents = seen.run.agent_runtime_summary.iter();
    let successor = agents
        .filter(|agent| agent.feature.as_deref() == Some(HELD))
        .find(|agent| agent.job_id.as_ref().is_some_and(|job| *job != victim.job));
    Some(Killed {
        feature: HELD.to_owned(),
        job: victim.job.clone(),
        pid: victim.pid,
        how: "SIGKILL",
        came_back_as: successor.and_then(|agent| agent.job_id.clone()),
        attempt: successor.map(|agent| agent.attempt),
    })
}

fn reigns(seen: &Seen) -> Option<Reigns> {
    let (killed, next) = seen.daemons.as_ref()?;
    Some(Reigns {
        pid: killed.pid,
        epoch: killed.epoch,
        how: "SIGKILL",
        came_back_as: next.pid,
        next_epoch: next.epoch,
        adopted: seen.adopted.as_ref().map(|agent| agent.pid),
    })
}

fn repaired(stage: &Stage, seen: &Seen) -> Vec<Repaired> {
    let mended = seen.run.features.iter().filter(|feature| feature.landed && feature.iteration > 1);
    mended
        .filter_map(|feature| {
            let of_feature = |event: &&EventView| event.feature.as_deref() == Some(&feature.id);
            let failure = seen.failures.iter().find(of_feature)?;
            let text = |key: &str| Some(failure.body.get(key)?.as_str()?.to_owned());
            let job = text("job")?;
            let output = stage.home.join("jobs").join(&job).join("output.0");
            let log = std::fs::read_to_string(output).unwrap_or_default();
            let evidence = log.lines().find(|line| line.starts_with("not ok")).unwrap_or_default();
            Some(Repaired {
                feature: feature.id.clone(),
                gate: text("gate")?,
                job,
                evidence: evidence.to_owned(),
                iterations: feature.iteration,
            })
        })
        .collect()
}

fn starts(stage: &Stage, seen: &Seen) -> Vec<Starts> {
    let features = seen.run.features.iter();
    features
        .map(|feature| Starts {
            feature: feature.id.clone(),
            counted: stage.starts(&feature.id),
            recorded: feature.attempts,
        })
        .collect()
}
