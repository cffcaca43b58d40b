//! The projections of a run: what of it is kept in rows for readers and indexes. Pure: a row is
//! what the run's state says, so a replay of its events must give the same rows.

mod parts;
mod people;
mod run;
mod words;

pub use parts::{AgentRow, FeatureRow, JobRow};
pub(crate) use parts::{agents_of, features_of, jobs_of};
pub use people::{MessageRow, QuestionRow};
pub(crate) use people::{messages_of, questions_of};
pub(crate) use run::Marks;
pub use run::{LauncherRow, PlanRow, RunRow, WorkRow};
pub use words::{Disposition, Recovery, ResumeAction, RunStatus, Unknown};
