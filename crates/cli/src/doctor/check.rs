//! One thing that was looked at.

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// As it should be.
    Ok,
    /// Tidegate works all the same, with less proof or less comfort.
    Warning,
    /// Something does not work, or is at risk.
    Wrong,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    /// What.
    pub(crate) name: &'static str,
    /// How bad it is.
    pub(crate) severity: Severity,
    /// Whether it is as it should be.
    pub(crate) ok: bool,
    /// What was found.
    pub(crate) text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) what_to_do: Option<String>,
}

impl Check {
    fn new(name: &'static str, severity: Severity, text: String) -> Self {
        Self { name, severity, ok: severity == Severity::Ok, text, what_to_do: None }
    }

    /// As it should be.
    pub(super) fn good(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, Severity::Ok, text.into())
    }

    /// Something does not work.
    pub(super) fn wrong(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, Severity::Wrong, text.into())
    }

    /// It works all the same.
    pub(super) fn odd(name: &'static str, text: impl Into<String>) -> Self {
        Self::new(name, Severity::Warning, text.into())
    }

    /// With what to do about it.
    #[must_use]
    pub(super) fn then(mut self, what: impl Into<String>) -> Self {
        self.what_to_do = Some(what.into());
        self
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_sound(&self) -> bool {
        self.severity < Severity::Wrong
    }
}
