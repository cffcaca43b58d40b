//! How many worktrees a home may have and how much room they may take: measured by the daemon, told to
//! readers. It must not know runs beyond their ids.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tidegate_core::admission::Worktrees;
use tidegate_core::ids::RunId;

/// Name, in the home, of what the newest daemon tells readers about its bounds.
const NOTE: &str = "quota";
/// Shortest time between two measurings of the room that worktrees take.
const PACE: Duration = Duration::from_secs(2);
/// Parts of the time that go by between measurings, for each that a measuring takes.
const REST: u32 = 30;

/// The bounds that a user sets for a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Worktrees that may stand.
    pub max: Option<u32>,
    /// Bytes on the disk that they may take together.
    pub max_bytes: Option<u64>,
}

/// What of the bounds is used up.
#[derive(Debug)]
pub struct Quota {
    home: PathBuf,
    bounds: Bounds,
    /// Bytes that worktrees take, once they were measured.
    bytes: Arc<Mutex<Option<u64>>>,
}

impl Quota {
    /// Begins to measure, as far as there are bounds.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(home: &Path, bounds: Bounds) -> io::Result<Self> {
        let quota = Self { home: home.to_owned(), bounds, bytes: Arc::default() };
        tell(home, bounds, None);
        if bounds.max_bytes.is_some() {
            let (home, bytes) = (home.to_owned(), Arc::downgrade(&quota.bytes));
            let name = "quota".to_owned();
            std::thread::Builder::new().name(name).spawn(move || measure(&home, bounds, &bytes))?;
        }
        Ok(quota)
    }

    /// The worktrees as they stand now. Until their room was measured nothing more begins.
    pub fn worktrees(&self) -> Worktrees {
        let standing = match self.bounds.max {
            Some(_) => standing(&self.home),
            None => BTreeMap::new(),
        };
        let bytes = *self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full =
            self.bounds.max_bytes.is_some_and(|max| bytes.is_none_or(|bytes| bytes >= max));
        Worktrees { max: self.bounds.max, is_full, standing }
    }
}

/// Measures until nobody asks any more.
fn measure(home: &Path, bounds: Bounds, bytes: &Weak<Mutex<Option<u64>>>) {
    while let Some(shared) = bytes.upgrade() {
        let begun = Instant::now();
        let now = room_of(&home.join("worktrees"));
        let took = begun.elapsed();
        let before = shared.lock().unwrap_or_else(PoisonError::into_inner).replace(now);
        drop(shared);
        if before != Some(now) {
            tell(home, bounds, Some(now));
        }
        std::thread::sleep(PACE.max(took * REST));
    }
}

/// Bytes on the disk below a folder; what goes away meanwhile counts as nothing.
fn room_of(folder: &Path) -> u64 {
    let mut bytes: u64 = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            // Of a link, the link itself.
            let Ok(meta) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(meta.blocks().saturating_mul(512));
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

/// The worktrees in a home, by the run that they are of.
fn standing(home: &Path) -> BTreeMap<RunId, u32> {
    let mut all = BTreeMap::new();
    let names = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    for project in names(&home.join("worktrees")) {
        for worktree in names(&project.path()) {
            let name = worktree.file_name();
            let name = name.to_string_lossy();
            let run = name.rsplit_once('-').and_then(|(_, run)| RunId::new(run).ok());
            if let Some(run) = run {
                *all.entry(run).or_default() += 1;
            }
        }
    }
    all
}

/// Leaves the bounds for readers. It is information: each daemon measures anew.
fn tell(home: &Path, bounds: Bounds, bytes: Option<u64>) {
    let path = home.join(NOTE);
    let line =
        |name: &str, value: Option<u64>| value.map_or(String::new(), |v| format!("{name} {v}\n"));
    let text = line("max", bounds.max.map(u64::from))
        + &line("max_bytes", bounds.max_bytes)
        + &line("bytes", bytes);
    let told = if bounds == Bounds::default() {
        std::fs::remove_file(&path)
    } else {
        let new = home.join("quota.new");
        std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path))
    };
    if let Err(error) = told
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(%error, path = %path.display(), "readers are not told of the bounds on worktrees");
    }
}

/// What keeps a feature of the home from a worktree of its own, in words; `None` when there is room.
pub(crate) fn lack(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(home.join(NOTE)).ok()?;
    let told = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<u64>().ok())
    };
    let way = "`tidegate cleanup` removes those of ended runs";
    if let Some(max) = told("max") {
        let count: u64 = standing(home).values().copied().map(u64::from).sum();
        if count >= max {
            return Some(format!(
                "room for its worktree: {count} stand, {max} may (`worktrees.max`); {way}"
            ));
        }
    }
    let max = told("max_bytes")?;
    match told("bytes") {
        None => Some("the daemon to measure the room that worktrees take".to_owned()),
        Some(bytes) if bytes >= max => Some(format!(
            "room for its worktree: all take {} MiB, {} MiB may be taken \
             (`worktrees.max_bytes`); {way}",
            bytes >> 20,
            max >> 20
        )),
        Some(_) => None,
    }
}
