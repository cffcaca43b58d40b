//! Pauses: what a person keeps from beginning, by whom, since when and why. Pauses end nothing: jobs
//! that run go on.

use std::collections::BTreeMap;

use crate::ids::{LaneName, ProjectId, QueueKey};
use crate::time::WallMs;

/// Why something does not begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Who paused it.
    pub by: String,
    /// When, on the wall clock.
    pub at: WallMs,
    /// Why, in the words of who paused it.
    pub reason: Option<String>,
}

/// The queues that a pause is about: those that fit every part that is named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Scope {
    /// The project; every one when absent.
    pub project: Option<ProjectId>,
    /// The lane; every one when absent.
    pub lane: Option<LaneName>,
}

impl Scope {
    /// Whether runs of `queue` are kept from beginning.
    pub fn covers(&self, queue: &QueueKey) -> bool {
        self.project.as_ref().is_none_or(|project| *project == queue.project)
            && self.lane.as_ref().is_none_or(|lane| *lane == queue.lane)
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        match (&self.project, &self.lane) {
            (None, None) => "every lane".to_owned(),
            (Some(project), None) => format!("every lane of {project}"),
            (None, Some(lane)) => format!("lane {lane} of every project"),
            (Some(project), Some(lane)) => format!("lane {project}/{lane}"),
        }
    }
}

/// The pause that covers `queue`, the widest first.
pub fn covering<'a>(
    pauses: &'a BTreeMap<Scope, Pause>,
    queue: &QueueKey,
) -> Option<(&'a Scope, &'a Pause)> {
    let (project, lane) = (&queue.project, &queue.lane);
    let scopes = [
        Scope::default(),
        Scope { project: Some(project.clone()), lane: None },
        Scope { project: None, lane: Some(lane.clone()) },
        Scope { project: Some(project.clone()), lane: Some(lane.clone()) },
    ];
    scopes.iter().find_map(|scope| pauses.get_key_value(scope))
}
