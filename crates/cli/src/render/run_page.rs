//! A run on a page: what it is, where it stands, why, and what comes next.

use std::fmt::Write;

use tidegate_protocol::{
    AgentDoc, FeatureDoc, PauseDoc, RunDoc, RunKind, RunStatus, SaidDoc, WaveDoc,
};

use super::age::age;
use super::style;
use super::table::{queue, table, why};
use crate::error::printable;

/// The page of a run, without a final line break.
pub(crate) fn run_page(run: &RunDoc) -> String {
    let (status, strong) = (style::of_status(run.status), style::STRONG);
    let mut page = format!(
        "{strong}{}{strong:#}  {status}{}{status:#}  {}",
        run.run_id,
        run.status,
        printable(&run.title).replace('\n', " ")
    );
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            let faint = style::FAINT;
            let _ = write!(page, "\n  {faint}{label:<10}{faint:#} {value}");
        }
    };
    row("queue", queue(run));
    row("why", why(run));
    row("held", run.held.as_ref().map(paused_by).unwrap_or_default());
    row("paused", run.paused.as_ref().map(paused_by).unwrap_or_default());
    row("priority", if run.priority == 0 { String::new() } else { run.priority.to_string() });
    row("exit", exit(run));
    row("wave", run.active_wave.map(|wave| wave.to_string()).unwrap_or_default());
    row("recovery", recovery(run));
    row("process", processes(run));
    row("times", times(run));
    row("plan", run.plan_path.clone().unwrap_or_default());
    row("target", run.target.clone().unwrap_or_default());
    row("log", run.launcher_log_path.clone().unwrap_or_default());
    row("state", run.state_path.clone().unwrap_or_default());
    row("facts", facts(run));
    for one in &run.attention {
        let style = style::ATTENTION;
        let _ = write!(
            page,
            "\n{style}needs you:{style:#} {} ({})",
            printable(&one.message),
            printable(&one.unblocks)
        );
    }
    if !run.features.is_empty() {
        let _ = write!(page, "\n\n{}", features(&run.features));
    }
    if !run.agent_runtime_summary.is_empty() {
        let _ = write!(page, "\n\n{}", agents(&run.agent_runtime_summary));
    }
    page
}

/// By whom, since when and why; of lanes also which.
pub(crate) fn paused_by(pause: &PauseDoc) -> String {
    let scope = if pause.scope.starts_with("run ") { "" } else { &format!("{}, ", pause.scope) };
    let reason = pause.reason.as_ref().map(|text| format!(": {}", printable(text)));
    format!(
        "{scope}by {} since {}{}",
        printable(&pause.by),
        pause.since,
        reason.unwrap_or_default()
    )
}

/// The summary of a wave.
pub(crate) fn wave_page(wave: &WaveDoc) -> String {
    let status = style::of_status(wave.status);
    let mut page = format!(
        "{}  {status}{}{status:#}  {}  {}",
        wave.run_id, wave.status, wave.terminal_disposition, wave.recovery_state
    );
    if let Some(detail) = &wave.detail {
        let _ = write!(page, "\n  {}", printable(detail));
    }
    if !wave.agent_runtime_summary.is_empty() {
        let _ = write!(page, "\n\n{}", agents(&wave.agent_runtime_summary));
    }
    page
}

/// The features of a plan run.
pub(crate) fn features(features: &[FeatureDoc]) -> String {
    let rows = features.iter().map(|feature| {
        let state = match &feature.step {
            Some(step) => format!("{} ({step})", feature.state),
            None => feature.state.clone(),
        };
        let blocked = feature
            .blocked
            .as_ref()
            .map(|blocked| format!("{}: {}", blocked.reason, blocked.unblocks));
        let why = blocked.or_else(|| feature.reason.clone()).or_else(|| feature.waits_for.clone());
        let why = why.or_else(|| feature.said.as_ref().map(said));
        let commit: String = feature.commit.iter().flat_map(|oid| oid.chars().take(10)).collect();
        vec![
            feature.wave.to_string(),
            feature.id.clone(),
            state,
            feature.iteration.to_string(),
            commit,
            printable(&why.unwrap_or_default()).replace('\n', " "),
        ]
    });
    table(&["WAVE", "FEATURE", "STATE", "ITERATION", "COMMIT", "WHY"], rows.collect())
}

/// What an agent says of its own work.
fn said(said: &SaidDoc) -> String {
    let percent = said.percent.map(|percent| format!(" ({percent} %)")).unwrap_or_default();
    let verb = if said.done { "says that it is done" } else { "says" };
    format!("its agent {verb}: {}{percent}", said.text)
}

/// How a run ended, in one sentence: the last line of `run` and `wait`.
pub(crate) fn summary(run: &RunDoc) -> String {
    let status = style::of_status(run.status);
    let mut line = format!("{} {status}{}{status:#}", run.run_id, run.status);
    if run.kind == RunKind::Plan {
        let landed = run.features.iter().filter(|feature| feature.landed).count();
        let _ = write!(line, ": {landed} of {} features landed", run.features.len());
    } else if run.status != RunStatus::Failed {
        // How a launcher ended says nothing more about a run that ended well, or by request.
    } else if let Some(code) = run.exit_code.filter(|code| *code != 0) {
        let _ = write!(line, " with exit code {code}");
    } else if let Some(signal) = run.signal {
        let _ = write!(line, " by signal {signal}");
    }
    let why = why(run);
    if !why.is_empty() && run.status != RunStatus::Completed {
        let _ = write!(line, ": {why}");
    }
    line
}

fn agents(agents: &[AgentDoc]) -> String {
    let rows = agents.iter().map(|agent| {
        let number = |value: Option<u32>| value.map(|pid| pid.to_string()).unwrap_or_default();
        let beat = agent.heartbeat_age_ms.map(|ms| format!("{} ago", age(ms)));
        vec![
            agent.agent_id.clone(),
            agent.terminal_disposition.to_string(),
            agent.attempt.to_string(),
            number(agent.pid),
            agent.exit_code.map(|code| code.to_string()).unwrap_or_default(),
            beat.unwrap_or_default(),
        ]
    });
    table(&["AGENT", "STATE", "ATTEMPT", "PID", "EXIT", "HEARTBEAT"], rows.collect())
}

fn exit(run: &RunDoc) -> String {
    match (run.exit_code, run.signal) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => String::new(),
    }
}

fn recovery(run: &RunDoc) -> String {
    if run.kind == RunKind::Plan {
        return String::new();
    }
    let mut text = format!("{}, {}", run.terminal_disposition, run.recovery_state);
    if let Some(action) = run.resume_action {
        let _ = write!(text, ", {action}");
    }
    if run.resume_attempts > 0 {
        let _ = write!(text, ", resumed {} times", run.resume_attempts);
    }
    text
}

fn processes(run: &RunDoc) -> String {
    let shim = run.shim_identity.as_ref().map(|shim| format!(" (shim {})", shim.pid));
    run.launcher_pid.map(|pid| format!("{pid}{}", shim.unwrap_or_default())).unwrap_or_default()
}

fn times(run: &RunDoc) -> String {
    let mut text = format!("submitted {} ago", age(run.ages.submitted_ms));
    for (what, ms) in [("started", run.ages.started_ms), ("ended", run.ages.completed_ms)] {
        if let Some(ms) = ms {
            let _ = write!(text, ", {what} {} ago", age(ms));
        }
    }
    text
}

/// How far the page can be trusted: said only where it is not the recorded state of a live daemon.
fn facts(run: &RunDoc) -> String {
    if run.deleted {
        return "what it left was deleted".to_owned();
    }
    if run.status.is_terminal() && run.recorded {
        return String::new();
    }
    let age = age(run.ages.updated_ms);
    match (run.recorded, run.supervised) {
        (true, true) => String::new(),
        (true, false) => format!("no daemon supervises it; last fact {age} ago"),
        (false, true) => "seen in the files, not recorded yet".to_owned(),
        (false, false) => {
            format!("seen in the files, not recorded: no daemon runs; last fact {age} ago")
        }
    }
}

/// A pending launcher run, for the tests of this folder.
#[cfg(test)]
pub(crate) fn sample() -> RunDoc {
    use tidegate_protocol::{Ages, Disposition, RecoveryState, SessionBackend, Timestamp};
    RunDoc {
        priority: 0,
        held: None,
        paused: None,
        run_id: "r0000010000".into(),
        project: "harbour".into(),
        lane: "main".into(),
        adhoc_run_id: None,
        kind: RunKind::Launcher,
        title: "sh job.sh".into(),
        status: RunStatus::Pending,
        submitted_at: Timestamp::from_ms(0),
        started_at: None,
        updated_at: Timestamp::from_ms(0),
        completed_at: None,
        launcher_args: vec!["sh".into(), "job.sh".into()],
        launcher_pid: None,
        launcher_status_path: None,
        launcher_log_path: None,
        state_path: None,
        exit_code: None,
        signal: None,
        active_wave: None,
        terminal_disposition: Disposition::Pending,
        recovery_state: RecoveryState::Pending,
        resume_action: None,
        resume_attempts: 0,
        resume_limit: Some(1),
        session_backend: SessionBackend::Process,
        supervisor_id: None,
        lease_expires_at: None,
        detail: None,
        agent_runtime_summary: Vec::new(),
        attention: Vec::new(),
        recorded: true,
        deleted: false,
        supervised: true,
        launcher_identity: None,
        shim_identity: None,
        epoch: Some(1),
        ages: Ages { submitted_ms: 1500, ..Ages::default() },
        features: Vec::new(),
        plan_path: None,
        target: None,
        actor: "ada".into(),
        parent_run_id: None,
        cancel_requested_by: None,
        waits_for: Some("waits for r0000000000 in its queue".into()),
        usage: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn page_of_a_pending_run_says_what_it_waits_for() {
        insta::assert_snapshot!(plain(&run_page(&sample())));
    }

    #[test]
    fn page_without_a_daemon_says_how_old_its_facts_are() {
        let mut run = sample();
        run.status = RunStatus::Running;
        (run.recorded, run.supervised) = (false, false);
        run.ages.updated_ms = 61_000;
        insta::assert_snapshot!(plain(&run_page(&run)));
    }

    #[test]
    fn summary_of_a_failed_launcher_names_its_code() {
        let mut run = sample();
        run.status = RunStatus::Failed;
        run.exit_code = Some(3);
        run.waits_for = None;
        insta::assert_snapshot!(plain(&summary(&run)), @"r0000010000 failed with exit code 3");
    }
}
