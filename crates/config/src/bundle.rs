//! What a client hands to the daemon: the bytes of the plan, of the settings, and of every spec
//! file. Nothing in it is interpreted; [`crate::resolve()`] does that on both sides.

use crate::check::spec_path;
use crate::plan::{PlanDoc, parse_plan};
use crate::settings::{ConfigFiles, NamedFile};

/// Bytes of one spec file that are read.
pub const SPEC_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Why a spec file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is nothing at the path.
    #[error("there is no such file")]
    NotFound,
    /// The path leads out of the repository, through a symbolic link for instance.
    #[error("it lies outside the repository")]
    Outside,
    /// There is something else than a file.
    #[error("it is not a regular file")]
    NotAFile,
    /// The file has more than [`SPEC_BYTES_MAX`] bytes.
    #[error("it has {bytes} bytes, at most {SPEC_BYTES_MAX} are read")]
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// The system refused.
    #[error("{reason}")]
    Failed {
        /// What the system said.
        reason: String,
    },
}

/// A spec file, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecFile {
    /// Path from the repository's root, in its shortest form.
    pub path: String,
    /// Its bytes.
    pub content: Result<Vec<u8>, ReadError>,
}

/// Everything that a plan run is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The plan; its path from the repository's root where it lies inside, else absolute.
    pub plan: NamedFile,
    /// The settings.
    pub config: ConfigFiles,
    /// The spec files that the plan names, each once, sorted by path.
    pub specs: Vec<SpecFile>,
}

/// Collects what `plan` needs. `read` gets paths from the repository's root, without `..`; it must
/// refuse what leads out through a link. Faults of the plan are not reported here.
pub fn gather(
    plan: NamedFile,
    config: ConfigFiles,
    read: &mut dyn FnMut(&str) -> Result<Vec<u8>, ReadError>,
) -> Bundle {
    let parsed = parse_plan(&plan.path, &plan.bytes);
    let features = parsed.doc.iter().flat_map(PlanDoc::features);
    let mut paths: Vec<String> = features
        .filter_map(|feature| feature.spec.as_ref())
        .filter_map(|spec| spec_path(&plan.path, &spec.value).ok())
        .filter(|path| !path.is_empty())
        .collect();
    paths.sort();
    paths.dedup();
    let specs = paths.into_iter().map(|path| SpecFile { content: bounded(read(&path)), path });
    Bundle { specs: specs.collect(), plan, config }
}

fn bounded(content: Result<Vec<u8>, ReadError>) -> Result<Vec<u8>, ReadError> {
    let bytes = content?;
    if bytes.len() > SPEC_BYTES_MAX {
        return Err(ReadError::TooLarge { bytes: bytes.len() as u64 });
    }
    Ok(bytes)
}
