//! `tidegate demo`: the main job on a small real repository, with a bug that a gate catches and an agent that is killed.
//! It uses the product as a person does, by its verbs, and knows nothing of how they work.

mod files;
mod narrator;
mod product;
mod report;
mod stage;
mod verb;
mod victim;
mod watch;

pub(crate) use verb::Args;
