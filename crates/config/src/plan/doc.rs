//! The model behind both forms of a plan: what the file says, each value with its place.
//!
//! Nothing here is checked against the config or the repository.

use tidegate_core::plan::OnFailure;

use crate::span::{Span, Spanned};

/// A plan as its file says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanDoc {
    /// A line for people.
    pub title: Option<Spanned<String>>,
    /// The target branch, when it is not the config's.
    pub target: Option<Spanned<String>>,
    /// What a failed feature means for later waves, when it is not the config's.
    pub on_failure: Option<Spanned<OnFailure>>,
    /// Gates of the features that name none.
    pub gates: Option<Vec<Spanned<String>>>,
    /// The waves in their order.
    pub waves: Vec<WaveDoc>,
}

/// A wave as the file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveDoc {
    /// Where it starts.
    pub span: Span,
    /// Its name.
    pub name: Option<Spanned<String>>,
    /// Its number, when the file gives one.
    pub number: Option<Spanned<u32>>,
    /// Its features in their order.
    pub features: Vec<FeatureDoc>,
}

/// A feature as the file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureDoc {
    /// Where it starts.
    pub span: Span,
    /// Its id; `None` when it is missing or no string.
    pub id: Option<Spanned<String>>,
    /// A line for people.
    pub title: Option<Spanned<String>>,
    /// Whether it says anything of a spec or a prompt, be it of the wrong type.
    pub says_prompt: bool,
    /// Path of the spec file.
    pub spec: Option<Spanned<String>>,
    /// What its builder is asked to do.
    pub prompt: Option<Spanned<String>>,
    /// Ids of features that must have landed before.
    pub needs: Vec<Spanned<String>>,
    /// Globs of the paths that it changes.
    pub paths: Vec<Spanned<String>>,
    /// Names of its gates; `None` when it names none.
    pub gates: Option<Vec<Spanned<String>>>,
    /// What it must have for itself.
    pub locks: Vec<Spanned<String>>,
    /// The agent that builds it.
    pub agent: Option<Spanned<String>>,
    /// The roles of its pipeline; `None` when it names none.
    pub roles: Option<Vec<Spanned<String>>>,
    /// Whether an end without a change is a success.
    pub allow_no_change: Option<Spanned<bool>>,
    /// Iterations before it fails.
    pub max_iterations: Option<Spanned<u32>>,
    /// Attempts of one job within an iteration.
    pub max_attempts: Option<Spanned<u32>>,
}

impl PlanDoc {
    /// The features in the order of the file.
    pub fn features(&self) -> impl Iterator<Item = &FeatureDoc> {
        self.waves.iter().flat_map(|wave| wave.features.iter())
    }
}
