//! Job directories against the rows of their jobs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tidegate_core::ids::JobId;
use tidegate_core::verdict::Mark;
use tidegate_process::JobDir;
use tidegate_process::observe::look;
use tidegate_store::KnownJob;

use super::Facts;
use super::finding::{Finding, Invariant};

/// The job directories of a home by name. A folder that cannot be listed has none.
pub(super) fn directories(home: &Path) -> BTreeMap<String, PathBuf> {
    let entries = std::fs::read_dir(home.join("jobs")).into_iter().flatten().flatten();
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect()
}

pub(super) fn check(
    home: &Path,
    directories: &BTreeMap<String, PathBuf>,
    facts: &Facts,
    found: &mut Vec<Finding>,
) {
    for (name, path) in directories {
        let id = JobId::parse(name).ok();
        let row = id.as_ref().and_then(|id| facts.nonces.get(id));
        let Some(KnownJob { nonce, is_quarantined, .. }) = row else {
            let known = id.is_some_and(|id| facts.corrupt.contains(id.run()));
            if !known && !crate::repair::is_acknowledged(home, name) {
                let text = "the store does not know this job: see `tidegate doctor --quarantine`";
                found.push(Finding::new(Invariant::I1, name.as_str(), text));
            }
            continue;
        };
        token(name, path, facts, found);
        if *is_quarantined {
            // A person was told.
            continue;
        }
        match look(path, nonce) {
            Ok(seen) => {
                for detail in [odd(&seen.started), odd(&seen.exit)].into_iter().flatten() {
                    found.push(Finding::new(Invariant::I1, name.as_str(), detail));
                }
            }
            Err(error) => found.push(Finding::new(Invariant::I1, name.as_str(), error.to_string())),
        }
    }
}

fn odd<T>(mark: &Mark<T>) -> Option<String> {
    match mark {
        Mark::Suspicious { detail } => Some(detail.clone()),
        Mark::Absent | Mark::Present(_) | Mark::Tombstone => None,
    }
}

/// No job was started under a token that the store has not given yet.
fn token(name: &str, path: &Path, facts: &Facts, found: &mut Vec<Finding>) {
    let Ok(dir) = JobDir::open(path) else { return };
    // A directory whose maker died has none yet; one that is damaged starts nothing.
    let Ok(spec) = dir.read_spec() else { return };
    let newest = facts.home.token;
    if (spec.generation, spec.epoch) > (newest.generation, newest.epoch) {
        let text = format!(
            "started under token {}.{}, the store is at {}.{}: it went back in time",
            spec.generation, spec.epoch, newest.generation, newest.epoch
        );
        found.push(Finding::new(Invariant::I7, name, text));
    }
}
