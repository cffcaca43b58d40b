//! Files of a snapshot written to a folder. It must not know worktrees.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use super::entries::{EXECUTABLE, Entries, Entry, LINK, records, split, tree_record};
use super::vault::Vault;
use crate::error::{GitError, Result};
use crate::spool::Spool;

/// Bytes of one call, beyond which no further object is asked for.
const CHUNK_BYTES: u64 = 32 * 1024 * 1024;
/// Longest line before the bytes of an object, in bytes.
const HEAD_BYTES_MAX: u64 = 200;
/// Objects of one call.
const CHUNK_COUNT: usize = 2_000;

/// The files of a tree, and the size of each object in bytes.
pub(super) struct Sized {
    pub(super) files: Entries,
    sizes: HashMap<Oid, u64>,
}

impl Vault {
    /// Lists a tree here, which may borrow.
    pub(super) fn list_files(&self, tree: &Oid) -> Result<Sized> {
        let bytes = self
            .lent(self.read("listing a snapshot"))
            .args(["ls-tree", "-r", "-z", "-l", "--full-tree"])
            .arg(tree.as_str())
            .bytes()?;
        let mut sized = Sized { files: Entries::new(), sizes: HashMap::new() };
        for record in records(&bytes) {
            let (entry, size, path) = tree_record(record)?;
            sized.sizes.insert(entry.oid.clone(), size.unwrap_or(0));
            sized.files.insert(path.to_vec(), entry);
        }
        Ok(sized)
    }

    /// Hands the bytes of objects over, in their order; what is not read of one is passed over.
    fn each_content(
        &self,
        oids: &[&Oid],
        mut take: impl FnMut(usize, &mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        let doing = "reading contents of a snapshot";
        let text: Vec<&str> = oids.iter().flat_map(|oid| [oid.as_str(), "\n"]).collect();
        let call = self.lent(self.read(doing)).args(["cat-file", "--batch"]).stdin(text.concat());
        let spool = Spool::within(&self.dir)?;
        call.stdout_to(&spool).bytes()?;
        let failed = |source| GitError::Io { doing, path: self.dir.clone(), source };
        let mut reader = spool.reader().map_err(failed)?;
        for (at, oid) in oids.iter().enumerate() {
            let missing = || GitError::Missing { what: format!("the object {oid}") };
            let mut head = Vec::new();
            (&mut reader).take(HEAD_BYTES_MAX).read_until(b'\n', &mut head).map_err(failed)?;
            let head = String::from_utf8_lossy(&head);
            let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
            let mut content = (&mut reader).take(size.ok_or_else(missing)?);
            take(at, &mut content)?;
            io::copy(&mut content, &mut io::sink()).map_err(failed)?;
            // Of an output that was cut off even this is not there.
            if content.limit() != 0 || reader.read(&mut [0]).map_err(failed)? != 1 {
                return Err(missing());
            }
        }
        Ok(())
    }

    /// Makes the files below `root` those of `wanted`, where `present` is there now. What is in neither is left alone,
    /// and stands in the way where it must.
    pub(super) fn materialize(
        &self,
        root: &Path,
        wanted: &Sized,
        present: &Entries,
        empty: &[Vec<u8>],
    ) -> Result<()> {
        for (path, entry) in present {
            let stays =
                wanted.files.get(path).is_some_and(|to| (to.mode == LINK) == (entry.mode == LINK));
            if !stays {
                fail::fail_point!("git.restore.before_remove");
                remove_file(&place(root, path))?;
                fail::fail_point!("git.restore.after_remove");
            }
        }
        for path in present.keys().filter(|path| !wanted.files.contains_key(*path)) {
            let (mut folder, _) = split(path);
            // Fails, rightly, when something is left in it.
            while !folder.is_empty() && fs::remove_dir(place(root, folder)).is_ok() {
                (folder, _) = split(folder);
            }
        }
        let differs = |(path, entry): &(&Vec<u8>, &Entry)| present.get(*path) != Some(entry);
        let mut todo: Vec<(&Vec<u8>, &Entry)> = wanted.files.iter().filter(differs).collect();
        todo.reverse();
        while !todo.is_empty() {
            let mut chunk = Vec::new();
            let mut bytes = 0;
            while chunk.len() < CHUNK_COUNT && bytes < CHUNK_BYTES {
                let Some((path, entry)) = todo.pop() else { break };
                bytes += wanted.sizes.get(&entry.oid).copied().unwrap_or(0);
                chunk.push((path, entry));
            }
            let oids: Vec<&Oid> = chunk.iter().map(|(_, entry)| &entry.oid).collect();
            self.each_content(&oids, |at, content| {
                let (path, entry) = chunk[at];
                write_one(root, path, entry, content)
            })?;
        }
        for path in empty {
            make_folders(root, path)?;
        }
        Ok(())
    }

    /// Reads the blobs of a flat tree, by name.
    pub(super) fn flat_files(&self, tree: &Oid) -> Result<BTreeMap<String, Vec<u8>>> {
        let files = self.list_files(tree)?.files;
        let oids: Vec<&Oid> = files.values().map(|entry| &entry.oid).collect();
        let names = files.keys().map(|name| String::from_utf8_lossy(name).into_owned());
        let mut all = Vec::with_capacity(oids.len());
        self.each_content(&oids, |_, content| {
            let mut bytes = Vec::new();
            let read = content.read_to_end(&mut bytes);
            read.map_err(GitError::io("read", &self.dir))?;
            all.push(bytes);
            Ok(())
        })?;
        Ok(names.zip(all).collect())
    }
}

fn write_one(root: &Path, path: &[u8], entry: &Entry, content: &mut dyn Read) -> Result<()> {
    let (folder, name) = split(path);
    if name.is_empty() || [&b"."[..], b"..", b".git"].contains(&name) {
        return Err(in_the_way(&place(root, path), "a snapshot never has such a name"));
    }
    make_folders(root, folder)?;
    let place = place(root, path);
    if place.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Err(in_the_way(&place, "a folder with files that are not captured is in the way"));
    }
    // Never written through: it may be a link out of the worktree, or have other names.
    remove_file(&place)?;
    fail::fail_point!("git.restore.before_write");
    let written = if entry.mode == LINK {
        let mut target = Vec::new();
        content.read_to_end(&mut target).and_then(|_| symlink(OsStr::from_bytes(&target), &place))
    } else {
        let mode = if entry.mode == EXECUTABLE { 0o777 } else { 0o666 };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        options.open(&place).and_then(|mut file| io::copy(content, &mut file)).map(drop)
    };
    written.map_err(GitError::io("write", &place))?;
    fail::fail_point!("git.restore.after_write");
    Ok(())
}

/// Sees to the folders of a path; never goes through a link.
fn make_folders(root: &Path, folder: &[u8]) -> Result<()> {
    let mut place = root.to_owned();
    for name in folder.split(|b| *b == b'/').filter(|name| !name.is_empty()) {
        if [&b"."[..], b"..", b".git"].contains(&name) {
            return Err(in_the_way(&place, "a snapshot never has such a name"));
        }
        place.push(OsStr::from_bytes(name));
        match place.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(in_the_way(&place, "a file that is not captured is in the way")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&place).map_err(GitError::io("create", &place))?;
            }
            Err(source) => return Err(GitError::Io { doing: "look at", path: place, source }),
        }
    }
    Ok(())
}

fn in_the_way(place: &Path, why: &str) -> GitError {
    let stderr = format!("{}: {why}", place.display());
    GitError::Refused { doing: "restoring a snapshot", stderr }
}

fn remove_file(place: &Path) -> Result<()> {
    match fs::remove_file(place) {
        Ok(()) => return Ok(()),
        Err(error) if is_gone(&error) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        Err(source) => {
            return Err(GitError::Io { doing: "remove", path: place.to_owned(), source });
        }
    }
    // An agent may have write-protected the folder.
    if let Some(folder) = place.parent() {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
            .map_err(GitError::io("unprotect", folder))?;
    }
    fs::remove_file(place).map_err(GitError::io("remove", place))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn place(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}
