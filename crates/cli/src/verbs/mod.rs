//! One file per verb: its arguments, what it does, and how it says so.

pub(crate) mod agent;
pub(crate) mod approve;
pub(crate) mod cancel;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod hold;
pub(crate) mod init;
pub(crate) mod lane;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod pause;
pub(crate) mod plan;
pub(crate) mod priority;
pub(crate) mod progress;
pub(crate) mod project;
pub(crate) mod resume;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod submit;
pub(crate) mod wait;
