//! The facts of a home that belong to no run: its daemons and its projects.

use std::collections::BTreeMap;

use crate::cleanup::{Cleanup, CleanupEnd, CleanupScope, Removal, Restoration};
use crate::command::CommandFact;
use crate::ids::{ProjectId, RunId};
use crate::pause::{Pause, Scope};
use crate::time::WallMs;

/// One fact of the home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HomeEvent {
    /// A daemon took the home over; from here on its epoch counts.
    DaemonStarted {
        /// Its fencing epoch.
        epoch: u64,
        /// The token generation; rises when the store went back in time.
        generation: u64,
        /// Its process id, for people.
        pid: u32,
        /// Its version.
        version: String,
        /// When, on the wall clock.
        at: WallMs,
    },
    /// The daemon ended in good order.
    DaemonStopped {
        /// Its fencing epoch.
        epoch: u64,
        /// When, on the wall clock.
        at: WallMs,
    },
    /// A repository was registered, or its place was corrected.
    ProjectRegistered {
        /// Its id.
        project: ProjectId,
        /// Where it is.
        place: Place,
    },
    /// A repository was forgotten.
    ProjectRemoved {
        /// Its id.
        project: ProjectId,
    },
    /// Queues were paused: no run of theirs is claimed.
    LanePaused {
        /// Which queues.
        scope: Scope,
        /// By whom, since when and why.
        pause: Pause,
    },
    /// Queues were released from that pause.
    LaneResumed {
        /// Which queues: those of the pause.
        scope: Scope,
        /// Who released them.
        actor: String,
        /// When, on the wall clock.
        at: WallMs,
    },
    /// A clean-up of ended runs was asked for; it goes on until it has ended, whatever dies.
    CleanupAsked {
        /// Names it: the number of this event.
        number: u64,
        /// What it is about.
        scope: CleanupScope,
        /// Who asked.
        actor: String,
        /// When, on the wall clock.
        at: WallMs,
    },
    /// A thing is proved to be safe to remove, and is removed now.
    RemovalProved {
        /// By which clean-up.
        number: u64,
        /// The thing, and why nothing is lost.
        removal: Box<Removal>,
    },
    /// A worktree of an ended run is to be put back to a snapshot; it goes on until it has ended, whatever dies.
    RestoreAsked {
        /// Names it: the number of this event.
        number: u64,
        /// What is put back.
        restoration: Restoration,
        /// Who asked.
        actor: String,
        /// When, on the wall clock.
        at: WallMs,
    },
    /// A worktree was put back, or could not be.
    RestoreEnded {
        /// Which of them.
        number: u64,
        /// Why it could not be, for people.
        failure: Option<String>,
    },
    /// A clean-up has ended.
    CleanupEnded {
        /// Which.
        number: u64,
        /// What stays.
        end: CleanupEnd,
    },
    /// A command of an operator was begun that is not done at once.
    CommandAccepted(Box<CommandFact>),
    /// A command of an operator was carried out.
    CommandCompleted(Box<CommandFact>),
    /// A command of an operator was refused, or its work ended badly.
    CommandFailed(Box<CommandFact>),
    /// The work that a command had started in the background of a lane ended; badly with a code.
    BackgroundEnded(Box<CommandFact>),
}

/// Where a project's repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Root of the user's worktree: the working directory of launchers.
    pub root: String,
    /// The common git directory: the project's key.
    pub common_dir: String,
}

/// What the home's facts amount to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Home {
    /// Registered projects.
    pub projects: BTreeMap<ProjectId, Place>,
    /// Pauses of queues, by what they are about.
    pub pauses: BTreeMap<Scope, Pause>,
    /// Clean-ups that have not ended, by their numbers.
    pub cleanups: BTreeMap<u64, Cleanup>,
    /// Worktrees that are to be put back and are not yet, by their numbers.
    pub restorations: BTreeMap<u64, Restoration>,
    /// Runs that were deleted, each with the clean-up that did it.
    pub deleted: BTreeMap<RunId, u64>,
}

impl HomeEvent {
    /// Its name in the log.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::DaemonStarted { .. } => "daemon-started",
            Self::DaemonStopped { .. } => "daemon-stopped",
            Self::ProjectRegistered { .. } => "project-registered",
            Self::ProjectRemoved { .. } => "project-removed",
            Self::LanePaused { .. } => "lane-paused",
            Self::LaneResumed { .. } => "lane-resumed",
            Self::CleanupAsked { .. } => "cleanup-asked",
            Self::RemovalProved { .. } => "removal-proved",
            Self::CleanupEnded { .. } => "cleanup-ended",
            Self::RestoreAsked { .. } => "restore-asked",
            Self::RestoreEnded { .. } => "restore-ended",
            Self::CommandAccepted(_) => "command-accepted",
            Self::CommandCompleted(_) => "command-completed",
            Self::CommandFailed(_) => "command-failed",
            Self::BackgroundEnded(_) => "background-ended",
        }
    }
}

impl Home {
    /// Evolves by one fact.
    pub fn apply(&mut self, event: &HomeEvent) {
        match event {
            HomeEvent::DaemonStarted { .. }
            | HomeEvent::DaemonStopped { .. }
            | HomeEvent::RemovalProved { .. }
            // Where commands stand is told by their records; the log keeps the fact.
            | HomeEvent::CommandAccepted(_)
            | HomeEvent::CommandCompleted(_)
            | HomeEvent::CommandFailed(_)
            | HomeEvent::BackgroundEnded(_) => {}
            HomeEvent::CleanupAsked { number, scope, .. } => {
                let cleanup = Cleanup { number: *number, scope: scope.clone() };
                self.cleanups.insert(*number, cleanup);
            }
            HomeEvent::RestoreAsked { number, restoration, .. } => {
                self.restorations.insert(*number, restoration.clone());
            }
            HomeEvent::RestoreEnded { number, .. } => {
                self.restorations.remove(number);
            }
            HomeEvent::CleanupEnded { number, end } => {
                self.cleanups.remove(number);
                if let Some(run) = &end.deleted {
                    self.deleted.insert(run.clone(), *number);
                }
            }
            HomeEvent::ProjectRegistered { project, place } => {
                self.projects.insert(project.clone(), place.clone());
            }
            HomeEvent::ProjectRemoved { project } => {
                self.projects.remove(project);
            }
            HomeEvent::LanePaused { scope, pause } => {
                self.pauses.insert(scope.clone(), pause.clone());
            }
            HomeEvent::LaneResumed { scope, .. } => {
                self.pauses.remove(scope);
            }
        }
    }

    /// The project whose common directory is `common_dir`.
    pub fn find(&self, common_dir: &str) -> Option<(&ProjectId, &Place)> {
        self.projects.iter().find(|(_, place)| place.common_dir == common_dir)
    }

    /// A free id for a repository in a folder called `folder`: its name, made to fit the grammar,
    /// with `-2` and so on where it is taken.
    pub fn free_id(&self, folder: &str) -> ProjectId {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name: String = folder.chars().map(|c| if fits(c) { c } else { '-' }).take(48).collect();
        let name = name.trim_start_matches('-');
        let name = if name.is_empty() { "project" } else { name };
        (1..=u32::MAX)
            .map(|n| if n == 1 { name.to_owned() } else { format!("{name}-{n}") })
            .filter_map(|id| ProjectId::new(id).ok())
            .find(|id| !self.projects.contains_key(id))
            .unwrap_or_else(|| unreachable!("BUG: an endless range of ids has a free one"))
    }
}
