//! Copies objects between the user's repository and the private one. It must not know what they are.

use std::collections::BTreeSet;

use tidegate_core::ids::Oid;

use super::vault::Vault;
use crate::error::{GitError, Result};
use crate::invocation::Invocation;
use crate::repo::Repo;

/// Up to how many objects stand by themselves, where garbage collection finds each; more of them stay a pack.
const LOOSE_MAX: u32 = 5_000;

/// What is to be copied.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// These objects; of commits, everything that they reach...
    pub(super) objects: BTreeSet<Oid>,
    /// ...but what these commits reach.
    pub(super) without: Vec<Oid>,
}

impl Vault {
    /// Copies from the user's repository.
    pub(super) fn take_in(&self, repo: &Repo, wanted: &Wanted) -> Result<()> {
        let pack = pack(repo.read(DOING), wanted)?;
        fail::fail_point!("git.snapshot.before_take_in");
        unpack(&pack, || self.write(DOING))?;
        fail::fail_point!("git.snapshot.after_take_in");
        Ok(())
    }

    /// Copies to the user's repository.
    pub(super) fn give_back(&self, repo: &Repo, wanted: &Wanted) -> Result<()> {
        let pack = pack(self.lent(self.read(DOING)), wanted)?;
        fail::fail_point!("git.restore.before_give_back");
        unpack(&pack, || repo.write(DOING))?;
        fail::fail_point!("git.restore.after_give_back");
        Ok(())
    }
}

const DOING: &str = "copying objects of a snapshot";

fn pack(call: Invocation<'_>, wanted: &Wanted) -> Result<Vec<u8>> {
    if wanted.objects.is_empty() {
        return Ok(Vec::new());
    }
    let mut text = String::new();
    for oid in &wanted.objects {
        text.push_str(oid.as_str());
        text.push('\n');
    }
    for oid in &wanted.without {
        text.push('^');
        text.push_str(oid.as_str());
        text.push('\n');
    }
    call.args(["pack-objects", "--revs", "--stdout", "-q"]).stdin(text).bytes()
}

fn unpack<'a>(pack: &[u8], call: impl Fn() -> Invocation<'a>) -> Result<()> {
    let count = match pack.get(8..12) {
        Some(bytes) => bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
        None if pack.is_empty() => 0,
        None => return Err(GitError::Unparsable { doing: DOING }),
    };
    let call = match count {
        0 => return Ok(()),
        1..=LOOSE_MAX => call().args(["unpack-objects", "-q"]),
        _ => call().args(["index-pack", "--stdin"]),
    };
    call.stdin(pack).bytes().map(drop)
}
