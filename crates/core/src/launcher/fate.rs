//! What becomes of a running run whose launcher may be gone: the six rows, first match wins.
//!
//! The daemon acts on the answer; a reader derives the same one and marks it as not recorded.

use super::{Finalized, Selection};
use crate::exit::{Exit, Reason};
use crate::ids::AgentId;

/// What is known of the launcher itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LauncherEnd {
    /// Its shim holds the lock and there is no exit record, or it is about to be started.
    Alive,
    /// It ended; the record, or what was concluded in its absence.
    Ended(Exit),
}

/// All facts that the decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The launcher.
    pub launcher: LauncherEnd,
    /// Agents of the run that are alive: proved identity, or a fresh heartbeat of a remote one.
    pub agents_alive: Vec<AgentId>,
    /// The journal's final word, if it has one.
    pub finalized: Option<Finalized>,
    /// The active wave: the journal's, else the recorded one, else the selection's start.
    pub active_wave: Option<u32>,
    /// The waves that were asked for.
    pub selection: Selection,
    /// Resumes since the journal last recorded a later wave than the one resumed.
    pub resumes_since_progress: u32,
    /// The limit of those.
    pub resumes_max: u32,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Row 1: the exit record decides, and it says success.
    Completed(Exit),
    /// Row 1: the exit record decides, and it says failure.
    Failed(Exit),
    /// Row 1: someone had asked for its end.
    Cancelled(Exit),
    /// Row 2: it runs.
    Running,
    /// Row 3: it is gone, agents of it live on.
    AgentsRunning {
        /// The launcher's end.
        end: Exit,
        /// The agents alive.
        agents: Vec<AgentId>,
    },
    /// Row 4: its journal has the final word.
    Recovered {
        /// The launcher's end.
        end: Exit,
        /// The final word.
        word: Finalized,
    },
    /// Row 5: it is started again at `wave`.
    Resume {
        /// The launcher's end.
        end: Exit,
        /// The wave to resume.
        wave: u32,
    },
    /// Row 6: nothing is known.
    LostBeforeStatus(Exit),
}

/// Decides what becomes of a running launcher run.
pub fn fate(known: &Known) -> Fate {
    let end = match &known.launcher {
        LauncherEnd::Alive => return Fate::Running,
        LauncherEnd::Ended(end) => end.clone(),
    };
    if let Some(decided) = by_exit_record(&end) {
        return decided;
    }
    if !known.agents_alive.is_empty() {
        return Fate::AgentsRunning { end, agents: known.agents_alive.clone() };
    }
    if let Some(word) = known.finalized {
        return Fate::Recovered { end, word };
    }
    match resumable_wave(known) {
        Some(wave) if known.resumes_since_progress < known.resumes_max => {
            Fate::Resume { end, wave }
        }
        Some(_) | None => Fate::LostBeforeStatus(end),
    }
}

/// Row 1, by reason first. `None` when the record has no word on the work.
fn by_exit_record(end: &Exit) -> Option<Fate> {
    match &end.reason {
        Reason::Stopped { .. } => Some(Fate::Cancelled(end.clone())),
        Reason::Timeout | Reason::Limit | Reason::Oom | Reason::ExecFailed | Reason::Storage => {
            Some(Fate::Failed(end.clone()))
        }
        Reason::Exited => Some(match end.code {
            Some(0) => Fate::Completed(end.clone()),
            Some(_) | None => Fate::Failed(end.clone()),
        }),
        // A code is a code, whoever recorded it.
        Reason::Signalled | Reason::LostShim | Reason::LostReboot => match end.code? {
            0 => Some(Fate::Completed(end.clone())),
            _ => Some(Fate::Failed(end.clone())),
        },
    }
}

/// The active wave, when it is known and not past the selection's end.
fn resumable_wave(known: &Known) -> Option<u32> {
    let wave = known.active_wave?;
    match known.selection.end_wave {
        Some(end) if wave > end => None,
        Some(_) | None => Some(wave),
    }
}
