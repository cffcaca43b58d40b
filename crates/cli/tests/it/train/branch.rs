//! A branch of the train: what its builder does, and what the target must show once it has landed. It must not know how
//! Tidegate lands.

use std::path::Path;

/// What kind of branch it is, and so what may become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Meets nobody: lands.
    Clean,
    /// Changes what the others of its group change: the first one lands, the others are parked.
    Conflict,
    /// Merges cleanly with the other one of its group and breaks with it: the first one lands, the other one is mended or
    /// fails.
    Breaks,
    /// Takes back what somebody landed meanwhile: never lands.
    Revert,
    /// Makes the very change of a clean branch: lands, and adds nothing.
    Duplicate,
}

/// One branch.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// The id of its feature.
    pub(super) id: String,
    pub(super) kind: Kind,
    /// Which branches it meets: those of its kind with the same number.
    pub(super) group: usize,
    /// What its builder does, as a shell script.
    pub(super) work: String,
    /// What its builder does when the merge of it with the target did not pass.
    pub(super) mend: String,
    /// Whether that mends it.
    pub(super) mends: bool,
    /// What the target must show from its landing on.
    pub(super) shows: Sign,
    /// What the target must show although this branch would take it back.
    pub(super) keeps: Option<Sign>,
}

/// A fact about a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sign {
    /// A file has this line.
    Line(String, String),
    /// A file is there.
    File(String),
    /// A file is not there.
    NoFile(String),
    /// A file may be executed.
    Executable(String),
    /// A file of this name was moved to that one.
    Moved(String, String),
}

impl Sign {
    /// Whether the tree in a folder shows it.
    pub(super) fn is_in(&self, tree: &Path) -> bool {
        let there = |path: &String| tree.join(path).exists();
        match self {
            Self::Line(path, line) => std::fs::read_to_string(tree.join(path))
                .is_ok_and(|text| text.lines().any(|found| found == line)),
            Self::File(path) => there(path),
            Self::NoFile(path) => !there(path),
            Self::Executable(path) => tree.join(path).metadata().is_ok_and(|about| {
                std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o100 != 0
            }),
            Self::Moved(old, new) => !there(old) && there(new),
        }
    }
}

/// How many branches there are of each kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) clean: usize,
    pub(super) conflict: usize,
    pub(super) breaks: usize,
    pub(super) reverts: usize,
    pub(super) duplicates: usize,
}

impl Numbers {
    /// The same proportions for about that many branches: 60 are 20, 15, 10, 10 and 5.
    pub(super) fn of(branches: usize) -> Self {
        let unit = (branches / 12).max(1);
        Self {
            clean: 4 * unit,
            conflict: 3 * unit,
            breaks: 2 * unit,
            reverts: 2 * unit,
            duplicates: unit,
        }
    }

    pub(super) fn sum(self) -> usize {
        self.clean + self.conflict + self.breaks + self.reverts + self.duplicates
    }
}
