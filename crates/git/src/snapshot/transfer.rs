//! Copies objects between the user's repository and the private one. It must not know what they are.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;

use tidegate_core::ids::Oid;

use super::vault::Vault;
use crate::error::{GitError, Result};
use crate::invocation::Invocation;
use crate::repo::Repo;
use crate::spool::Spool;

/// Up to how many objects stand by themselves, where garbage collection finds each; more of them stay a pack.
const LOOSE_MAX: u32 = 5_000;
/// Where a pack says how many objects it has, in bytes from its beginning.
const COUNT_AT: u64 = 8;

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
        let Some(pack) = self.pack(repo.read(DOING), wanted)? else { return Ok(()) };
        fail::fail_point!("git.snapshot.before_take_in");
        unpack(&pack, self.write(DOING))?;
        fail::fail_point!("git.snapshot.after_take_in");
        Ok(())
    }

    /// Copies to the user's repository.
    pub(super) fn give_back(&self, repo: &Repo, wanted: &Wanted) -> Result<()> {
        let call = self.lent(self.read(DOING));
        let Some(pack) = self.pack(call, wanted)? else { return Ok(()) };
        fail::fail_point!("git.restore.before_give_back");
        unpack(&pack, repo.write(DOING))?;
        fail::fail_point!("git.restore.after_give_back");
        Ok(())
    }

    /// Packs what is wanted, into a file beside the snapshots: it may be of any size.
    fn pack(&self, call: Invocation<'_>, wanted: &Wanted) -> Result<Option<Spool>> {
        if wanted.objects.is_empty() {
            return Ok(None);
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
        let pack = Spool::within(&self.dir)?;
        let call = call.args(["pack-objects", "--revs", "--stdout", "-q"]);
        call.stdin(text).stdout_to(&pack).bytes()?;
        Ok(Some(pack))
    }
}

const DOING: &str = "copying objects of a snapshot";

fn unpack(pack: &Spool, call: Invocation<'_>) -> Result<()> {
    let mut count = [0; 4];
    let read = pack.file().read_exact_at(&mut count, COUNT_AT);
    read.map_err(|_| GitError::Unparsable { doing: DOING })?;
    let call = match u32::from_be_bytes(count) {
        0 => return Ok(()),
        1..=LOOSE_MAX => call.args(["unpack-objects", "-q"]),
        _ => call.args(["index-pack", "--stdin"]),
    };
    call.stdin_of(pack).bytes().map(drop)
}
