//! The manifests that come with Tidegate: files in the language that users write, too.

use super::config::AgentEntry;
use super::draft::Draft;
use crate::diagnostic::{Diagnostic, Sink};
use crate::fields::Fields;
use crate::source::Source;
use crate::toml_text::read_toml;

macro_rules! manifests {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../manifests/", $name, ".toml")))),*]
    };
}

/// Names and texts, in the order of the names.
const ALL: [(&str, &str); 12] = manifests![
    "aider",
    "claude",
    "claude_stream",
    "codex",
    "codex_app_server",
    "copilot",
    "gemini",
    "kilo",
    "kimi",
    "opencode",
    "pi",
    "qwen",
];

/// The names of the built-in providers.
pub fn provider_names() -> impl Iterator<Item = &'static str> + Clone {
    ALL.iter().map(|(name, _)| *name)
}

/// The built-in manifest of this name, and what is wrong with it: nothing, as a test shows.
pub(crate) fn draft_of(name: &str) -> Option<(Draft, Vec<Diagnostic>)> {
    let (name, text) = ALL.iter().find(|(known, _)| *known == name)?;
    let source = Source::new(format!("built-in {name}"), *text);
    let mut sink = Sink::new(&source);
    let table = read_toml(&(0..text.len()), &mut sink)?;
    let mut fields = Fields::new("an agent", &table, 0..0);
    let draft = Draft::read(&mut fields, &mut sink);
    fields.finish(&mut sink);
    Some((draft, sink.finish()))
}

/// The agent that a built-in provider makes without further keys, and what is wrong with it:
/// nothing, as a test shows.
pub fn builtin_entry(name: &str) -> Option<(AgentEntry, Vec<Diagnostic>)> {
    let (draft, mut found) = draft_of(name)?;
    let source = Source::new(format!("built-in {name}"), String::new());
    let mut sink = Sink::new(&source);
    let entry = draft.entry(Some(name.to_owned()), &(0..0), &mut sink)?;
    found.extend(sink.finish());
    Some((entry, found))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_manifest_is_free_of_findings() {
        for name in provider_names() {
            let (entry, found) = builtin_entry(name).unwrap();
            assert!(found.is_empty(), "{name}: {found:?}");
            assert_eq!(entry.manifest.provider.as_deref(), Some(name));
        }
        assert!(builtin_entry("tide").is_none());
    }
}
