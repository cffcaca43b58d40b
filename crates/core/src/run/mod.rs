//! One run: its state, what may happen to it, and what follows.

mod agents;
mod apply;
mod apply_feature;
mod apply_launcher;
mod barrier;
mod consequences;
mod effect;
mod event;
mod feature;
mod holding;
mod input;
mod jobs;
mod landing;
mod launching;
mod pipeline;
mod state;
mod step;

pub(crate) use barrier::Barrier;
pub use effect::{Effect, EffectKey};
pub use event::{Event, Subject, Submitted};
pub use feature::{
    Block, Feature, FeatureState, Feedback, GateStep, LandStep, Merged, Tested, WorkStep,
};
pub use input::{
    CommitOutcome, Grant, Ingested, Input, MergeOutcome, Rejected, Report, UpdateOutcome,
    WorktreeOutcome,
};
pub use state::{Job, JobState, Phase, Plan, Purpose, Run, Status, Work};
pub use step::{Step, step};
