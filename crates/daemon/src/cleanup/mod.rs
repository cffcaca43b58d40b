//! What ended runs left, and what of it is proved to be safe to remove. It changes nothing: the removal is the
//! daemon's, which proves each thing again right before it goes.

mod features;
mod jobs;
mod leavings;
mod survey;

pub use survey::{Plan, plan};
pub(crate) use survey::{Survey, Unit};
