//! What the gates said of the newest commit of a feature.

use std::collections::BTreeMap;

use tidegate_core::evidence::{Evidence, Measure, Share, Tests};
use tidegate_core::ids::{FeatureId, GateName, JobId, Oid};
use tidegate_core::run::{Job, Phase, Purpose, Run};
use tidegate_protocol::{EvidenceDoc, ShareDoc, TestsDoc};

use super::job_doc::log_path;
use super::moment::stamp;
use super::place::{HomePaths, text};

/// A gate's job, taken apart.
struct Tried<'r> {
    id: &'r JobId,
    job: &'r Job,
    gate: &'r GateName,
    commit: &'r Oid,
    phase: Phase,
}

/// The records of the gates that ran last on the commit of the newest gate of a feature, in the
/// order in which they first began.
pub(super) fn evidence(run: &Run, id: &FeatureId, paths: &HomePaths) -> Vec<EvidenceDoc> {
    let all: Vec<Tried<'_>> = run.jobs.iter().filter_map(|(job, of)| tried(job, of, id)).collect();
    let Some(newest) = all.last() else { return Vec::new() };
    let (commit, phase) = (newest.commit, newest.phase);
    let mut order: Vec<&GateName> = Vec::new();
    let mut by_gate: BTreeMap<&GateName, Vec<&Tried<'_>>> = BTreeMap::new();
    for one in all.iter().filter(|one| one.commit == commit && one.phase == phase) {
        if !order.contains(&one.gate) {
            order.push(one.gate);
        }
        by_gate.entry(one.gate).or_default().push(one);
    }
    order.iter().filter_map(|gate| document(by_gate.get(gate)?, paths)).collect()
}

fn tried<'r>(id: &'r JobId, job: &'r Job, of: &FeatureId) -> Option<Tried<'r>> {
    match &job.purpose {
        Purpose::Gate { feature, gate, commit, phase, .. } if feature == of => {
            Some(Tried { id, job, gate, commit, phase: *phase })
        }
        Purpose::Gate { .. }
        | Purpose::Hook { .. }
        | Purpose::Agent { .. }
        | Purpose::Launcher { .. }
        | Purpose::LauncherAgent { .. } => None,
    }
}

/// All attempts of one gate on one commit, oldest first.
fn document(tries: &[&Tried<'_>], paths: &HomePaths) -> Option<EvidenceDoc> {
    let last = tries.last()?;
    let exit = last.job.exit();
    let passed = last.job.passed();
    let failed = tries.iter().filter(|one| one.job.says_no());
    let left = last.job.evidence.as_ref();
    let failures = u32::try_from(failed.count()).unwrap_or(u32::MAX);
    let dir = paths.job(last.id);
    Some(EvidenceDoc {
        gate: last.gate.to_string(),
        commit: last.commit.to_string(),
        merged: last.phase == Phase::Merge,
        passed,
        attempts: u32::try_from(tries.len()).unwrap_or(u32::MAX),
        failures,
        flaky: passed == Some(true) && failures > 0,
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        ran_ms: exit.map(|exit| exit.ran_ms),
        job_id: last.id.to_string(),
        log_path: log_path(&dir).unwrap_or_else(|| text(&dir.join("output.0"))),
        ended_at: exit.map(|exit| stamp(exit.at)),
        tests: left.and_then(tests),
        coverage: left.map(coverage).unwrap_or_default(),
        changed: left.map(|left| left.changed.clone()).unwrap_or_default(),
        problems: left.map(|left| left.problems.clone()).unwrap_or_default(),
    })
}

fn tests(left: &Evidence) -> Option<TestsDoc> {
    let Tests { passed, failed, errored, skipped, flaky } = left.tests?;
    Some(TestsDoc { passed, failed, errored, skipped, flaky })
}

fn coverage(left: &Evidence) -> BTreeMap<String, ShareDoc> {
    let share = |(measure, share): (&Measure, &Share)| {
        let percent = share.percent();
        (measure.word().to_owned(), ShareDoc { hit: share.hit, found: share.found, percent })
    };
    left.coverage.iter().map(share).collect()
}

/// What a gate's reports count, in one line; `None` when they count nothing.
pub(super) fn counts(doc: &EvidenceDoc) -> Option<String> {
    let tests = doc.tests.as_ref().map(|tests| {
        let all = tests.passed + tests.failed + tests.errored + tests.skipped;
        format!("{} of {all} tests passed", tests.passed)
    });
    let shares = doc.coverage.iter();
    let shares =
        shares.map(|(what, share)| format!("{} {}", what.replace('_', " "), share.percent));
    let all: Vec<String> = tests.into_iter().chain(shares).collect();
    (!all.is_empty()).then(|| all.join(", "))
}
