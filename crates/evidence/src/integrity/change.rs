//! A feature's change as its caller hands it over: files with both contents, and what judges it.

/// One side of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Path below the repository's root, with `/`.
    pub path: String,
    /// Its content; of a link its target, of a submodule its commit. `None` when the caller did not
    /// read it: too large or not text.
    pub content: Option<String>,
}

/// A file that was added, changed, moved or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Before; `None` when it was added.
    pub old: Option<Side>,
    /// After; `None` when it was deleted.
    pub new: Option<Side>,
}

impl ChangedFile {
    /// A file that was changed in its place.
    pub fn modified(path: &str, old: &str, new: &str) -> Self {
        let side =
            |content: &str| Some(Side { path: path.to_owned(), content: Some(content.to_owned()) });
        Self { old: side(old), new: side(new) }
    }

    /// The path to name it by.
    pub fn path(&self) -> &str {
        let side = self.new.as_ref().or(self.old.as_ref());
        side.map_or("", |side| side.path.as_str())
    }

    pub(super) fn old_text(&self) -> &str {
        text(self.old.as_ref())
    }

    pub(super) fn new_text(&self) -> &str {
        text(self.new.as_ref())
    }

    /// Whether it is another file than before, in content or path.
    pub(super) fn differs(&self) -> bool {
        let read = |side: &Option<Side>| side.as_ref().is_none_or(|side| side.content.is_some());
        self.old != self.new || !read(&self.old) || !read(&self.new)
    }
}

fn text(side: Option<&Side>) -> &str {
    side.and_then(|side| side.content.as_deref()).unwrap_or_default()
}

/// A gate as the pinned config has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateCommand {
    /// Its name.
    pub name: String,
    /// Its argv; a bash string is one word.
    pub argv: Vec<String>,
}

/// All of a feature's change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// The files.
    pub files: Vec<ChangedFile>,
    /// Patterns of the paths that the feature declared; empty when it declared none.
    pub declared: Vec<String>,
    /// The gates that judge it.
    pub gates: Vec<GateCommand>,
}
