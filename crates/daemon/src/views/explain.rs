//! Why a run runs, waits, failed or was ended: a sentence, and the recorded facts behind it.

use serde_json::Value;
use tidegate_core::launcher::{Launcher, LauncherSpec, Source};
use tidegate_core::run::{JobState, Purpose, Run, Status};
use tidegate_protocol::{EventView, ExplainDoc, Fact};

use super::attention::attention;
use super::explain_feature::feature_lines;
use super::job_doc::end_in_words;
use super::moment::stamp;
use super::run_doc::{Facts, waits_for};
use super::waiting::{pause_in_words, queue_name};
use super::words::Words;

/// Events that are shown as facts, newest last.
const EVENTS_SHOWN: usize = 12;

/// Fields of events that explain nothing to a person.
const UNTOLD: [&str; 4] = ["at", "env", "runSeq", "generation"];

/// Explains a run as a whole. `events` are its newest ones, oldest first.
pub fn explain_run(facts: &Facts<'_>, events: &[EventView]) -> ExplainDoc {
    let run = &facts.derived.run;
    let attention = attention(facts.derived);
    let mut found = Vec::new();
    queue_facts(facts, &mut found);
    match run.launcher() {
        Some((spec, launcher)) => launcher_facts(run, spec, launcher, &mut found),
        None => feature_lines(run, facts.paths, &mut found),
    }
    found.extend(event_facts(events));
    let next = attention.first().map(|item| item.unblocks.clone());
    let next = next.or_else(|| to_resume(facts)).or_else(|| no_daemon(facts));
    ExplainDoc {
        run_id: run.id.to_string(),
        feature: None,
        status: run.status.word().to_owned(),
        because: because(facts),
        next,
        requires_human: !attention.is_empty(),
        facts: found,
        supervised: facts.daemon.running,
        recorded: facts.derived.recorded,
    }
}

/// What an open run needs when no daemon lives.
pub(super) fn no_daemon(facts: &Facts<'_>) -> Option<String> {
    let open = !facts.derived.run.status.is_terminal();
    (open && !facts.daemon.running).then(|| "no daemon runs: `tidegate daemon start`".to_owned())
}

/// What lets a held run, or one in a paused queue, begin.
pub(super) fn to_resume(facts: &Facts<'_>) -> Option<String> {
    let run = &facts.derived.run;
    if run.status.is_terminal() {
        return None;
    }
    if run.hold.is_some() {
        return Some(format!("tidegate resume {}", run.id));
    }
    let (scope, _) = facts.queue?.paused.as_ref()?;
    Some(resume_lanes(scope))
}

/// The command that ends a pause of lanes.
fn resume_lanes(scope: &tidegate_core::pause::Scope) -> String {
    let lane = scope.lane.as_ref().map(|lane| format!(" --lane {lane}")).unwrap_or_default();
    match &scope.project {
        Some(project) => format!("tidegate resume --project {project}{lane}"),
        None => format!("tidegate resume --all{lane}"),
    }
}

/// A fact without an event.
pub(super) fn fact(about: &str, text: String) -> Fact {
    Fact { about: about.to_owned(), text, at: None, seq: None }
}

/// The newest events as facts.
pub(super) fn event_facts(events: &[EventView]) -> impl Iterator<Item = Fact> {
    let from = events.len().saturating_sub(EVENTS_SHOWN);
    events[from..].iter().map(|event| Fact {
        about: event.kind.clone(),
        text: event_line(event),
        at: Some(event.recorded_at.clone()),
        seq: Some(event.seq),
    })
}

/// Whose event it is and its plain values, in one line; what stands below a value with the name of that.
fn event_line(event: &EventView) -> String {
    let mut words: Vec<String> = event.feature.iter().cloned().collect();
    for (key, value) in event.body.iter().filter(|(key, _)| !UNTOLD.contains(&key.as_str())) {
        if let Value::Object(below) = value {
            let told = below.iter().filter_map(|(name, value)| plain(name, value));
            words.extend(told.map(|word| format!("{key}.{word}")));
        } else {
            words.extend(plain(key, value));
        }
    }
    if words.is_empty() { event.kind.replace('-', " ") } else { words.join(" ") }
}

fn plain(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!("{key}={text}")),
        Value::Number(number) => Some(format!("{key}={number}")),
        Value::Bool(truth) => Some(format!("{key}={truth}")),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn because(facts: &Facts<'_>) -> String {
    let run = &facts.derived.run;
    let words = Words::of(facts.derived);
    let waits = waits_for(facts);
    let odd = facts.derived.odd.first().filter(|_| !run.status.is_terminal());
    if let Some((job, why)) = odd {
        return format!("the records of job {job} contradict each other: {why}");
    }
    match &run.status {
        Status::Pending => format!("it waits for {}", waits.unwrap_or_default()),
        Status::Running { cancel: Some(actor), .. } if !facts.derived.stalled.is_empty() => {
            let stalls = facts
                .derived
                .stalled
                .iter()
                .map(|(job, stall)| format!("job {job} cannot be ended: {}", stall.words));
            let stalls: Vec<String> = stalls.collect();
            format!("{actor} asked for its end; {}", stalls.join("; "))
        }
        Status::Running { cancel: Some(actor), .. } => {
            let live = run.jobs.values().filter(|job| job.state.is_live()).count();
            let jobs = if live == 1 { "1 job is".to_owned() } else { format!("{live} jobs are") };
            format!("{actor} asked for its end; {jobs} being ended")
        }
        Status::Running { cancel: None, .. } => match (words.detail, waits) {
            (Some(detail), _) => detail,
            (None, Some(waits)) => format!("it waits for {waits}"),
            (None, None) => running(run),
        },
        Status::Completed { .. } => match run.launcher() {
            Some((_, launcher)) => settled(launcher, "it ended well"),
            None => "every feature landed".to_owned(),
        },
        Status::Failed { detail, .. } => {
            let why = detail.clone().unwrap_or_else(|| "it ended badly".to_owned());
            match run.launcher() {
                Some((_, launcher)) => settled(launcher, &why),
                None => why,
            }
        }
        Status::Cancelled { actor, .. } => format!("{actor} asked for its end"),
    }
}

fn running(run: &Run) -> String {
    let live: Vec<String> = run
        .jobs
        .iter()
        .filter(|(_, job)| job.state.is_live())
        .map(|(id, job)| format!("{} {id}", job.purpose.word()))
        .collect();
    match live.as_slice() {
        [] => "it goes on: the next step is being prepared".to_owned(),
        live => format!("it works: {}", live.join(", ")),
    }
}

fn settled(launcher: &Launcher, otherwise: &str) -> String {
    let Some(settled) = &launcher.settled else { return otherwise.to_owned() };
    let code = settled.code.map(|code| format!(", code {code}")).unwrap_or_default();
    let detail = settled.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
    match settled.source {
        Source::ExitRecord => format!("its launcher's exit record says so{code}{detail}"),
        Source::ProgressJournal => {
            format!("its launcher was lost, its journal had the final word{code}")
        }
        Source::Nothing => {
            format!("its launcher was lost before it left a word, and may not be resumed{detail}")
        }
    }
}

fn queue_facts(facts: &Facts<'_>, found: &mut Vec<Fact>) {
    let run = &facts.derived.run;
    let name = queue_name(&run.queue);
    if let Some(hold) = &run.hold {
        found.push(fact("pause", pause_in_words("the run is held", hold)));
    }
    let Some(place) = facts.queue else {
        found.push(fact("queue", format!("submitted to {name} by {}", run.actor)));
        return;
    };
    let position = place.ahead + 1;
    found.push(fact("queue", format!("number {position} of those that wait in {name}")));
    if let Some(active) = &place.active {
        found.push(fact("queue", format!("{active} is active in {name}")));
    }
    if run.priority != 0 {
        found.push(fact("queue", format!("priority {}; the usual one is 0", run.priority)));
    }
    if let Some((scope, pause)) = &place.paused {
        let text = pause_in_words(&format!("{} is paused", scope.name()), pause);
        found.push(fact("pause", text));
    }
    if let Some(why) = &place.held {
        found.push(fact("queue", format!("{name} is held: {why}")));
    }
}

fn launcher_facts(run: &Run, spec: &LauncherSpec, launcher: &Launcher, found: &mut Vec<Fact>) {
    for (id, job) in &run.jobs {
        let text = match &job.purpose {
            Purpose::Launcher { resume_wave: None } => format!("launcher {id}"),
            Purpose::Launcher { resume_wave: Some(wave) } => {
                format!("launcher {id}, resumed at wave {wave}")
            }
            Purpose::LauncherAgent { agent, .. } => format!("agent {agent}, {id}"),
            Purpose::Agent { .. } | Purpose::Gate { .. } | Purpose::Hook { .. } => continue,
        };
        found.push(job_fact(&text, &job.state));
    }
    if let Some(journal) = &launcher.journal {
        let wave = journal.wave.map_or("no wave".to_owned(), |wave| format!("wave {wave}"));
        let phase = journal.phase.as_ref().map(|phase| format!(", {phase}")).unwrap_or_default();
        let mut told = fact("progress", format!("its journal says {wave}{phase}"));
        told.at = Some(stamp(journal.at));
        found.push(told);
    }
    let (used, limit) = (launcher.resumes_since_progress, spec.resumes_max);
    found.push(fact("resume", format!("{used} of {limit} resumes without progress are used")));
}

/// How a job stands, as a fact.
pub(super) fn job_fact(what: &str, state: &JobState) -> Fact {
    let (text, at) = match state {
        JobState::Launching => (format!("{what} is about to start"), None),
        JobState::Running(started) => {
            (format!("{what} runs, pid {}", started.child.pid), Some(started.at))
        }
        JobState::Stopping { actor, .. } => {
            (format!("{what} is being ended, asked by {actor}"), None)
        }
        JobState::Finished { exit, .. } => {
            (format!("{what} {}", end_in_words(exit)), Some(exit.at))
        }
        JobState::Quarantined { detail, .. } => {
            (format!("the records of {what} contradict each other: {detail}"), None)
        }
    };
    Fact { about: "job".to_owned(), text, at: at.map(stamp), seq: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(feature: Option<&str>, body: Value) -> String {
        let Value::Object(body) = body else { return String::new() };
        event_line(&EventView {
            seq: 1,
            n: 1,
            subject: "run:r1".to_owned(),
            kind: "merge-prepared".to_owned(),
            run_id: Some("r1".to_owned()),
            feature: feature.map(str::to_owned),
            recorded_at: stamp(tidegate_core::time::WallMs(0)),
            body,
        })
    }

    #[test]
    fn event_says_whose_it_is_and_what_stands_below_its_values() {
        let body = serde_json::json!({"merged": {"commit": "c0ffee", "deep": {"a": 1}}, "at": 7});
        assert_eq!(line(Some("berths"), body), "berths merged.commit=c0ffee");
        assert_eq!(line(None, serde_json::json!({"at": 7})), "merge prepared");
    }
}
