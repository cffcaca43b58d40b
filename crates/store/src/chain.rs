//! The hash chain of a subject's events. It must not know where the entries are kept.

use sha2::{Digest, Sha256};
use tidegate_core::ids::{FeatureId, RunId};
use tidegate_core::run::Subject;

/// A SHA-256.
pub(crate) type Hash = [u8; 32];

/// What stands before the first entry of a chain.
pub(crate) const GENESIS: Hash = [0; 32];

/// The subject of the home's own facts.
pub(crate) const HOME: &str = "home";

/// All of an entry that its hash covers.
pub(crate) struct Entry<'a> {
    pub(crate) seq: u64,
    pub(crate) subject: &'a str,
    pub(crate) n: u64,
    pub(crate) kind: &'a str,
    pub(crate) at: u64,
    pub(crate) generation: u64,
    pub(crate) epoch: u64,
    pub(crate) body: &'a str,
}

/// The hash of an entry behind `previous`. Texts go in with their lengths, so that no two entries
/// have the same bytes.
pub(crate) fn link(previous: &Hash, entry: &Entry<'_>) -> Hash {
    let mut hash = Sha256::new();
    hash.update(b"tidegate event 1\0");
    hash.update(previous);
    for number in [entry.seq, entry.n, entry.at, entry.generation, entry.epoch] {
        hash.update(number.to_le_bytes());
    }
    for text in [entry.subject, entry.kind, entry.body] {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().into()
}

/// The subject's text: the run, or the run and the feature.
pub(crate) fn subject_text(run: &RunId, subject: &Subject<'_>) -> String {
    match subject {
        Subject::Run => run.to_string(),
        Subject::Feature(feature) => feature_subject(run, feature),
    }
}

/// The subject of a feature.
pub(crate) fn feature_subject(run: &RunId, feature: &FeatureId) -> String {
    format!("{run}/{feature}")
}

/// The content address of `bytes`, in hex.
pub(crate) fn address(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The content address under which `bytes` are pinned.
///
/// # Panics
/// Never: a SHA-256 in hex is an address.
pub fn blob_id(bytes: &[u8]) -> tidegate_core::ids::BlobId {
    tidegate_core::ids::BlobId::new(address(bytes))
        .unwrap_or_else(|| unreachable!("BUG: a SHA-256 in hex is no blob id"))
}
