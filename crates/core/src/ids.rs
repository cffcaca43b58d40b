//! Identifiers: each a newtype over text whose grammar is checked once, at the edge.
//!
//! Every name here may become part of a path, a ref or a URL. It must not know where it is used.

use std::fmt;

/// Longest accepted name, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

/// Why a text is not a valid identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidName {
    /// The text has no characters.
    #[error("a {what} must not be empty")]
    Empty {
        /// Which identifier was read.
        what: &'static str,
    },
    /// The text is longer than the limit.
    #[error("a {what} has at most {max} bytes, this one has {len}")]
    TooLong {
        /// Which identifier was read.
        what: &'static str,
        /// The limit, in bytes.
        max: usize,
        /// The length found, in bytes.
        len: usize,
    },
    /// The text holds a character outside the grammar.
    #[error("{what} `{text}`: {found:?} is not allowed; use letters, digits, `-`, `_` and `.`")]
    Character {
        /// Which identifier was read.
        what: &'static str,
        /// The text, with control characters escaped.
        text: String,
        /// The first character that is not allowed.
        found: char,
    },
    /// The text would be special to a file system or to git.
    #[error("{what} `{text}` is not allowed: it {why}")]
    Reserved {
        /// Which identifier was read.
        what: &'static str,
        /// The text.
        text: String,
        /// What is special about it.
        why: &'static str,
    },
}

/// Checks `text` against the grammar of names: `[A-Za-z0-9_][A-Za-z0-9._-]*`, at most
/// [`NAME_BYTES_MAX`] bytes, no `..`, not ending in `.` or `.lock` (git refuses such refs).
///
/// # Errors
/// [`InvalidName`] says what is wrong.
pub fn check_name(what: &'static str, text: &str) -> Result<(), InvalidName> {
    if text.is_empty() {
        return Err(InvalidName::Empty { what });
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(InvalidName::TooLong { what, max: NAME_BYTES_MAX, len: text.len() });
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(found) = text.chars().find(|c| !allowed(*c)) {
        return Err(InvalidName::Character { what, text: text.escape_debug().to_string(), found });
    }
    let reserved = |why| Err(InvalidName::Reserved { what, text: text.to_owned(), why });
    if text.starts_with(['-', '.']) {
        return reserved("starts with `-` or `.`");
    }
    if text.contains("..") {
        return reserved("contains `..`");
    }
    if text.ends_with('.') || text.to_ascii_lowercase().ends_with(".lock") {
        return reserved("ends in `.` or `.lock`");
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// Takes a text that follows the grammar of [`check_name`].
            ///
            /// # Errors
            /// [`InvalidName`] says what is wrong.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidName> {
                let text = text.into();
                check_name($what, &text)?;
                Ok(Self(text))
            }

            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A registered repository: its folder's name, `-2` and so on appended on collision.
    ProjectId, "project"
);
name!(
    /// A serial queue of runs within a project.
    LaneName, "lane"
);
name!(
    /// Makes a queue of its own beside its lane.
    AdhocId, "ad-hoc run id"
);
name!(
    /// A feature of a plan.
    FeatureId, "feature id"
);
name!(
    /// A gate of the config.
    GateName, "gate"
);
name!(
    /// Something that only one feature of a project may use at a time.
    LockName, "lock"
);
name!(
    /// An agent of the config.
    AgentName, "agent"
);
name!(
    /// A role of the pipeline, or one that the config names.
    RoleName, "role"
);
name!(
    /// An agent that belongs to a launcher's run.
    AgentId, "agent id"
);

/// Digits of run ids, in the order of their values, so that ids sort by sequence.
const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// One run. `r`, the store's sequence as 6 base-32 digits, 4 random ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// Length of the text, in bytes.
    pub const LEN: usize = 11;

    /// Makes the id of the run with sequence number `seq`; only the lowest 20 bits of `entropy`
    /// and the lowest 30 of `seq` count.
    pub fn from_parts(seq: u64, entropy: u64) -> Self {
        Self(numbered('r', seq, entropy))
    }

    /// Reads a whole id.
    ///
    /// # Errors
    /// [`InvalidName`] when it is not `r` and ten base-32 digits.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidName> {
        let text = text.into();
        check_name("run id", &text)?;
        if !is_numbered('r', &text) {
            let why = "is not `r` and ten digits of 0-9a-v";
            return Err(InvalidName::Reserved { what: "run id", text, why });
        }
        Ok(Self(text))
    }

    /// Whether `text` could be the beginning of an id.
    pub fn is_prefix(text: &str) -> bool {
        text.len() <= Self::LEN
            && text.strip_prefix('r').is_some_and(|rest| rest.bytes().all(is_digit))
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A letter, a sequence number as 6 base-32 digits, 4 random ones: sorts by the number.
pub(crate) fn numbered(letter: char, seq: u64, entropy: u64) -> String {
    let mut text = String::with_capacity(RunId::LEN);
    text.push(letter);
    push_digits(&mut text, seq, 6);
    push_digits(&mut text, entropy, 4);
    text
}

/// Whether a text has that form.
pub(crate) fn is_numbered(letter: char, text: &str) -> bool {
    text.len() == RunId::LEN
        && text.strip_prefix(letter).is_some_and(|rest| rest.bytes().all(is_digit))
}

fn is_digit(byte: u8) -> bool {
    DIGITS.contains(&byte)
}

fn push_digits(text: &mut String, value: u64, count: u32) {
    for place in (0..count).rev() {
        let digit = (value >> (5 * place)) & 31;
        text.push(char::from(DIGITS[usize::try_from(digit).unwrap_or(0)]));
    }
}

/// One job: its run and its number within the run, from 1, as `<run>-<n>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId {
    run: RunId,
    number: u32,
}

impl JobId {
    /// The job `number` of `run`.
    pub fn new(run: RunId, number: u32) -> Self {
        Self { run, number }
    }

    /// Reads `<run>-<n>`.
    ///
    /// # Errors
    /// [`InvalidName`] when it has another form.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        check_name("job id", text)?;
        let bad = || InvalidName::Reserved {
            what: "job id",
            text: text.to_owned(),
            why: "is not `<run>-<number>`",
        };
        let (run, number) = text.split_once('-').ok_or_else(bad)?;
        Ok(Self { run: RunId::new(run)?, number: canonical_number(number).ok_or_else(bad)? })
    }

    /// The run that it belongs to.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Its number within the run, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.run, self.number)
    }
}

/// One question of a run: its number within the run, from 1, as `<run>-q<n>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId {
    run: RunId,
    number: u32,
}

impl QuestionId {
    /// The question `number` of `run`.
    pub fn new(run: RunId, number: u32) -> Self {
        Self { run, number }
    }

    /// Reads `<run>-q<n>`.
    ///
    /// # Errors
    /// [`InvalidName`] when it has another form.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        check_name("question id", text)?;
        let bad = || InvalidName::Reserved {
            what: "question id",
            text: text.to_owned(),
            why: "is not `<run>-q<number>`",
        };
        let (run, number) = text.split_once("-q").ok_or_else(bad)?;
        Ok(Self { run: RunId::new(run)?, number: canonical_number(number).ok_or_else(bad)? })
    }

    /// The run that it belongs to.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Its number within the run, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-q{}", self.run, self.number)
    }
}

/// A number from 1 in the one form that it is written in.
fn canonical_number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !text.starts_with('0')).then(|| text.parse().ok()).flatten()
}

/// A git object id in lower-case hex, 40 or 64 digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(String);

impl Oid {
    /// Takes 40 or 64 lower-case hex digits; `None` for anything else.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (hex && matches!(text.len(), 40 | 64)).then_some(Self(text))
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Content address of pinned bytes: SHA-256 in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(String);

impl BlobId {
    /// Takes 64 lower-case hex digits; `None` for anything else.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (hex && text.len() == 64).then_some(Self(text))
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a queue: at most one of its runs is active.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueKey {
    /// The project.
    pub project: ProjectId,
    /// The lane within the project.
    pub lane: LaneName,
    /// Set for a run that asked for a queue of its own.
    pub adhoc: Option<AdhocId>,
}
