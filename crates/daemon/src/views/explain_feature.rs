//! Why a feature of a plan run is where it is.

use tidegate_core::ids::FeatureId;
use tidegate_core::run::{Feature, FeatureState, Feedback, LandStep, Purpose, Run, WorkStep};
use tidegate_protocol::{EventView, ExplainDoc, Fact, Problem};

use super::attention::attention;
use super::budgets::budget_facts;
use super::evidence::{counts, evidence};
use super::explain::{event_facts, fact, job_fact, no_daemon, to_resume};
use super::furnished::furnished_facts;
use super::job_doc::end_in_words;
use super::locks::lock_fact;
use super::people::people_facts;
use super::place::HomePaths;
use super::run_doc::Facts;
use super::waiting::{barrier, feature_waits_for, lack};

/// Explains one feature. `events` are its newest ones, oldest first.
///
/// # Errors
/// `not_found` when the run has no such feature.
pub fn explain_feature(
    facts: &Facts<'_>,
    id: &FeatureId,
    events: &[EventView],
) -> Result<ExplainDoc, Problem> {
    let run = &facts.derived.run;
    let missing = || Problem::not_found(format!("run {} has no feature `{id}`", run.id));
    let (spec, plan) = run.plan().ok_or_else(missing)?;
    let feature = plan.features.get(id).ok_or_else(missing)?;
    let mut found = Vec::new();
    if let Some((wave, open)) = barrier(spec, plan, id) {
        let names: Vec<&str> = open.iter().map(|id| id.as_str()).collect();
        found.push(fact("wave", format!("wave {wave} is not done: {}", names.join(", "))));
    }
    let needs = spec.features.get(id).map(|feature| feature.needs.as_slice()).unwrap_or_default();
    for need in needs {
        let word = plan.features.get(need).map_or("not part of the run", |f| f.state.word());
        found.push(fact("needs", format!("needs `{need}`, which is {word}")));
    }
    found.extend(spec.features.get(id).and_then(|own| lock_fact(own, feature)));
    found.extend(budget_facts(run, id));
    found.extend(furnished_facts(&feature.furnished));
    job_facts(run, id, &mut found);
    gate_facts(run, id, facts.paths, &mut found);
    if let Some(feedback) = &feature.feedback {
        found.push(fact("feedback", feedback_line(feedback)));
    }
    people_facts(run, id, &mut found);
    found.extend(event_facts(events));
    let waits = feature_waits_for(run, (spec, plan), id, lack(run, facts.paths).as_deref());
    let needed = attention(facts.derived)
        .into_iter()
        .find(|item| item.feature.as_deref() == Some(id.as_str()));
    Ok(ExplainDoc {
        run_id: run.id.to_string(),
        feature: Some(id.to_string()),
        status: feature.state.word().to_owned(),
        because: because(run, id, feature, waits),
        requires_human: needed.is_some(),
        next: needed
            .map(|item| item.unblocks)
            .or_else(|| to_resume(facts))
            .or_else(|| no_daemon(facts)),
        facts: found,
        supervised: facts.daemon.running,
        recorded: facts.derived.recorded,
    })
}

/// A line for each feature of a run that is not done, and for each that failed.
pub(super) fn feature_lines(run: &Run, paths: &HomePaths, found: &mut Vec<Fact>) {
    let Some((spec, plan)) = run.plan() else { return };
    let lack = lack(run, paths);
    let landed = plan.features.keys().filter(|id| plan.is_landed(id)).count();
    found.push(fact("plan", format!("{landed} of {} features have landed", plan.features.len())));
    // Features of a wave that stand where they do for one reason are told in one line.
    let mut told: Vec<(u32, String, Vec<&FeatureId>)> = Vec::new();
    for (wave, id) in spec.in_order() {
        let Some(feature) = plan.features.get(id).filter(|_| !plan.is_landed(id)) else { continue };
        let waits = feature_waits_for(run, (spec, plan), id, lack.as_deref());
        let why = because(run, id, feature, waits);
        match told.iter_mut().find(|(of, known, _)| *of == wave && *known == why) {
            Some((.., ids)) => ids.push(id),
            None => told.push((wave, why, vec![id])),
        }
    }
    for (wave, why, ids) in told {
        found.push(fact("feature", format!("{} of wave {wave}: {why}", named(&ids))));
        let failed = |id: &&FeatureId| {
            let feature = plan.features.get(*id);
            feature.is_some_and(|feature| matches!(feature.state, FeatureState::Failed { .. }))
        };
        for id in ids.into_iter().filter(failed) {
            gate_facts(run, id, paths, found);
        }
    }
}

/// Some features in words; a long list by its beginning.
fn named(ids: &[&FeatureId]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = ids.iter().take(SHOWN).map(|id| format!("`{id}`")).collect();
    match ids.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Why it is where it is.
pub(super) fn because(
    run: &Run,
    id: &FeatureId,
    feature: &Feature,
    waits: Option<String>,
) -> String {
    if let Some(waits) = waits {
        return match &feature.state {
            FeatureState::Blocked(_) => format!("blocked: {waits}"),
            FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Landing(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => format!("it waits for {waits}"),
        };
    }
    match &feature.state {
        FeatureState::Landed { commit: Some(commit) } => format!("it landed as {commit}"),
        FeatureState::Landed { commit: None } => "it had nothing to change".to_owned(),
        FeatureState::Failed { reason } => format!("it failed: {reason}"),
        FeatureState::Cancelled { actor } => format!("{actor} asked for its end"),
        FeatureState::Skipped { cause } => format!("`{cause}` did not land"),
        FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Landing(_)
        | FeatureState::Blocked(_) => match feature.job() {
            Some(job) => format!("{} for iteration {}", works(run, job), feature.iteration),
            None => under_way(id, &feature.state),
        },
    }
}

/// What is done for a feature that no job works on.
fn under_way(id: &FeatureId, state: &FeatureState) -> String {
    match state {
        FeatureState::Working { step: WorkStep::Preparing, .. } => {
            format!("the worktree of `{id}` is being made or brought up to date")
        }
        FeatureState::Working { step: WorkStep::RollingBack(number), .. } => {
            format!("the worktree of `{id}` is being put back to snapshot {number}")
        }
        FeatureState::Landing(LandStep::Merging) => format!("the merge of `{id}` is being made"),
        FeatureState::Landing(LandStep::Updating { merged }) => {
            format!("the target is being moved to {}", merged.commit)
        }
        FeatureState::Verifying { .. } | FeatureState::InReview => {
            format!("what `{id}` changed is being looked at")
        }
        FeatureState::Working { .. }
        | FeatureState::Queued
        | FeatureState::Landing(_)
        | FeatureState::Blocked(_)
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => format!("the next step of `{id}` is under way"),
    }
}

fn works(run: &Run, job: &tidegate_core::ids::JobId) -> String {
    match run.jobs.get(job).map(|job| &job.purpose) {
        Some(Purpose::Agent { role, .. }) => format!("{role} {job} works"),
        Some(Purpose::Gate { gate, .. }) => format!("gate {gate} runs as {job}"),
        Some(Purpose::Hook { hook, .. }) => format!("the {} runs as {job}", hook.word()),
        Some(Purpose::Launcher { .. } | Purpose::LauncherAgent { .. }) | None => {
            format!("{job} works")
        }
    }
}

fn job_facts(run: &Run, id: &FeatureId, found: &mut Vec<Fact>) {
    for (job_id, job) in &run.jobs {
        let what = match &job.purpose {
            Purpose::Agent { feature, role, iteration } if feature == id => {
                format!("{role} {job_id}, iteration {iteration}, attempt {},", job.attempt)
            }
            Purpose::Gate { feature, gate, .. } if feature == id => {
                format!("gate {gate} {job_id}")
            }
            Purpose::Hook { feature, hook, .. } if feature == id => {
                format!("{} {job_id}", hook.word())
            }
            Purpose::Agent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. }
            | Purpose::Launcher { .. }
            | Purpose::LauncherAgent { .. } => continue,
        };
        found.push(job_fact(&what, &job.state));
    }
}

fn gate_facts(run: &Run, id: &FeatureId, paths: &HomePaths, found: &mut Vec<Fact>) {
    for evidence in evidence(run, id, paths) {
        let verdict = match evidence.passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "runs",
        };
        let tree = if evidence.merged { "the merged commit" } else { "commit" };
        let before = match evidence.failures {
            failures if evidence.flaky => format!(" (flaky: it failed {failures} times before)"),
            _ => String::new(),
        };
        let text = format!(
            "gate {} {verdict} on {tree} {}{before}, see {}",
            evidence.gate, evidence.commit, evidence.log_path
        );
        let gate = evidence.gate.clone();
        let left = evidence.problems.iter().map(|problem| format!("gate {gate}: {problem}"));
        let counts = counts(&evidence).map(|counts| format!("gate {gate}: {counts}"));
        let left: Vec<String> = counts.into_iter().chain(left).collect();
        found.push(Fact { about: "gate".to_owned(), text, at: evidence.ended_at, seq: None });
        found.extend(left.into_iter().map(|text| fact("gate", text)));
    }
}

fn feedback_line(feedback: &Feedback) -> String {
    match feedback {
        Feedback::Gate { gate, job, exit, problems, .. } => match problems.first() {
            Some(problem) if exit.is_success() => {
                format!("the builder was told of gate {gate} ({job}): {problem}")
            }
            Some(_) | None => {
                format!("the builder was told that gate {gate} ({job}) {}", end_in_words(exit))
            }
        },
        Feedback::NoChange => "the builder was told that it left no change".to_owned(),
        Feedback::HookRefused { output } => {
            let first = output.lines().next().unwrap_or_default();
            format!("the builder was told that its commit was refused: {first}")
        }
        Feedback::LeftBranch { found } => {
            format!("the builder was told that it left its branch for {found}")
        }
        Feedback::SyncConflict { paths } => {
            format!("the builder was told that the target conflicts in {}", paths.join(", "))
        }
        Feedback::Review { by, comments } => {
            let first = comments.lines().next().unwrap_or_default();
            format!("the builder was told what {by} said: {first}")
        }
        Feedback::Unusable { detail } => format!("the agent was told: {detail}"),
        Feedback::Unresolved { paths } => {
            format!("the reconciler was told of conflicts left in {}", paths.join(", "))
        }
    }
}
