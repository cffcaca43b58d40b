//! What readers and the HTTP API show, from the store, the job directories and the lock of the home.
//!
//! Nothing here writes a row, a file or an event, starts a daemon or asks one: the views work while
//! none lives, while one is stopped, and on a read-only home. What no daemon has recorded yet is
//! derived by the same step that a daemon would take, and marked as not recorded.

mod agents;
mod attention;
mod daemon_doc;
mod derive;
mod explain;
mod explain_feature;
mod feature_doc;
mod job_doc;
mod log;
mod log_file;
mod log_tail;
mod moment;
mod order;
mod place;
mod run_doc;
mod sight;
mod waiting;
mod words;

pub use daemon_doc::{daemon_status, supervisor_id};
pub use derive::{Derived, derive};
pub use explain::explain_run;
pub use explain_feature::explain_feature;
pub use log::{Log, Piece, TAIL_FINISHED, TAIL_RUNNING, Tail};
pub use order::{most_relevant, screen_rank, sort_for_screen, wave_rank};
pub use place::HomePaths;
pub use run_doc::{Facts, Recorded, run_document};
pub use sight::Sight;
pub use waiting::QueuePlace;
