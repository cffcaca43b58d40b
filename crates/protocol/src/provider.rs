//! The built-in providers of agents as a reader of this machine sees them.

use serde::{Deserialize, Serialize};

/// Every built-in provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvidersDoc {
    /// In the order of their names.
    pub providers: Vec<ProviderDoc>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderDoc {
    /// What `provider = "..."` says.
    pub name: String,
    /// The program that its manifest starts.
    pub program: String,
    /// Where the `PATH` has that program; null when it has not.
    pub path: Option<String>,
    /// What the program says of its version; null when it says nothing that looks like one.
    pub version: Option<String>,
    /// Whether the program says that it has a login; null when it cannot tell.
    pub logged_in: Option<bool>,
    /// What Tidegate can do with it.
    pub capabilities: CapabilitiesDoc,
}

/// What a manifest makes possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "one question each")]
pub struct CapabilitiesDoc {
    /// How it is told what to do: `stdin`, `argv` or `file`.
    pub prompt: String,
    /// The form of its output: `jsonl` or `text`.
    pub stream: String,
    /// Where the id of its conversation comes from: `given`, `told` or `none`.
    pub session: String,
    /// Whether a conversation is taken up again after its agent was killed.
    pub resume: bool,
    /// Whether it tells which tools it uses.
    pub tools: bool,
    /// Whether it tells that it waits, for a limit or an error to pass.
    pub waiting: bool,
    /// Whether it tells the tokens that it used.
    pub usage: bool,
    /// Whether it tells what that cost.
    pub cost: bool,
    /// Whether it is talked with while it works: told things, interrupted, given permissions.
    pub steering: bool,
    /// Whether it gets tools of Tidegate's own.
    pub own_tools: bool,
}
