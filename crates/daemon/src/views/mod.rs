//! What readers and the HTTP API show, from the store, the job directories and the lock of the home.
//!
//! Nothing here writes a row, a file or an event, starts a daemon or asks one: the views work while
//! none lives, while one is stopped, and on a read-only home. What no daemon has recorded yet is
//! derived by the same step that a daemon would take, and marked as not recorded.

mod active;
mod agents;
mod attention;
mod budgets;
mod cleanups;
mod commands;
mod daemon_doc;
mod derive;
mod event_view;
mod evidence;
mod explain;
mod explain_feature;
mod feature_doc;
mod furnished;
mod job_doc;
mod job_terminal;
mod kin;
mod list;
mod load;
mod locks;
mod moment;
mod order;
mod people;
mod place;
mod review;
mod run_doc;
mod sight;
mod snapshots;
#[cfg(test)]
pub(crate) mod tests;
mod trouble;
mod usage;
mod viewer;
mod waiting;
mod words;

pub use active::{ActiveRun, PinnedFiles};
pub use commands::CommandQuery;
pub use daemon_doc::{daemon_status, supervisor_id};
pub use derive::{Derived, derive};
pub use event_view::event_view;
pub use explain::explain_run;
pub use explain_feature::explain_feature;
pub use job_terminal::JobTerminal;
pub use kin::JobPlace;
pub use list::{EVENTS_PER_PAGE, EventQuery, RUNS_PER_PAGE, RunQuery, WaveQuery};
pub use order::{most_relevant, screen_rank, sort_for_screen, wave_rank};
pub use people::InboxQuery;
pub use place::HomePaths;
pub use run_doc::{Facts, Recorded, run_document};
pub use sight::Sight;
pub use trouble::{corrupt_problem, open_problem, store_problem};
pub use viewer::Viewer;

/// The kinds of all events.
pub fn event_kinds() -> impl Iterator<Item = &'static str> {
    let of_runs = tidegate_store::KINDS.iter().chain(tidegate_store::TALK_KINDS);
    let of_runs = of_runs.chain(tidegate_store::TELLING_KINDS);
    of_runs.chain(tidegate_store::HOME_KINDS).copied()
}
pub use waiting::QueuePlace;
