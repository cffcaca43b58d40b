//! Whether a report may be used at all: it is there, has content, and is of this gate's run and tree.

use tidegate_core::ids::Oid;
use tidegate_core::time::WallMs;

/// A report as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supplied<'a> {
    /// Its content.
    pub bytes: &'a [u8],
    /// When it was last written, by the file system that holds it.
    pub written: WallMs,
    /// The tree that the gate ran on which left it.
    pub tree: &'a Oid,
}

/// What a report must be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected<'a> {
    /// When the gate began, by the same file system: the time of a file that was made just before.
    pub started: WallMs,
    /// The tree that is judged.
    pub tree: &'a Oid,
}

/// Why a report says nothing about what is judged. Each one fails the gate that needs it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// There is no such file.
    #[error("the report is missing")]
    Missing,
    /// The file has no content.
    #[error("the report is empty")]
    Empty,
    /// It was there before the gate began.
    #[error("the report is {older_ms} ms older than the start of the gate")]
    Stale {
        /// By how much, in milliseconds.
        older_ms: u64,
    },
    /// It tells of another tree.
    #[error("the report is of the tree {found}, not of {expected}")]
    OtherTree {
        /// The tree that it tells of.
        found: Oid,
        /// The tree that is judged.
        expected: Oid,
    },
}

/// The bytes of a report that can be trusted to be of this run of the gate.
///
/// # Errors
/// What it is not: there, with content, of this run, of this tree.
pub fn usable<'a>(
    found: Option<Supplied<'a>>,
    expected: Expected<'_>,
) -> Result<&'a [u8], Unusable> {
    let found = found.ok_or(Unusable::Missing)?;
    if found.tree != expected.tree {
        let (found, expected) = (found.tree.clone(), expected.tree.clone());
        return Err(Unusable::OtherTree { found, expected });
    }
    if found.written < expected.started {
        return Err(Unusable::Stale { older_ms: expected.started.0 - found.written.0 });
    }
    if found.bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Unusable::Empty);
    }
    Ok(found.bytes)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::{Expected, Oid, Supplied, Unusable, WallMs, usable};

    fn oid(digit: &str) -> Oid {
        Oid::new(digit.repeat(40)).unwrap()
    }

    #[test]
    fn missing_empty_stale_and_foreign_reports_are_told_apart() {
        let (tree, other) = (oid("a"), oid("b"));
        let expected = Expected { started: WallMs(1_000), tree: &tree };
        let report = |bytes, written, tree| {
            usable(Some(Supplied { bytes, written: WallMs(written), tree }), expected)
        };
        assert_eq!(usable(None, expected), Err(Unusable::Missing));
        assert_eq!(report(b" \n", 1_000, &tree), Err(Unusable::Empty));
        assert_eq!(report(b"x", 999, &tree), Err(Unusable::Stale { older_ms: 1 }));
        let foreign = Unusable::OtherTree { found: other.clone(), expected: tree.clone() };
        assert_eq!(report(b"x", 1_000, &other), Err(foreign));
        assert_eq!(report(b"x", 1_000, &tree), Ok(b"x".as_slice()));
    }
}
