//! A walk over a worktree: which of its files are captured, and what is left out. It must not know objects.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::entries::{EXECUTABLE, FILE, GITLINK, IndexEntry, LINK, join, split};
use super::index_copy::IndexCopy;
use super::metadata::{LeftOut, WhyLeftOut};
use super::stat_cache::{Stat, StatCache};
use crate::error::{GitError, Result};

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Walked {
    /// Files and links, by path.
    pub(super) files: BTreeMap<Vec<u8>, Stat>,
    /// Folders in which nothing is captured.
    pub(super) empty: Vec<Vec<u8>>,
    pub(super) left: Vec<LeftOut>,
}

/// What a walk goes by.
pub(super) struct Walk<'a> {
    pub(super) root: &'a Path,
    pub(super) index: &'a IndexCopy<'a>,
    pub(super) tracked: &'a [IndexEntry],
    /// The last snapshot's; decides by itself only what cannot have changed since.
    pub(super) cache: &'a StatCache,
    pub(super) file_bytes_max: u64,
}

/// A folder to be looked at.
struct Folder {
    path: Vec<u8>,
    /// The repository that it belongs to: the worktree (empty), or one inside of it.
    repository: Vec<u8>,
    /// Whether what the last walk found out about ignored names holds here.
    trusted: bool,
}

/// Something in a folder of which only git knows whether it is ignored.
struct Open {
    path: Vec<u8>,
    meta: Metadata,
    folder: usize,
}

impl Walk<'_> {
    pub(super) fn run(&self, exclude_stamp: &str) -> Result<Walked> {
        let mut walked = Walked::default();
        let tracked: HashSet<&[u8]> = self.tracked.iter().map(|e| &e.path[..]).collect();
        let mut folders_of_tracked: HashSet<&[u8]> = HashSet::new();
        for path in &tracked {
            let (mut folder, _) = split(path);
            while !folder.is_empty() && folders_of_tracked.insert(folder) {
                (folder, _) = split(folder);
            }
        }
        let submodules = self.tracked.iter().filter(|e| e.mode == GITLINK);
        let submodules = submodules.map(|e| &e.path[..]).collect();
        let known = Known { tracked, folders_of_tracked, submodules, cache: self.cache };
        let trusted = self.cache.exclude_stamp == exclude_stamp;
        let mut level = vec![Folder { path: Vec::new(), repository: Vec::new(), trusted }];
        let mut filled: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut visited = Vec::new();
        while !level.is_empty() {
            level = self.level(level, &known, &mut walked, &mut visited)?;
        }
        for path in walked.files.keys() {
            let (mut folder, _) = split(path);
            while !folder.is_empty() && filled.insert(folder.to_vec()) {
                (folder, _) = split(folder);
            }
        }
        walked.empty = visited.into_iter().filter(|path| !filled.contains(path)).collect();
        walked.empty.sort();
        Ok(walked)
    }

    /// Looks at all folders of one depth; gives those of the next.
    fn level(
        &self,
        mut folders: Vec<Folder>,
        known: &Known<'_>,
        walked: &mut Walked,
        visited: &mut Vec<Vec<u8>>,
    ) -> Result<Vec<Folder>> {
        let mut next = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        for (number, folder) in folders.iter_mut().enumerate() {
            let place = self.root.join(OsStr::from_bytes(&folder.path));
            let names = match list(&place)? {
                Listing::Names(names) => names,
                Listing::Gone if folder.path.is_empty() => {
                    return Err(GitError::Missing {
                        what: format!("the worktree {}", place.display()),
                    });
                }
                Listing::Gone => continue,
                Listing::Closed => {
                    leave(walked, folder.path.clone(), WhyLeftOut::Unreadable);
                    continue;
                }
            };
            if !folder.path.is_empty() {
                visited.push(folder.path.clone());
            }
            self.enter(folder, &names, known, walked);
            for name in names {
                if name == b".git" {
                    continue;
                }
                let path = join(&folder.path, &name);
                let Some(meta) = look(&place.join(OsStr::from_bytes(&name)))? else { continue };
                let certain = folder.repository.is_empty() && known.is_tracked(&path)
                    || folder.trusted && known.was_captured(&path);
                if certain {
                    self.keep(path, &meta, folder, walked, &mut next);
                } else if folder.trusted && known.was_ignored(&path) {
                    leave(walked, path, WhyLeftOut::Ignored);
                } else {
                    open.push(Open { path, meta, folder: number });
                }
            }
        }
        let ignored = self.ask(&folders, &open)?;
        for each in open {
            if ignored.contains(&each.path) {
                leave(walked, each.path, WhyLeftOut::Ignored);
            } else {
                let folder = &folders[each.folder];
                self.keep(each.path, &each.meta, folder, walked, &mut next);
            }
        }
        Ok(next)
    }

    /// Notes what holds for all in the folder: whether it is a repository of its own, and whether its rules of what is
    /// ignored are those of the last walk.
    fn enter(
        &self,
        folder: &mut Folder,
        names: &[Vec<u8>],
        known: &Known<'_>,
        walked: &mut Walked,
    ) {
        let is_root = folder.path.is_empty();
        if known.submodules.contains(&folder.path[..]) {
            // The worktree's own rules end here, even where nothing is checked out.
            folder.repository.clone_from(&folder.path);
        }
        let nested = names.iter().any(|name| name == b".git");
        if nested && !is_root {
            folder.repository.clone_from(&folder.path);
            leave(walked, join(&folder.path, b".git"), WhyLeftOut::NestedRecords);
        } else if nested && self.root.join(".git").is_dir() {
            leave(walked, b".git".to_vec(), WhyLeftOut::NestedRecords);
        }
        let rules = join(&folder.path, b".gitignore");
        let now = look(&self.root.join(OsStr::from_bytes(&rules))).ok().flatten();
        let now = now.map(|meta| Stat::of(&meta, FILE));
        let then = self.cache.files.get(&rules).map(|(stat, _)| stat);
        let same = match (&now, then) {
            (None, None) => true,
            (Some(now), Some(then)) => now.is_same_content(then),
            (Some(_), None) | (None, Some(_)) => false,
        };
        folder.trusted &= same;
    }

    /// Takes something that is not ignored.
    fn keep(
        &self,
        path: Vec<u8>,
        meta: &Metadata,
        folder: &Folder,
        walked: &mut Walked,
        next: &mut Vec<Folder>,
    ) {
        let kind = meta.file_type();
        if kind.is_dir() {
            let (repository, trusted) = (folder.repository.clone(), folder.trusted);
            next.push(Folder { path, repository, trusted });
        } else if kind.is_symlink() {
            walked.files.insert(path, Stat::of(meta, LINK));
        } else if !kind.is_file() {
            leave(walked, path, WhyLeftOut::Special);
        } else if meta.len() > self.file_bytes_max {
            leave(walked, path, WhyLeftOut::TooLarge);
        } else {
            let mode = if meta.mode() & 0o100 == 0 { FILE } else { EXECUTABLE };
            walked.files.insert(path, Stat::of(meta, mode));
        }
    }

    /// Those of the open paths that are ignored: one question for each repository.
    fn ask(&self, folders: &[Folder], open: &[Open]) -> Result<HashSet<Vec<u8>>> {
        let mut asked: BTreeMap<&[u8], Vec<Vec<u8>>> = BTreeMap::new();
        for each in open {
            let repository = &folders[each.folder].repository[..];
            let cut = if repository.is_empty() { 0 } else { repository.len() + 1 };
            asked.entry(repository).or_default().push(each.path[cut..].to_vec());
        }
        let mut all = HashSet::new();
        for (repository, paths) in asked {
            if repository.is_empty() {
                all.extend(self.index.ignored(&paths)?);
            } else {
                let place = self.root.join(OsStr::from_bytes(repository));
                let ignored = self.index.ignored_in(&place, &paths);
                all.extend(ignored.into_iter().map(|path| join(repository, &path)));
            }
        }
        Ok(all)
    }
}

/// What is known without asking.
struct Known<'a> {
    tracked: HashSet<&'a [u8]>,
    folders_of_tracked: HashSet<&'a [u8]>,
    submodules: HashSet<&'a [u8]>,
    cache: &'a StatCache,
}

impl Known<'_> {
    fn is_tracked(&self, path: &[u8]) -> bool {
        self.tracked.contains(path) || self.folders_of_tracked.contains(path)
    }

    fn was_captured(&self, path: &[u8]) -> bool {
        self.cache.files.contains_key(path) || self.cache.folders.contains(path)
    }

    fn was_ignored(&self, path: &[u8]) -> bool {
        self.cache.ignored.contains(path)
    }
}

fn leave(walked: &mut Walked, path: Vec<u8>, why: WhyLeftOut) {
    walked.left.push(LeftOut { path: PathBuf::from(std::ffi::OsString::from_vec(path)), why });
}

/// A look into a folder.
enum Listing {
    Names(Vec<Vec<u8>>),
    /// It is gone, or no folder any more.
    Gone,
    /// We may not look into it.
    Closed,
}

fn list(place: &Path) -> Result<Listing> {
    let entries = match fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if is_gone(&error) => return Ok(Listing::Gone),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(Listing::Closed);
        }
        Err(source) => return Err(GitError::Io { doing: "list", path: place.to_owned(), source }),
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().into_vec()));
    names.collect::<io::Result<_>>().map(Listing::Names).map_err(GitError::io("list", place))
}

fn look(place: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(place) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(source) => Err(GitError::Io { doing: "look at", path: place.to_owned(), source }),
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
