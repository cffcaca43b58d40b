//! One run: its state, what may happen to it, and what follows.

mod agents;
mod apply;
mod apply_capture;
mod apply_crew;
mod apply_feature;
mod apply_landing;
mod apply_launcher;
mod apply_round;
mod asking;
mod backoff;
mod barrier;
mod block;
mod capture;
mod consequences;
mod crew;
mod effect;
mod enrol;
mod event;
mod feature;
mod feedback;
mod holding;
mod hooks;
mod input;
mod inspection;
mod jobs;
mod landing;
mod launching;
mod message;
mod order;
mod outcome;
mod pipeline;
mod planned;
mod question;
mod review;
mod round;
mod state;
mod step;
mod talk;

pub use backoff::{Retry, Wait};
pub(crate) use barrier::Barrier;
pub use block::Block;
pub use effect::{Effect, EffectKey};
pub use enrol::Added;
pub use event::{Event, Subject, Submitted};
pub use feature::{Captured, Feature, FeatureState, LandStep, Merged, Tested, WorkStep};
pub use feedback::Feedback;
pub use input::{Grant, Ingested, Input, Rejected, Report};
pub use inspection::{Finding, Inspection};
pub use message::{Delivery, Message, ToType, TypeOutcome, Typed, Way};
pub use outcome::{
    CaptureOutcome, CommitOutcome, ConflictOutcome, InspectOutcome, MergeOutcome, ResultOutcome,
    RollbackOutcome, UpdateOutcome, WorktreeOutcome,
};
pub use planned::PlannedChange;
pub use question::{Answer, Closing, Fate, Question};
pub use review::awaits_person;
pub use round::Round;
pub use state::{Job, JobState, Phase, Plan, Purpose, Run, Stall, Status, Work};
pub use step::{Step, step};
pub use talk::Talk;
