//! What the builders of shapes share.

use std::path::Path;

use crate::harness::Repo;

/// Asserts that what makes a shape hard is there.
pub(crate) fn trap(what: &str, there: bool) {
    assert!(there, "the shape is not built: {what}");
}

/// The address of a folder for git's own transport.
pub(crate) fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A clone of `from` at `to`, with these flags.
pub(crate) fn clone(from: &Path, to: &Path, flags: &[&str]) -> Repo {
    let near = Repo::at(to.parent().unwrap());
    let (address, place) = (url(from), to.display().to_string());
    let mut words = vec!["clone", "--quiet"];
    words.extend(flags);
    words.extend([address.as_str(), place.as_str()]);
    near.git(&words);
    let repo = Repo::at(to);
    repo.named();
    repo
}
