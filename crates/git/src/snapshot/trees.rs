//! Trees of the private repository: only those are made that the base does not have. It must not know files.

use std::collections::BTreeMap;

use tidegate_core::ids::Oid;

use super::entries::{BaseTree, Entries, Entry, LINK, TREE, split};
use super::vault::Vault;
use crate::error::{GitError, Result};

impl Vault {
    /// The tree of all these files. A folder with exactly what `base` has there is borrowed.
    pub(super) fn make_tree(&self, files: &Entries, base: &BaseTree) -> Result<Oid> {
        let mut levels: BTreeMap<usize, BTreeMap<Vec<u8>, Entries>> = BTreeMap::new();
        let depth = |folder: &[u8]| {
            if folder.is_empty() { 0 } else { folder.split(|b| *b == b'/').count() }
        };
        let mut put = |path: &[u8], entry: Entry| {
            let (folder, name) = split(path);
            let level = levels.entry(depth(folder)).or_default();
            level.entry(folder.to_vec()).or_default().insert(name.to_vec(), entry);
        };
        let mut folders: std::collections::BTreeSet<&[u8]> = std::collections::BTreeSet::new();
        for (path, entry) in files {
            put(path, entry.clone());
            let (mut folder, _) = split(path);
            while !folder.is_empty() && folders.insert(folder) {
                (folder, _) = split(folder);
            }
        }
        let deepest = folders.iter().map(|folder| depth(folder)).max().unwrap_or(0);
        levels.entry(0).or_default().entry(Vec::new()).or_default();
        for number in (1..=deepest).rev() {
            let level = levels.remove(&number).unwrap_or_default();
            for (folder, oid) in self.make_level(level, base)? {
                let (parent, name) = split(&folder);
                let above = levels.entry(number - 1).or_default();
                let entry = Entry { mode: TREE, oid };
                above.entry(parent.to_vec()).or_default().insert(name.to_vec(), entry);
            }
        }
        let top = self.make_level(levels.remove(&0).unwrap_or_default(), base)?;
        let root = top.into_iter().find(|(folder, _)| folder.is_empty()).map(|(_, oid)| oid);
        root.ok_or(GitError::Unparsable { doing: "making trees" })
    }

    /// The trees of folders whose own folders are made already.
    fn make_level(
        &self,
        level: BTreeMap<Vec<u8>, Entries>,
        base: &BaseTree,
    ) -> Result<Vec<(Vec<u8>, Oid)>> {
        let mut made = Vec::new();
        let mut wanted = Vec::new();
        let mut text = Vec::new();
        for (folder, entries) in level {
            match base.folders.get(&folder) {
                Some((oid, same)) if *same == entries => made.push((folder, oid.clone())),
                Some(_) | None => {
                    text.extend(tree_text(&entries));
                    text.push(0);
                    wanted.push(folder);
                }
            }
        }
        if wanted.is_empty() {
            return Ok(made);
        }
        let doing = "making trees";
        fail::fail_point!("git.snapshot.before_trees");
        let printed =
            self.write(doing).args(["mktree", "-z", "--missing", "--batch"]).stdin(text).text()?;
        fail::fail_point!("git.snapshot.after_trees");
        let oids: Option<Vec<Oid>> = printed.lines().map(|o| Oid::new(o.to_owned())).collect();
        let oids = oids.filter(|oids| oids.len() == wanted.len());
        made.extend(wanted.into_iter().zip(oids.ok_or(GitError::Unparsable { doing })?));
        Ok(made)
    }

    /// A tree of blobs by name.
    pub(super) fn make_flat_tree(&self, blobs: Vec<(&str, Oid)>) -> Result<Oid> {
        let entry = |(name, oid): (&str, Oid)| {
            (name.as_bytes().to_vec(), Entry { mode: super::entries::FILE, oid })
        };
        let entries: Entries = blobs.into_iter().map(entry).collect();
        let text = tree_text(&entries);
        self.write("making a tree").args(["mktree", "-z", "--missing"]).stdin(text).oid()
    }
}

fn tree_text(entries: &Entries) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, entry) in entries {
        let kind = if entry.mode == TREE { "tree" } else { "blob" };
        text.extend(format!("{:06o} {kind} {}\t", entry.mode, entry.oid).into_bytes());
        text.extend_from_slice(name);
        text.push(0);
    }
    debug_assert!(entries.values().all(|entry| entry.mode <= LINK), "no gitlinks in snapshots");
    text
}
