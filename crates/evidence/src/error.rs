//! Why a report cannot be read: what is wrong, and where in it.

use std::fmt;

/// Bytes of a report that are read at most; a larger one is refused, never cut.
pub const REPORT_BYTES_MAX: usize = 64 << 20;

/// A place in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Offset in bytes, from 0.
    pub offset: usize,
}

impl Place {
    /// The place of an offset in `text`; one beyond its end is its end.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let offset = offset.min(text.len());
        Self { line: line_of(text.as_bytes(), offset), offset }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {}", self.line, self.offset)
    }
}

/// What is wrong with a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// More bytes than [`REPORT_BYTES_MAX`].
    #[error("{bytes} bytes, more than the {max} that are read")]
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// It is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Not well-formed.
    #[error("not well-formed: {0}")]
    Malformed(String),
    /// It declares entities, which a report has no need of.
    #[error("declares entities: refused")]
    Entities,
    /// It refers to an entity that XML does not define by itself.
    #[error("refers to the undefined entity `{0}`")]
    UndefinedEntity(String),
    /// Elements within elements beyond any real report.
    #[error("elements nested deeper than {0}")]
    TooDeep(usize),
    /// More entries than any real report has.
    #[error("more than {0} entries")]
    TooMany(usize),
    /// It is of another kind.
    #[error("`{found}` where {expected} was expected")]
    Unexpected {
        /// What stands there.
        found: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// A value that must be there is not.
    #[error("`{element}` has no `{attribute}`")]
    NoAttribute {
        /// The element.
        element: &'static str,
        /// What it lacks.
        attribute: &'static str,
    },
    /// A value that is not of its kind.
    #[error("`{name}` is `{value}`, which is no {expected}")]
    BadValue {
        /// What it is the value of.
        name: String,
        /// The value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// It ends in the middle of something.
    #[error("ends before {0}")]
    Truncated(&'static str),
}

/// A report that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
pub struct ReportError {
    /// What is wrong.
    pub problem: Problem,
    /// Where.
    pub at: Place,
}

impl ReportError {
    pub(crate) fn new(problem: Problem, text: &str, offset: usize) -> Self {
        Self { problem, at: Place::of(text, offset) }
    }
}

/// The line, from 1, of an offset within `bytes`.
fn line_of(bytes: &[u8], offset: usize) -> usize {
    bytes[..offset].split(|byte| *byte == b'\n').count()
}

/// The text of a report within the limit.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, ReportError> {
    let start = Place { line: 1, offset: 0 };
    if bytes.len() > REPORT_BYTES_MAX {
        let problem = Problem::TooLarge { bytes: bytes.len(), max: REPORT_BYTES_MAX };
        return Err(ReportError { problem, at: start });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let at = Place { line: line_of(bytes, offset), offset };
        ReportError { problem: Problem::NotUtf8, at }
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
