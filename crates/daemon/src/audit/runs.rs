//! Runs by their log: each fact that can happen once happened once, each queue has one active run.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::ids::{JobId, QueueKey, RunId};
use tidegate_core::run::{Event, JobState, Run, Status};
use tidegate_store::{ListFilter, RunRow, RunStatus, StoreError, View};

use super::finding::{Finding, Invariant};

/// Rows that are read at once.
const PAGE: u32 = 200;

/// The rows of all runs that read back.
pub(super) fn rows(view: &View<'_>) -> Result<Vec<RunRow>, StoreError> {
    let mut rows = Vec::new();
    let mut filter = ListFilter { limit: PAGE, ..ListFilter::default() };
    loop {
        let page = view.list(&filter)?;
        rows.extend(page.runs.into_iter().flatten());
        match page.next {
            Some(seq) => filter.before = Some(seq),
            None => return Ok(rows),
        }
    }
}

pub(super) fn check(
    view: &View<'_>,
    rows: &[RunRow],
    found: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let mut active: BTreeMap<QueueKey, RunId> = BTreeMap::new();
    for row in rows {
        if row.status == RunStatus::Running
            && let Some(other) = active.insert(row.queue.clone(), row.id.clone())
        {
            let text = format!("its queue has another active run, {other}");
            found.push(Finding::new(Invariant::I5, row.id.as_str(), text));
        }
        let events = match view.replay(&row.id) {
            Ok(events) => events,
            // The log's own check names it.
            Err(StoreError::Corrupt(_)) => continue,
            Err(error) => return Err(error),
        };
        once(&row.id, &events, found);
        if let Some(run) = Run::replay(&events) {
            forward(&run, found);
        }
    }
    Ok(())
}

/// Facts that a run has at most once.
fn once(run: &RunId, events: &[Event], found: &mut Vec<Finding>) {
    let mut seen = BTreeSet::new();
    for event in events {
        let Some((invariant, what)) = single(event) else { continue };
        if !seen.insert(what.clone()) {
            found.push(Finding::new(invariant, run.as_str(), format!("{what} more than once")));
        }
    }
    attempts(run, events, found);
}

/// What an event says that can be said once, and which invariant that is of.
fn single(event: &Event) -> Option<(Invariant, String)> {
    if let Event::JobCreated { job, .. } = event {
        return Some((Invariant::I1, format!("job {job} made")));
    }
    if let Event::JobStarted { job, .. } | Event::LauncherStarted { job, .. } = event {
        return Some((Invariant::I1, format!("job {job} started")));
    }
    if let Event::JobFinished { job, .. } = event {
        return Some((Invariant::I1, format!("job {job} finished")));
    }
    if let Event::Landed { feature, .. } = event {
        return Some((Invariant::I3, format!("feature {feature} landed")));
    }
    match event.kind() {
        kind @ ("submitted" | "daemon-claimed") => Some((Invariant::I3, kind.to_owned())),
        "run-completed" | "run-failed" | "run-cancelled" => {
            Some((Invariant::I5, "ended".to_owned()))
        }
        _ => None,
    }
}

/// An attempt of a purpose is made once.
fn attempts(run: &RunId, events: &[Event], found: &mut Vec<Finding>) {
    let mut made = BTreeSet::new();
    for event in events {
        if let Event::JobCreated { job, purpose, attempt, .. } = event
            && !made.insert((purpose.clone(), *attempt, beginnings(events, job)))
        {
            let text = format!("attempt {attempt} of what job {job} is for was made before");
            found.push(Finding::new(Invariant::I1, run.as_str(), text));
        }
    }
}

/// How often anything of the run began anew before a job was made: attempts count from 1 again.
fn beginnings(events: &[Event], job: &JobId) -> usize {
    let before = events
        .iter()
        .take_while(|event| !matches!(event, Event::JobCreated { job: made, .. } if made == job));
    before
        .filter(|event| {
            matches!(
                event,
                Event::FeatureRetried { .. }
                    | Event::Resuming { .. }
                    | Event::TargetMoved { .. }
                    | Event::Unblocked { .. }
                    | Event::IterationFailed { .. }
            )
        })
        .count()
}

/// A run that has not ended has something under way, or something that a person or a turn decides.
fn forward(run: &Run, found: &mut Vec<Finding>) {
    let mut purposes = BTreeMap::new();
    for (id, job) in run.jobs.iter().filter(|(_, job)| job.state.is_live()) {
        if let Some(other) = purposes.insert(job.purpose.clone(), id) {
            let text = format!("jobs {other} and {id} live for one purpose");
            found.push(Finding::new(Invariant::I1, run.id.as_str(), text));
        }
    }
    let Status::Running { .. } = run.status else { return };
    let waits = run.plan().is_some()
        || run.jobs.values().any(|job| matches!(job.state, JobState::Quarantined { .. }));
    if run.outstanding().is_empty() && !waits {
        let text = "it runs, yet nothing is under way and nobody is asked";
        found.push(Finding::new(Invariant::I5, run.id.as_str(), text));
    }
}
