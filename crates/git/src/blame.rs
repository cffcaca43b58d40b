//! Which commits of the target since the base a path, or a line of it, is from. It must not know why that is asked.

use std::path::Path;

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::repo::Repo;
use crate::silent_revert::RevertCheck;

impl Repo {
    /// The commits in `base..target` that changed a path; newest first.
    pub(crate) fn commits_on(&self, check: &RevertCheck, path: &Path) -> Result<Vec<Oid>> {
        let doing = "listing the commits of a file";
        let text = self
            .read(doing)
            .global("--literal-pathspecs")
            .args(["rev-list", "--no-merges"])
            .arg(format!("{}..{}", check.base, check.target))
            .arg("--")
            .arg(path)
            .text()?;
        let names = text.lines().map(|line| Oid::new(line).ok_or(GitError::Unparsable { doing }));
        names.collect()
    }

    /// The commits in `base..target` that last changed these lines (counted from 0) of a file of the target.
    pub(crate) fn blame(
        &self,
        check: &RevertCheck,
        path: &Path,
        lines: &[usize],
    ) -> Result<Vec<Oid>> {
        let doing = "asking who changed a line";
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let mut call = self.read(doing).global("-c").global("blame.ignoreRevsFile=").args([
            "blame",
            "-s",
            "--porcelain",
        ]);
        for (first, last) in stretches(lines) {
            call = call.arg(format!("-L{},{}", first + 1, last + 1));
        }
        let range = format!("{}..{}", check.base, check.target);
        let bytes = call.arg(range).arg("--").arg(path).bytes()?;
        Ok(parse(&bytes))
    }
}

/// Numbers as stretches from the first to the last.
fn stretches(lines: &[usize]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        match all.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => all.push((*line, *line)),
        }
    }
    all
}

/// The commits of `--porcelain`, without those at the boundary of the range.
fn parse(bytes: &[u8]) -> Vec<Oid> {
    let mut all: Vec<Oid> = Vec::new();
    let mut boundary: Vec<Oid> = Vec::new();
    let mut current = None;
    for line in bytes.split(|b| *b == b'\n') {
        if line.starts_with(b"\t") {
            current = None;
        } else if line == b"boundary" {
            boundary.extend(current.clone());
        } else if current.is_none() {
            let name = line.split(|b| *b == b' ').next().unwrap_or_default();
            current = Oid::new(String::from_utf8_lossy(name));
            all.extend(current.clone().filter(|oid| !all.contains(oid)));
        }
    }
    all.retain(|oid| !boundary.contains(oid));
    all
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn porcelain_gives_each_commit_once_and_none_of_the_boundary() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let text = format!(
            "{a} 1 1 2\nsummary x\nfilename f\n\tone\n{a} 2 2\n\t{b} 1 1 1\n\
             {b} 3 3 1\nsummary y\nboundary\nfilename f\n\tthree\n"
        );
        assert_eq!(parse(text.as_bytes()), [Oid::new(a).unwrap()]);
        assert_eq!(stretches(&[1, 2, 3, 7, 9, 10]), [(1, 3), (7, 7), (9, 10)]);
    }
}
