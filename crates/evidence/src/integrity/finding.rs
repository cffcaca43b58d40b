//! What was found in a change, how grave it is, and where it stands.

use std::fmt;

pub use tidegate_core::integrity::Kind;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is shown in the review.
    Note,
    /// Landing waits for a person.
    Stop,
}

/// Characters of an excerpt.
const EXCERPT_CHARS: usize = 160;

/// Something that a person has to know of a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, by its new path where it has one.
    pub path: String,
    /// Line of the new content, or of the old one for what is gone; from 1, 0 for the whole file.
    pub line: u32,
    /// What it is.
    pub kind: Kind,
    /// How grave it is.
    pub severity: Severity,
    /// The line, or what it is about.
    pub excerpt: String,
}

impl Finding {
    pub(super) fn new(kind: Kind, path: &str, line: u32, excerpt: &str) -> Self {
        let severity = if kind.stops() { Severity::Stop } else { Severity::Note };
        let path = path.to_owned();
        let excerpt = excerpt.trim().chars().take(EXCERPT_CHARS).collect();
        Self { path, line, kind, severity, excerpt }
    }

    /// The same, for the review alone.
    pub(super) fn noted(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.kind, self.excerpt)
    }
}
