//! What a manifest makes possible, for readers. It starts nothing and looks at no machine.

use tidegate_core::manifest::{Emit, EventRule, Protocol, SessionRule, StreamForm, UsageRule};
use tidegate_core::plan::PromptChannel;

use super::config::AgentEntry;

/// What can be done with an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one question each")]
pub struct Capabilities {
    /// How it is told what to do: `stdin`, `argv` or `file`.
    pub prompt: &'static str,
    /// The form of its output: `jsonl` or `text`.
    pub stream: &'static str,
    /// Where the id of its conversation comes from: `given`, `told` or `none`.
    pub session: &'static str,
    /// Whether a conversation is taken up again.
    pub resume: bool,
    /// Whether it tells which tools it uses.
    pub tools: bool,
    /// Whether it tells that it waits.
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

impl AgentEntry {
    /// What can be done with it.
    pub fn capabilities(&self) -> Capabilities {
        let manifest = &self.manifest;
        let any = |wanted: &dyn Fn(&EventRule) -> bool| manifest.events.iter().any(wanted);
        let figures =
            |wanted: fn(&UsageRule) -> bool| any(&|rule| rule.usage.as_ref().is_some_and(wanted));
        Capabilities {
            prompt: match self.prompt {
                PromptChannel::Stdin => "stdin",
                PromptChannel::Argv => "argv",
                PromptChannel::File => "file",
            },
            stream: match manifest.stream {
                StreamForm::Text => "text",
                StreamForm::Jsonl => "jsonl",
            },
            session: source_of(&manifest.session),
            resume: !manifest.resume.is_empty(),
            tools: any(&|rule| rule.emit == Emit::ToolStart),
            waiting: any(&|rule| rule.emit == Emit::Waiting),
            usage: figures(|usage| usage.input.is_some() || usage.output.is_some()),
            cost: figures(|usage| usage.cost.is_some()),
            steering: manifest.protocol != Protocol::None,
            own_tools: self.argv.iter().any(|word| word.contains("{mcp_command}")),
        }
    }
}

fn source_of(session: &SessionRule) -> &'static str {
    match (session.given, &session.key) {
        (true, _) => "given",
        (false, Some(_)) => "told",
        (false, None) => "none",
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::builtin::builtin_entry;

    #[test]
    fn capabilities_of_built_in_providers_are_what_their_manifests_hold() {
        let of = |name: &str| builtin_entry(name).unwrap().0.capabilities();
        let (claude, aider, opencode) = (of("claude"), of("aider"), of("opencode"));
        assert_eq!((claude.session, claude.stream, claude.prompt), ("given", "jsonl", "stdin"));
        assert!(claude.resume && claude.tools && claude.waiting && claude.usage && claude.cost);
        assert_eq!((aider.session, aider.stream, aider.resume), ("none", "text", false));
        assert!(!aider.tools && !aider.waiting && !aider.usage && !aider.cost);
        assert!(opencode.resume && opencode.cost && !opencode.waiting);
        assert_eq!((of("codex").session, of("codex").cost), ("told", false));
        assert!(claude.own_tools && !claude.steering && !opencode.own_tools);
        assert!(of("claude_stream").steering && of("codex_app_server").steering);
    }
}
