//! Lines, and how two lists of them differ. It must not know where they come from.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// A stretch of lines that was replaced by another; one of them may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The lines of a file without their ends. A missing end of the last line makes no difference.
pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut all: Vec<_> = bytes.split(|b| *b == b'\n').collect();
    if all.last().is_some_and(|last| last.is_empty()) {
        all.pop();
    }
    all
}

/// The differences, in order.
pub(crate) fn hunks(old: &[&[u8]], new: &[&[u8]]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    // The smallest hunks there are: two diffs of one change have to cut it at the same places.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Hunk { old: range(hunk.before), new: range(hunk.after) }).collect()
}

/// Whether a line says something: a brace or a blank line alone does not.
pub(crate) fn has_word(line: &[u8]) -> bool {
    line.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_cover_what_changed_and_nothing_else() {
        let (old, new) = (lines(b"a\nb\nc\nd\n"), lines(b"a\nB\nB2\nc"));
        let expected = [Hunk { old: 1..2, new: 1..3 }, Hunk { old: 3..4, new: 4..4 }];
        assert_eq!(hunks(&old, &new), expected);
        assert_eq!(lines(b""), Vec::<&[u8]>::new());
        assert_eq!(hunks(&old, &old), []);
    }
}
