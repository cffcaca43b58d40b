//! The adapters: they do the I/O that the engine asks for, and report what they saw.
//!
//! They decide nothing: what follows from a report is the engine's business.

mod cleaner;
mod conflicts;
mod context;
mod conversing;
mod examine;
mod features;
mod helper;
mod hooks;
mod inspect;
mod jobs;
mod landing;
mod launch;
mod leftovers;
mod obstacle;
mod ports;
mod prepare;
mod promised;
mod repos;
mod restoring;
mod results;
mod room;
mod route;
mod silences;
mod snapshots;
mod stalls;
mod told;
mod typing;
mod variables;
mod what;
mod workers;

pub use context::{Context, run_tag};
pub use helper::HelperExec;
pub use route::Adapters;
pub use workers::Workers;
