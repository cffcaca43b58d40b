//! The agents' own programs, as `cargo xtask test` installs them from the npm registry: their versions
//! are pinned, and a test that finds none says so.

use std::path::{Path, PathBuf};

/// What is pinned, one program a line; the installer reads the same.
const PINS: &str = concat!(include_str!("pins.txt"), include_str!("pins-slow.txt"));

/// A pinned program.
pub(super) struct Pinned {
    pub(super) name: &'static str,
    program: PathBuf,
    node: Option<PathBuf>,
}

impl Pinned {
    /// The program of this name, or why it cannot be had.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        let found = Line::of(name).ok_or_else(|| format!("{name} is not pinned"))?;
        let node =
            if found.needs_node { Some(Line::of("node").unwrap().installed()?) } else { None };
        Ok(Self { name: found.name, program: found.installed()?, node })
    }

    /// Puts it into a folder of the `PATH`.
    pub(super) fn link(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let place = folder.join(self.name);
        if let Some(node) = &self.node {
            std::os::unix::fs::symlink(node, folder.join("node")).unwrap();
        }
        std::os::unix::fs::symlink(&self.program, place).unwrap();
    }

    /// The programs that its processes are.
    pub(super) fn is(&self, program: &Path) -> bool {
        program == self.node.as_deref().unwrap_or(&self.program)
    }
}

/// Whether there is a pin of this name.
pub(super) fn is_pinned(name: &str) -> bool {
    Line::of(name).is_some()
}

/// A line of the pins.
struct Line {
    name: &'static str,
    version: &'static str,
    program: &'static str,
    needs_node: bool,
}

impl Line {
    fn of(name: &str) -> Option<Self> {
        let lines = PINS.lines().filter(|line| !line.starts_with('#'));
        let mut lines = lines.map(|line| line.split(' ').collect::<Vec<_>>());
        let words = lines.find(|words| words[0] == name)?;
        let needs_node = words.get(4) == Some(&"node");
        Some(Self { name: words[0], version: words[1], program: words[3], needs_node })
    }

    fn installed(&self) -> Result<PathBuf, String> {
        let folder = cache().join(format!("{}-{}", self.name, self.version));
        let program = folder.join(self.program).canonicalize();
        program.map_err(|_| format!("{} {} is not installed", self.name, self.version))
    }
}

/// Where the installer puts them.
fn cache() -> PathBuf {
    if let Some(folder) = std::env::var_os("TIDEGATE_AGENTS") {
        return folder.into();
    }
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("tidegate/agents")
}
