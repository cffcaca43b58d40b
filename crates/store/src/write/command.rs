//! Answers of commands, so that a repeated command is answered and not executed again.

use tidegate_core::time::WallMs;

/// A command that was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecord {
    /// Who gave it: keys of different actors never meet.
    pub actor: String,
    /// Its idempotency key.
    pub key: String,
    /// Its verb.
    pub verb: String,
    /// SHA-256 of its body: the same key with another body is a mistake of the client.
    pub body_hash: [u8; 32],
    /// The answer, as it was given.
    pub response_json: String,
    /// When, on the wall clock.
    pub at: WallMs,
}
