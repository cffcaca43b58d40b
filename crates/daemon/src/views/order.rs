//! Which run comes first: on the first screen, and as the answer for a wave.

use tidegate_protocol::{RunDoc, RunStatus};

/// Rank on the first screen: waits for a person, running, failed, then the rest.
pub fn screen_rank(run: &RunDoc) -> u8 {
    match run.status {
        RunStatus::Pending | RunStatus::Running if !run.attention.is_empty() => 0,
        RunStatus::Running => 1,
        RunStatus::Failed => 2,
        RunStatus::Pending => 3,
        RunStatus::Completed | RunStatus::Cancelled => 4,
    }
}

/// Sorts runs for the first screen; within a rank the newest comes first, but pending ones stand
/// in the order of their turns.
pub fn sort_for_screen(runs: &mut [RunDoc]) {
    runs.sort_by(|a, b| {
        let by_id = match (a.status, b.status) {
            (RunStatus::Pending, RunStatus::Pending) => a.run_id.cmp(&b.run_id),
            _ => b.run_id.cmp(&a.run_id),
        };
        screen_rank(a).cmp(&screen_rank(b)).then(by_id)
    });
}

/// Rank as the answer for a wave; the lowest counts.
pub fn wave_rank(status: RunStatus) -> u8 {
    match status {
        RunStatus::Running => 0,
        RunStatus::Pending => 1,
        RunStatus::Failed => 2,
        RunStatus::Completed => 3,
        RunStatus::Cancelled => 4,
    }
}

/// The most relevant of `runs` for a wave: by status, then the newest.
pub fn most_relevant(runs: impl IntoIterator<Item = RunDoc>) -> Option<RunDoc> {
    runs.into_iter().min_by(|a, b| {
        wave_rank(a.status)
            .cmp(&wave_rank(b.status))
            .then_with(|| b.updated_at.cmp(&a.updated_at))
            .then_with(|| b.run_id.cmp(&a.run_id))
    })
}
