//! `tidegate.toml`: the settings of a user and of a repository, in layers.

mod agent;
mod apply;
mod branch;
mod budget;
mod builtin;
mod capabilities;
mod config;
mod draft;
mod layered;
mod manifest;
mod named;
mod overrides;
mod promises;
mod rounds;
mod worktree;

pub use branch::branch_ref;
pub use builtin::{builtin_entry, provider_names};
pub use capabilities::Capabilities;
pub use config::{
    AgentEntry, Config, GateEntry, LauncherEntry, LauncherSelection, Place, ProfileEntry,
    RoleEntry, Sourced,
};
pub use layered::{ConfigFiles, Layer, Layered, NamedFile, Origin, Shown, load_config};
pub use overrides::{ENVIRONMENT, Override, environment_overrides};
