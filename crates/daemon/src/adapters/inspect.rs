//! Looks at what a feature's commit did to the checks that judge it.

use tidegate_core::ids::Oid;
use tidegate_core::integrity::Kind;
use tidegate_core::plan::{GateRun, IntegrityPolicy, PlanSpec};
use tidegate_core::run::{Finding, InspectOutcome};
use tidegate_evidence::integrity::{
    Change, ChangedFile, Conventions, GateCommand, Severity, Side, inspect,
};
use tidegate_git as git;
use tidegate_git::GitError;

use super::context::text;
use super::features::Work;

/// Findings that are recorded of one commit; the gravest come first when there are more.
const FINDINGS_MAX: usize = 200;

impl Work {
    /// What the change from `base` to `commit` did to its checks.
    pub(super) fn inspect(&self, base: &Oid, commit: &Oid) -> Result<InspectOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let missing = || GitError::Missing { what: format!("feature {}", self.feature) };
        let (spec, plan) = self.target.run.plan().ok_or_else(missing)?;
        let feature_spec = spec.features.get(&self.feature).ok_or_else(missing)?;
        let feature = plan.features.get(&self.feature).ok_or_else(missing)?;
        // What a planner allowed counts as declared, where it said so.
        let planned = feature.planned.as_ref();
        let areas = planned.into_iter().flat_map(|planned| {
            [&planned.allowed, &planned.create, &planned.modify, &planned.delete]
        });
        let declared = feature_spec.paths.iter().chain(areas.flatten()).cloned().collect();
        // Only what the feature itself changed: what was merged into its branch is the target's.
        let from = match repo.resolve(self.refname()?)? {
            Some(target) => repo.merge_base(&target, commit)?.unwrap_or_else(|| base.clone()),
            None => base.clone(),
        };
        let files = repo.changed_files(&from, commit)?.iter().map(file).collect();
        let change = Change { files, declared, gates: gates(spec) };
        let later = self.later_commits(&repo, commit)?;
        Ok(match inspect(&change, &Conventions::default()) {
            Ok(found) => {
                let mut found = kept(found);
                found.extend(later);
                found.retain(|finding| spec.integrity_of(finding) != IntegrityPolicy::Off);
                InspectOutcome::Found(found)
            }
            Err(error) => InspectOutcome::Failed { detail: error.to_string() },
        })
    }
}

impl Work {
    /// The branch went on after the commit that the gates looked at.
    fn later_commits(&self, repo: &git::Repo, commit: &Oid) -> Result<Option<Finding>, GitError> {
        let branch = self.branch();
        let tip = repo.resolve(&format!("refs/heads/{branch}"))?;
        Ok(tip.filter(|tip| tip != commit).map(|tip| Finding {
            kind: Kind::CommitsAfterGate.as_str().to_owned(),
            path: branch,
            line: 0,
            excerpt: format!("the branch is at {tip}, the gates looked at {commit}"),
            stops: Kind::CommitsAfterGate.stops(),
        }))
    }
}

fn file(changed: &git::ChangedFile) -> ChangedFile {
    let side = |side: &git::FileSide| Side {
        path: text(&side.path),
        content: side.text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned()),
    };
    ChangedFile { old: changed.old.as_ref().map(side), new: changed.new.as_ref().map(side) }
}

fn gates(spec: &PlanSpec) -> Vec<GateCommand> {
    let gate = |(name, gate): (&tidegate_core::ids::GateName, &tidegate_core::plan::GateSpec)| {
        let argv = match &gate.run {
            GateRun::Argv(argv) => argv.clone(),
            GateRun::Script(script) => vec![script.clone()],
        };
        GateCommand { name: name.to_string(), argv }
    };
    spec.gates.iter().map(gate).collect()
}

fn kept(mut found: Vec<tidegate_evidence::integrity::Finding>) -> Vec<Finding> {
    if found.len() > FINDINGS_MAX {
        found.sort_by_key(|finding| finding.severity != Severity::Stop);
        found.truncate(FINDINGS_MAX);
    }
    let finding = |finding: tidegate_evidence::integrity::Finding| Finding {
        kind: finding.kind.as_str().to_owned(),
        path: finding.path,
        line: finding.line,
        excerpt: finding.excerpt,
        stops: finding.severity == Severity::Stop,
    };
    found.into_iter().map(finding).collect()
}
