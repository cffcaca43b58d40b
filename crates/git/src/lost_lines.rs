//! Which changes of one side are gone from a result: the line-wise heart of the guard against silent reverts. It must not
//! know git.

use std::collections::HashMap;
use std::ops::Range;

use crate::line_diff::{Hunk, has_word, hunks};

type Lines<'a> = [&'a [u8]];

/// How a change was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// What was before the change is back.
    Restored,
    /// The other side had not touched the place.
    Dropped,
    /// The other side had touched the place, and is all that is left of the two.
    ResolvedToOurs,
    /// Lines that the change had removed are back.
    Resurrected,
}

/// One lost change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) loss: Loss,
    /// Lines of the changed text, counted from 0; empty when only lines came back.
    pub(crate) gone: Vec<usize>,
    /// Lines of the text before the change that are back.
    pub(crate) back: Range<usize>,
}

/// The changes from `before` to `after` that were undone on the way from `after` to `result`.
pub(crate) fn undone(before: &Lines<'_>, after: &Lines<'_>, result: &Lines<'_>) -> Vec<Lost> {
    let leaving = hunks(after, result);
    if leaving.is_empty() {
        return Vec::new();
    }
    let whole = hunks(before, result);
    let inserted = Inserted::of(result, &leaving);
    let changes = hunks(before, after).into_iter();
    changes
        .filter_map(|change| {
            let gone = gone(after, &change, &leaving)?;
            let back = before[change.old.clone()].iter().any(|line| has_word(line));
            let loss = if gone.iter().any(|at| !blank(after[*at])) {
                Loss::Restored
            } else if back {
                Loss::Resurrected
            } else {
                // Blank lines alone.
                return None;
            };
            let undone = came_back(before, &change, &whole, &inserted);
            undone.then_some(Lost { loss, gone, back: change.old })
        })
        .collect()
}

/// The changes from `base` to `theirs` that a merge with `ours` has lost.
pub(crate) fn lost_in_merge(
    base: &Lines<'_>,
    ours: &Lines<'_>,
    theirs: &Lines<'_>,
    result: &Lines<'_>,
) -> Vec<Lost> {
    let leaving = hunks(theirs, result);
    if leaving.is_empty() {
        return Vec::new();
    }
    let own = hunks(base, ours);
    let from_ours = hunks(ours, result);
    let inserted = Inserted::of(result, &leaving);
    let mut all = Vec::new();
    for change in hunks(base, theirs) {
        let touching = |hunk: &&Hunk| meets(&hunk.old, &change.old);
        let Some(mine) = own.iter().find(touching) else {
            let gone: Vec<_> = change.new.clone().filter(|at| removed(*at, &leaving)).collect();
            let back = inserted.has_all(&base[change.old.clone()]);
            if gone.iter().any(|at| !blank(theirs[*at])) {
                all.push(Lost { loss: Loss::Dropped, gone, back: change.old });
            } else if change.new.is_empty() && back {
                all.push(Lost { loss: Loss::Resurrected, gone, back: change.old });
            }
            continue;
        };
        let says_something = |gone: &Vec<usize>| gone.iter().any(|at| !blank(theirs[*at]));
        let Some(gone) = gone(theirs, &change, &leaving).filter(says_something) else {
            continue;
        };
        let kept_mine = !from_ours.iter().any(|hunk| inside(&hunk.old, &mine.new));
        if kept_mine {
            all.push(Lost { loss: Loss::ResolvedToOurs, gone, back: change.old });
        }
    }
    all
}

/// Lines of the change that are gone, if no line with a word in it is left.
fn gone(after: &Lines<'_>, change: &Hunk, leaving: &[Hunk]) -> Option<Vec<usize>> {
    let (gone, left): (Vec<_>, Vec<_>) = change.new.clone().partition(|at| removed(*at, leaving));
    (!left.into_iter().any(|at| has_word(after[at]))).then_some(gone)
}

/// Whether the place of a change looks as it did before. `whole` leads from before to the result.
fn came_back(before: &Lines<'_>, change: &Hunk, whole: &[Hunk], inserted: &Inserted<'_>) -> bool {
    if !change.old.is_empty() {
        let touched =
            whole.iter().any(|h| h.old.start < change.old.end && change.old.start < h.old.end);
        return !touched && inserted.has_all(&before[change.old.clone()]);
    }
    // Lines had been added in a gap: nothing may stand there, and not all around it may be gone too.
    let gap = change.old.start;
    whole.iter().all(|hunk| {
        let Range { start, end } = hunk.old;
        if start < gap && gap < end {
            false
        } else if start == gap || end == gap {
            start != end && hunk.new.len() <= hunk.old.len()
        } else {
            true
        }
    })
}

fn removed(at: usize, leaving: &[Hunk]) -> bool {
    leaving.iter().any(|hunk| hunk.old.contains(&at))
}

/// Whether two stretches overlap or stand side by side.
fn meets(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// Whether a change lies at a place: in it, or exactly where it is empty.
fn inside(change: &Range<usize>, place: &Range<usize>) -> bool {
    (change.start < place.end && place.start < change.end)
        || (change.is_empty() && place.start <= change.start && change.start <= place.end)
        || (place.is_empty() && change.start <= place.start && place.start <= change.end)
}

fn blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Lines that a result has and the text before it had not, with how often.
#[derive(Debug, Default)]
pub(crate) struct Inserted<'a>(HashMap<&'a [u8], usize>);

impl<'a> Inserted<'a> {
    fn of(result: &Lines<'a>, leaving: &[Hunk]) -> Self {
        let mut all = Self::default();
        for hunk in leaving {
            all.add(&result[hunk.new.clone()]);
        }
        all
    }

    /// Counts lines, without the white space around them.
    pub(crate) fn add(&mut self, lines: &Lines<'a>) {
        for line in lines {
            *self.0.entry(line.trim_ascii()).or_default() += 1;
        }
    }

    /// Whether all lines with a word in them are there.
    fn has_all(&self, lines: &Lines<'_>) -> bool {
        self.share(lines) >= 1.0
    }

    /// The part of the lines with a word in them that is there; 1 if there are none.
    pub(crate) fn share(&self, lines: &Lines<'_>) -> f64 {
        let mut wanted: HashMap<&[u8], usize> = HashMap::new();
        for line in lines.iter().filter(|line| has_word(line)) {
            *wanted.entry(line.trim_ascii()).or_default() += 1;
        }
        let all: usize = wanted.values().sum();
        let found: usize =
            wanted.iter().map(|(line, n)| *n.min(self.0.get(line).unwrap_or(&0))).sum();
        #[expect(clippy::cast_precision_loss, reason = "a share of lines")]
        if all == 0 { 1.0 } else { found as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_diff::lines;

    fn losses(before: &str, after: &str, result: &str) -> Vec<Loss> {
        let [b, a, r] = [before, after, result].map(|text| lines(text.as_bytes()));
        undone(&b, &a, &r).into_iter().map(|lost| lost.loss).collect()
    }

    #[test]
    fn change_that_was_put_back_is_undone_even_beside_an_own_edit() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nb2\nc\nd\n");
        assert_eq!(losses(before, after, before), [Loss::Restored]);
        assert_eq!(losses(before, after, "a\nb\nmine\nd\n"), [Loss::Restored]);
        assert_eq!(losses("a\nd\n", "a\nnew\nd\n", "mine\nd\n"), [Loss::Restored]);
        assert_eq!(losses("a\nold\nd\n", "a\nd\n", "a\nold\nd\n"), [Loss::Resurrected]);
    }

    #[test]
    fn edit_on_top_of_a_change_undoes_nothing() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nb2\nc\nd\n");
        for result in ["a\nb3\nc\nd\n", "a\nd\n", "a\nb2\nc\nd\ne\n", "a\nb2\nd\n", ""] {
            assert_eq!(losses(before, after, result), [], "{result}");
        }
        assert_eq!(losses("a\nd\n", "a\nx\ny\nd\n", "a\ny\nd\n"), []);
        assert_eq!(losses("a\nd\n", "a\nx\nd\n", "a\nX\nd\n"), []);
        assert_eq!(losses("a\nd\n", "a\n\nd\n", "a\nd\n"), [], "a blank line is nothing");
    }

    #[test]
    fn merge_that_kept_one_side_alone_has_lost_the_other() {
        let of = |base: &str, ours: &str, theirs: &str, result: &str| -> Vec<Loss> {
            let [b, o, t, r] = [base, ours, theirs, result].map(|text| lines(text.as_bytes()));
            lost_in_merge(&b, &o, &t, &r).into_iter().map(|lost| lost.loss).collect()
        };
        let base = "1\n2\n3\n4\n5\n6\n7\n";
        let ours = "1\nours\n3\n4\n5\n6\n7\n";
        let theirs = "1\ntheirs\n3\n4\n5\nsix\n7\n";
        assert_eq!(of(base, ours, theirs, ours), [Loss::ResolvedToOurs, Loss::Dropped]);
        let both = "1\nours and theirs\n3\n4\n5\nsix\n7\n";
        assert_eq!(of(base, ours, theirs, both), []);
        assert_eq!(of(base, ours, theirs, theirs), []);
    }

    #[test]
    fn share_counts_each_line_once() {
        let mut inserted = Inserted::default();
        inserted.add(&lines(b"  x1\n}\n"));
        assert!((inserted.share(&lines(b"x1\nx1\n}\n")) - 0.5).abs() < 1e-9);
        assert!((inserted.share(&lines(b"}\n")) - 1.0).abs() < 1e-9);
        assert_eq!(Some(1), inserted.0.get(b"x1".as_slice()).copied());
    }
}
