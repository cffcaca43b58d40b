//! What must hold of the log: epochs only rise, queues are first in first out with one run at a
//! time, an end is final, and what the log says of landings is what happened to the targets.

use std::collections::BTreeMap;

use tidegate_core::ids::{GateName, QueueKey, RunId};
use tidegate_core::plan::OnFailure;
use tidegate_core::run::{Event, Feature, FeatureState, Run};
use tidegate_store::{EventFilter, EventRow, StoreError, View};

use super::super::course::World;

/// Events that are read at once.
const PAGE: u32 = 2_000;

impl World {
    pub(super) fn broken_log(&self, view: &View<'_>) -> Result<Option<String>, StoreError> {
        let mut watch = Watch::default();
        let mut after = 0;
        loop {
            let page = view.events_after(after, &EventFilter::default(), PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for row in &page {
                let queue = row.run.as_ref().and_then(|run| self.ended.get(run));
                if let Some(why) = watch.broken_by(row, queue.map(|run| &run.queue)) {
                    return Ok(Some(why));
                }
            }
        }
        for (id, ended) in &self.ended {
            let events = view.replay(id)?;
            let told = broken_run(&events).or_else(|| self.broken_landings(id, &events));
            if told.is_some() {
                return Ok(told);
            }
            let rebuilt = Run::replay(&events);
            if rebuilt.as_ref().map(|run| &run.status) != Some(&ended.status) {
                return Ok(Some(format!("the recorded end of {id} is another one")));
            }
        }
        Ok(None)
    }

    /// What the log says of landings, against what moved the targets.
    fn broken_landings(&self, id: &RunId, events: &[Event]) -> Option<String> {
        let run = Run::replay(events)?;
        let (spec, plan) = run.plan()?;
        let repo = self.repos.get(self.places.get(run.queue.project.as_str())?)?;
        let tip = repo.refs.get(&spec.target)?;
        for (feature, found) in &plan.features {
            let moved = self.book.landings.get(&(id.clone(), feature.clone()));
            match (&found.state, moved) {
                (FeatureState::Landed { commit: Some(commit) }, _) => {
                    if !repo.is_ancestor(commit, tip) {
                        return Some(format!("{feature} of {id} landed, and is not there"));
                    }
                }
                (FeatureState::Landed { commit: None }, Some(_)) => {
                    return Some(format!("{feature} of {id} landed more than it says"));
                }
                (FeatureState::Landed { commit: None }, None) => {
                    let gates = &spec.features.get(feature)?.gates;
                    let tree = repo.tree_id(&found.tested.as_ref()?.commit);
                    let unmet = |gate: &&GateName| {
                        !self.book.passed.contains(&((*gate).clone(), tree.clone()))
                    };
                    if let Some(gate) = gates.iter().find(unmet) {
                        return Some(format!("{feature} of {id} landed without gate {gate}"));
                    }
                }
                (state, Some(_)) => {
                    let state = state.word();
                    return Some(format!("{feature} of {id} is on the target, but {state}"));
                }
                (_, None) => {}
            }
        }
        let lost = repo.rivals.iter().find(|(target, rival)| {
            repo.refs.get(target).is_some_and(|tip| !repo.is_ancestor(rival, tip))
        });
        lost.map(|(target, rival)| format!("the rival's {rival} is lost from {target}"))
    }
}

/// What is remembered along the whole log.
#[derive(Debug, Default)]
struct Watch {
    epoch: u64,
    seq: u64,
    active: BTreeMap<QueueKey, RunId>,
    waiting: BTreeMap<QueueKey, BTreeMap<RunId, Turn>>,
    ended: Vec<RunId>,
}

/// What says when a waiting run has its turn, beside its age.
#[derive(Debug, Default)]
struct Turn {
    priority: i64,
    held: bool,
}

impl Watch {
    fn broken_by(&mut self, row: &EventRow, queue: Option<&QueueKey>) -> Option<String> {
        if row.epoch < self.epoch || row.seq <= self.seq {
            return Some(format!("I7: event {} of epoch {} comes late", row.seq, row.epoch));
        }
        (self.epoch, self.seq) = (row.epoch, row.seq);
        let (Some(run), Some(queue)) = (&row.run, queue) else { return None };
        match row.kind.as_str() {
            "daemon-claimed" => {
                if let Some(other) = self.active.insert(queue.clone(), run.clone()) {
                    return Some(format!("I5: {run} was claimed while {other} was active"));
                }
                let waiting = self.waiting.entry(queue.clone()).or_default();
                let own = waiting.remove(run).unwrap_or_default();
                let first = waiting.iter().find(|(other, turn)| {
                    let sooner = turn.priority == own.priority && *other < run;
                    !turn.held && (turn.priority > own.priority || sooner)
                });
                if own.held {
                    return Some(format!("I5: {run} was claimed while it was held"));
                }
                if let Some((first, _)) = first {
                    return Some(format!(
                        "I5: {run} was claimed before {first}, whose turn it was"
                    ));
                }
            }
            "submitted" | "run-held" | "run-released" | "priority-changed" => {
                self.turn_changed(row, queue, run);
            }
            "run-completed" | "run-failed" | "run-cancelled" => {
                if self.ended.contains(run) {
                    return Some(format!("{run} ended twice"));
                }
                self.ended.push(run.clone());
                self.waiting.entry(queue.clone()).or_default().remove(run);
                if self.active.get(queue) == Some(run) {
                    self.active.remove(queue);
                }
            }
            _ => {}
        }
        None
    }
}

impl Watch {
    fn turn_changed(&mut self, row: &EventRow, queue: &QueueKey, run: &RunId) {
        let waiting = self.waiting.entry(queue.clone()).or_default();
        if row.kind == "submitted" {
            waiting.insert(run.clone(), Turn::default());
        }
        // One that has been claimed has had its turn.
        let Some(turn) = waiting.get_mut(run) else { return };
        let body: serde_json::Value = serde_json::from_str(&row.body).unwrap_or_default();
        turn.priority = body["priority"].as_i64().unwrap_or(turn.priority);
        turn.held = match row.kind.as_str() {
            "run-held" => true,
            "run-released" => false,
            _ => turn.held,
        };
    }
}

/// What must hold along one run's own log.
fn broken_run(events: &[Event]) -> Option<String> {
    let mut run = match events.first() {
        Some(Event::Submitted(first)) => Run::from_submitted(first),
        _ => return Some("a log does not begin with its submit".to_owned()),
    };
    for event in events.iter().skip(1) {
        if run.status.is_terminal() && !is_about_agents(event) {
            return Some(format!("{} goes on after its end: {}", run.id, event.kind()));
        }
        if let Event::FeatureAdmitted { feature } = event
            && let Some((spec, plan)) = run.plan()
            && plan.features.get(feature).is_some_and(|f| f.state == FeatureState::Queued)
        {
            let wave = spec.wave_of(feature);
            let early = spec.in_order().find(|(number, id)| {
                let over = match spec.on_failure {
                    OnFailure::Stop => plan.is_landed(id),
                    OnFailure::Continue => plan.features.get(id).is_some_and(Feature::is_terminal),
                };
                Some(*number) < wave && !over
            });
            if let Some((_, id)) = early {
                return Some(format!("barrier: {feature} of {} came before {id}", run.id));
            }
        }
        run.apply(event);
    }
    None
}

/// What is told of a launcher's agents after its end.
fn is_about_agents(event: &Event) -> bool {
    matches!(event, Event::AgentRegistered { .. } | Event::AgentExited { .. })
}

#[cfg(test)]
mod tests;
