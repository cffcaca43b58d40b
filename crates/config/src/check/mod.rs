//! The rules that a plan must keep beyond its grammar. All findings at once.

mod glob;
mod graph;
mod names;
mod overlap;
mod path;
mod references;

pub(crate) use graph::{Graph, check_needs};
pub(crate) use names::{check_names, wave_numbers};
pub(crate) use overlap::{check_paths, is_fit_glob};
pub(crate) use path::{inner_path, spec_path};
pub(crate) use references::{check_references, warn_of_ungated};
