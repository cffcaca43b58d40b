//! Plans: one model, read from TOML or from Markdown with front matter.

mod doc;
mod foreign;
mod front_matter;
mod headings;
mod markdown;
mod parse;
mod schema;
mod section;

pub use doc::{FeatureDoc, PlanDoc, WaveDoc};
pub use parse::{ParsedPlan, parse_plan};
pub(crate) use schema::{ON_FAILURE, TRIES_MAX};
