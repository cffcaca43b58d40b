//! Who moved a branch, as far as its reflog tells. It must not know what is made of it.

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::repo::Repo;

/// One move of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefMove {
    /// From where; `None` for the oldest move that is known.
    pub old: Option<Oid>,
    /// To where.
    pub new: Oid,
    /// Whether it was a landing of Tidegate, by its own words.
    pub by: Mover,
    /// Name and address that git had for the one who did it.
    pub who: String,
    /// What git noted, for instance `commit: Add berths` or `merge feat: Fast-forward`.
    pub note: String,
    /// When, in Unix seconds.
    pub when_unix_s: i64,
}

/// Who moved a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// A landing.
    Tidegate,
    /// A person, an agent or a program that called git by itself.
    Other,
}

/// How a commit got onto a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// The branch does not contain it.
    NotThere,
    /// The branch contains it.
    There {
        /// The move that brought it; `None` when the reflog does not reach back to it, or there is none.
        by: Option<RefMove>,
    },
}

/// What Tidegate's own moves are noted as.
pub(crate) const OWN_NOTE: &str = "tidegate";
/// So many moves are read, newest first.
const MOVES_MAX: usize = 500;
const SEPARATOR: char = '\u{1f}';
const DOING: &str = "reading a reflog";

impl Repo {
    /// The moves of a branch, newest first, back to the one that led to `since` or as far as is known.
    ///
    /// # Errors
    /// [`GitError::Missing`] when there is no such branch; what a call can give.
    pub fn target_moves(&self, target: &str, since: Option<&Oid>) -> Result<Vec<RefMove>> {
        if self.resolve(target)?.is_none() {
            return Err(GitError::Missing { what: format!("the ref {target}") });
        }
        let text = self
            .read(DOING)
            .args(["log", "--walk-reflogs", "--no-show-signature", "--no-color", "--no-decorate"])
            .args(["--date=unix", "--format=%H%x1f%gd%x1f%gn <%ge>%x1f%gs"])
            .args([&format!("--max-count={MOVES_MAX}"), target, "--"])
            .bytes()?;
        let text = String::from_utf8_lossy(&text);
        let mut moves: Vec<RefMove> = Vec::new();
        for line in text.lines() {
            let entry = parse(line).ok_or(GitError::Unparsable { doing: DOING })?;
            if let Some(later) = moves.last_mut() {
                later.old = Some(entry.new.clone());
            }
            if since == Some(&entry.new) {
                break;
            }
            moves.push(entry);
        }
        Ok(moves)
    }

    /// Whether a branch contains a commit, and who brought it there. A feature whose target was moved by something else
    /// than a landing is told from one that landed.
    ///
    /// # Errors
    /// [`GitError::Missing`] when there is no such branch; what a call can give.
    pub fn arrival(&self, commit: &Oid, target: &str) -> Result<Arrival> {
        if !self.has_landed(commit, target)? {
            return Ok(Arrival::NotThere);
        }
        for entry in self.target_moves(target, None)? {
            // The oldest one of a run of moves that all contain it.
            let came_before = match &entry.old {
                Some(old) => self.is_ancestor(commit, old)?,
                None => return Ok(Arrival::There { by: None }),
            };
            if !came_before {
                return Ok(Arrival::There { by: Some(entry) });
            }
        }
        Ok(Arrival::There { by: None })
    }
}

fn parse(line: &str) -> Option<RefMove> {
    let mut fields = line.splitn(4, SEPARATOR);
    let new = Oid::new(fields.next()?)?;
    let selector = fields.next()?;
    let when = selector.rsplit_once("@{")?.1.strip_suffix('}')?;
    let (who, note) = (fields.next()?.to_owned(), fields.next()?.to_owned());
    let own = note.strip_prefix(OWN_NOTE).is_some_and(|rest| rest.starts_with(':'));
    let by = if own { Mover::Tidegate } else { Mover::Other };
    Some(RefMove { old: None, new, by, who, note, when_unix_s: when.parse().ok()? })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn entry_of_a_reflog_is_read_and_ours_is_known() {
        let oid = "a".repeat(40);
        let line = |note: &str| format!("{oid}\u{1f}main@{{17}}\u{1f}Ada <a@x>\u{1f}{note}");
        let entry = parse(&line("commit: x\u{1f}y")).unwrap();
        assert_eq!(
            (entry.when_unix_s, &*entry.who, &*entry.note),
            (17, "Ada <a@x>", "commit: x\u{1f}y")
        );
        assert_eq!(entry.by, Mover::Other);
        assert_eq!(parse(&line("tidegate: land")).unwrap().by, Mover::Tidegate);
        assert_eq!(parse(&line("tidegates: x")).unwrap().by, Mover::Other);
        assert!(parse("junk").is_none());
    }
}
