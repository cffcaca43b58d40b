//! The one envelope of every answer, and what stands in it when a request was refused.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ErrorCode;

/// A refusal: a closed code, a line for people, and data for programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Problem {
    /// What kind of refusal.
    pub code: ErrorCode,
    /// One line for a person.
    pub message: String,
    /// What a program needs to go on.
    pub details: Details,
}

/// Data of a refusal. `retryable` and `requires_human` are always there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// Whether a program may send the same again.
    pub retryable: bool,
    /// Whether a person must act.
    pub requires_human: bool,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whatever else belongs to the code.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Problem {
    /// A refusal with the defaults of its code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let details = Details {
            retryable: code.is_retryable(),
            requires_human: code.requires_human(),
            hint: None,
            more: Map::new(),
        };
        Self { code, message: message.into(), details }
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.details.hint = Some(hint.into());
        self
    }

    /// Adds one value to the details.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.more.insert(key.to_owned(), value.into());
        self
    }

    /// Overrides whether the same request may be sent again.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.details.retryable = retryable;
        self
    }

    /// Shorthand for [`ErrorCode::NotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// Shorthand for [`ErrorCode::InvalidInput`].
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidInput, message)
    }

    /// Shorthand for [`ErrorCode::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }
}

/// `{"ok":true,"data":..}` or `{"ok":false,"error":..}`; nothing else is ever answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Envelope<T = Value> {
    /// The request was carried out.
    Data {
        /// Always true.
        ok: bool,
        /// The answer.
        data: T,
    },
    /// The request was refused.
    Error {
        /// Always false.
        ok: bool,
        /// Why.
        error: Problem,
    },
}

impl<T> Envelope<T> {
    /// Wraps an answer.
    pub fn data(data: T) -> Self {
        Self::Data { ok: true, data }
    }

    /// Wraps a refusal.
    pub fn error(error: Problem) -> Self {
        Self::Error { ok: false, error }
    }

    /// Unwraps it.
    ///
    /// # Errors
    /// The refusal, when it holds one.
    pub fn into_result(self) -> Result<T, Problem> {
        match self {
            Self::Data { data, .. } => Ok(data),
            Self::Error { error, .. } => Err(error),
        }
    }
}

impl<T> From<Result<T, Problem>> for Envelope<T> {
    fn from(result: Result<T, Problem>) -> Self {
        match result {
            Ok(data) => Self::data(data),
            Err(error) => Self::error(error),
        }
    }
}
