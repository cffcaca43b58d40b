//! What a line of an agent's stream means, whatever the agent: one model for all of them.

use tidegate_core::manifest::UsageScope;
use tidegate_core::time::WallMs;
use tidegate_core::told::{Class, Outcome, Usage};

/// Most of a text that an event keeps, in bytes; the whole stands in the output.
pub(crate) const TEXT_BYTES: usize = 2 * 1024;

/// One thing that an agent told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The id of its conversation.
    Session(String),
    /// It says something; bounded.
    Text(String),
    /// A tool begins.
    ToolStart {
        /// Names the call within the turn, if the agent does.
        id: Option<String>,
        /// The tool.
        name: Option<String>,
    },
    /// A tool has ended.
    ToolEnd {
        /// Names the call within the turn, if the agent does.
        id: Option<String>,
    },
    /// It waits by itself.
    Waiting {
        /// For what to pass.
        class: Class,
        /// Until when, as far as it tells.
        until: Reset,
    },
    /// What it used.
    Usage {
        /// The figures.
        usage: Usage,
        /// What they are about.
        scope: UsageScope,
    },
    /// An error that a later failure may be about.
    Error(Trouble),
    /// The turn ended.
    TurnEnd {
        /// How. A failure has the class of its trouble.
        outcome: Outcome,
        /// What it said about that.
        trouble: Option<Trouble>,
    },
    /// A line that no rule knows, or that does not read; bounded.
    Raw {
        /// Its beginning.
        text: String,
        /// Whether it was longer than a line may be, and was not read.
        oversized: bool,
    },
}

/// An error as an agent tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Its kind.
    pub class: Class,
    /// Its words, bounded.
    pub text: String,
    /// When it is over, as far as it tells.
    pub reset: Reset,
}

/// When something is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reset {
    /// Not told.
    #[default]
    Untold,
    /// So many milliseconds after it was told.
    In(u64),
    /// Then.
    At(WallMs),
    /// The next time that clocks there show so many minutes after midnight.
    Clock(u32),
}

/// The beginning of a text, cut at a character.
pub(crate) fn bounded(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
