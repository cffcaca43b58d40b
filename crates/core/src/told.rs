//! What an agent told of its work by its own protocol: the end of its turn, its conversation, its
//! figures. Judged elsewhere, from durable output; recorded once, with its end.

use crate::time::WallMs;

/// What an agent's stream told by the time it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The id of its conversation, when it told one.
    pub session: Option<String>,
    /// How its turn ended.
    pub outcome: Outcome,
    /// What it said about that, bounded; for people.
    pub detail: Option<String>,
    /// When a limit ends, as far as it told, on the wall clock.
    pub reset: Option<WallMs>,
    /// What it used.
    pub usage: Usage,
    /// Whether `usage` counts the whole conversation and not this process alone.
    pub cumulative: bool,
    /// Whether it was to take up a conversation that is gone.
    pub gone: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Well, by its own word.
    Completed,
    /// With an error.
    Failed(Class),
    /// Broken off.
    Interrupted,
    /// At a limit of the agent's own, of turns or money.
    Limit,
    /// Nobody knows: the stream has no terminal event.
    Unknown,
}

/// Kinds of errors, by what is to be done about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Too many requests: it passes.
    RateLimit,
    /// What an account may use is used up: it passes at its reset.
    UsageLimit,
    /// Not logged in, or a key that is refused: a person must act.
    Auth,
    /// The model is not known.
    BadModel,
    /// The request is refused as it is.
    BadRequest,
    /// The conversation does not fit the model any more.
    TooLong,
    /// The other side failed or is overloaded.
    Server,
    /// The connection failed.
    Network,
    /// A tool was refused.
    Permission,
    /// Something else.
    Other,
}

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens in, as the agent counts them.
    pub input: u64,
    /// Tokens in that came from a cache.
    pub cached: u64,
    /// Tokens out.
    pub output: u64,
    /// Cost in millionths of a dollar, where the agent tells one.
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Both together. A cost that one of them does not tell counts as nothing.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
            cost_micros: match (self.cost_micros, other.cost_micros) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
            },
        }
    }

    /// What is left of it without `earlier`; never below nothing.
    #[must_use]
    pub fn minus(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            cached: self.cached.saturating_sub(earlier.cached),
            output: self.output.saturating_sub(earlier.output),
            cost_micros: self
                .cost_micros
                .map(|cost| cost.saturating_sub(earlier.cost_micros.unwrap_or(0))),
        }
    }

    /// Whether nothing is told.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl Outcome {
    /// Its word in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed(class) => class.word(),
            Self::Interrupted => "interrupted",
            Self::Limit => "limit",
            Self::Unknown => "unknown",
        }
    }

    /// A sentence's half for people: what happened.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Completed => "it ended its turn well",
            Self::Failed(class) => class.describe(),
            Self::Interrupted => "it was interrupted",
            Self::Limit => "it reached a limit of its own, of turns or money",
            Self::Unknown => "its stream ended without an end of its turn",
        }
    }
}

impl Class {
    /// Its word in documents and manifests.
    pub fn word(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::UsageLimit => "usage_limit",
            Self::Auth => "auth",
            Self::BadModel => "bad_model",
            Self::BadRequest => "bad_request",
            Self::TooLong => "too_long",
            Self::Server => "server",
            Self::Network => "network",
            Self::Permission => "permission",
            Self::Other => "other",
        }
    }

    /// A sentence's half for people: what happened.
    pub fn describe(self) -> &'static str {
        match self {
            Self::RateLimit => "it is rate limited",
            Self::UsageLimit => "its usage limit is reached",
            Self::Auth => "its login or key was refused",
            Self::BadModel => "its model is not known",
            Self::BadRequest => "its request was refused",
            Self::TooLong => "its conversation is too long for the model",
            Self::Server => "the model's server failed",
            Self::Network => "the connection to the model failed",
            Self::Permission => "it was refused a permission",
            Self::Other => "it failed",
        }
    }
}
