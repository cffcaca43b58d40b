//! The process table against the runs: nothing of a run that has ended lives.

use std::collections::BTreeMap;

use tidegate_process::census::tagged;

use super::Facts;
use super::finding::{Finding, Invariant};

/// Looks for processes that carry a tag of this home; says how many there are.
pub(super) fn check(facts: &Facts, found: &mut Vec<Finding>) -> u64 {
    let processes = match tagged(&facts.home.home_id) {
        Ok(processes) => processes,
        Err(error) => {
            let text = format!("the process table cannot be read: {error}");
            found.push(Finding::new(Invariant::I4, "home", text));
            return 0;
        }
    };
    let runs: BTreeMap<&str, bool> =
        facts.rows.iter().map(|row| (row.id.as_str(), row.status.is_terminal())).collect();
    let is_corrupt = |run: &str| facts.corrupt.iter().any(|id| id.as_str() == run);
    for process in &processes {
        let what = match runs.get(process.run.as_str()) {
            Some(false) => continue,
            Some(true) => "its run has ended",
            None if is_corrupt(&process.run) => continue,
            None => "the store does not know its run",
        };
        let text = format!("process {} ({}) lives, yet {what}", process.pid, process.state);
        found.push(Finding::new(Invariant::I4, process.job.as_str(), text));
    }
    processes.len() as u64
}
