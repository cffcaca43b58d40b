//! Whether two globs can match the same path. Where it cannot be told, the answer is yes.

/// Whether some path matches both globs. `/` separates; `*` and `?` stay within a part, `**` goes
/// across parts; classes and braces are taken for `*`.
pub(crate) fn can_meet(left: &str, right: &str) -> bool {
    let parts = |glob: &str| -> Vec<String> {
        let mut parts: Vec<String> =
            glob.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        if glob.ends_with('/') {
            parts.push("**".to_owned());
        }
        parts
    };
    // A brace may hold a separator; then nothing is known of the parts.
    let unclear = |glob: &str| {
        let inside = glob.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        inside.into_iter().any(|inner| inner.contains('/'))
    };
    if unclear(left) || unclear(right) {
        return true;
    }
    let (left, right) = (parts(left), parts(right));
    meet(
        &left,
        &right,
        |part| part == "**",
        |left, right| {
            let (left, right) = (marks(left), marks(right));
            meet(
                &left,
                &right,
                |mark| *mark == Mark::Many,
                |left, right| {
                    matches!((left, right), (Mark::One, _) | (_, Mark::One)) || left == right
                },
            )
        },
    )
}

/// Whether two sequences with gaps can be the same: `is_gap` stands for any number of items.
fn meet<T>(
    left: &[T],
    right: &[T],
    is_gap: impl Fn(&T) -> bool,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    let width = right.len() + 1;
    // `fits[i * width + j]`: the tails from i and j can be the same.
    let mut fits = vec![false; (left.len() + 1) * width];
    for i in (0..=left.len()).rev() {
        for j in (0..=right.len()).rev() {
            let at = |i: usize, j: usize| fits[i * width + j];
            fits[i * width + j] = match (left.get(i), right.get(j)) {
                (None, None) => true,
                (Some(l), None) => is_gap(l) && at(i + 1, j),
                (None, Some(r)) => is_gap(r) && at(i, j + 1),
                (Some(l), Some(r)) if is_gap(l) || is_gap(r) => {
                    // A gap ends here, or takes in what the other side has next.
                    (is_gap(l) && (at(i + 1, j) || at(i, j + 1)))
                        || (is_gap(r) && (at(i, j + 1) || at(i + 1, j)))
                }
                (Some(l), Some(r)) => same(l, r) && at(i + 1, j + 1),
            };
        }
    }
    fits[0]
}

#[derive(PartialEq, Eq)]
enum Mark {
    Char(char),
    One,
    Many,
}

fn marks(part: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        marks.push(match character {
            '*' => Mark::Many,
            '?' => Mark::One,
            '\\' => characters.next().map_or(Mark::Char('\\'), Mark::Char),
            '[' | '{' => {
                let close = if character == '[' { ']' } else { '}' };
                characters.by_ref().find(|one| *one == close);
                Mark::Many
            }
            other => Mark::Char(other),
        });
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::can_meet;

    #[test]
    fn globs_with_a_common_path_meet() {
        for (left, right) in [
            ("a.rs", "a.rs"),
            ("src/**", "src/a/b.rs"),
            ("src/*.rs", "src/a*"),
            ("**/a.rs", "src/**"),
            ("src/", "src/x"),
            ("src/{a,b}/c", "src/b/c"),
            ("a/[xy].rs", "a/x.rs"),
            ("a/?.rs", "a/*.rs"),
            ("**", "x"),
        ] {
            assert!(can_meet(left, right) && can_meet(right, left), "{left} {right}");
        }
    }

    #[test]
    fn globs_without_a_common_path_do_not_meet() {
        for (left, right) in [
            ("a.rs", "b.rs"),
            ("src/*.rs", "src/a/b.rs"),
            ("src/**", "tests/**"),
            ("src/*.rs", "src/*.toml"),
            ("a/?.rs", "a/xy.rs"),
            ("**/a.rs", "src/b.rs"),
        ] {
            assert!(!can_meet(left, right) && !can_meet(right, left), "{left} {right}");
        }
    }
}
