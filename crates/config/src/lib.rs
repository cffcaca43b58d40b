//! Plan files and `tidegate.toml`: text with spans in, core values out.
//!
//! A client calls [`gather()`] and hands the [`Bundle`] to the daemon, which calls [`resolve()`];
//! `plan check` calls both. Nothing here reads a file, a clock or the environment by itself.
#![deny(clippy::wildcard_enum_match_arm)]

mod bundle;
mod check;
mod diagnostic;
mod duration;
mod fields;
mod loose;
mod money;
mod near;
mod node;
mod plan;
mod render;
mod resolve;
mod settings;
mod source;
mod span;
mod template;
mod toml_text;
mod yaml_text;

pub use bundle::{Bundle, ReadError, SPEC_BYTES_MAX, SpecFile, gather};
pub use diagnostic::{Code, Diagnostic, Severity, has_errors, sort};
pub use duration::{InvalidDuration, format_duration, parse_duration};
pub use node::{Entry, Node, Table, Value};
pub use plan::{FeatureDoc, ParsedPlan, PlanDoc, WaveDoc, parse_plan};
pub use resolve::{AssumedNeed, Resolved, Selection, blob_id, check, resolve, resolve_after};
pub use settings::{
    AgentEntry, Capabilities, Config, ConfigFiles, ENVIRONMENT, GateEntry, LauncherEntry,
    LauncherSelection, Layer, Layered, NamedFile, Origin, Override, Place, ProfileEntry, RoleEntry,
    Shown, Sourced, branch_ref, builtin_entry, environment_overrides, load_config, provider_names,
};
pub use source::Source;
pub use span::{Span, Spanned};
pub use template::{Facts, TestCommand, config_template, plan_template};
