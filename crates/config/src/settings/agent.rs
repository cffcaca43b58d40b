//! `[agent.NAME]`: the manifest of an agent, or a built-in one with keys of its own over it.

use std::collections::BTreeMap;

use tidegate_core::ids::{AgentName, InvalidName};
use tidegate_core::plan::PromptChannel;

use super::apply::is_variable_name;
use super::builtin;
use super::config::AgentEntry;
use super::draft::Draft;
use crate::diagnostic::{Code, Sink};
use crate::fields::Fields;
use crate::near::{hint_for, near_miss, quoted};
use crate::span::{Span, Spanned};

/// What an argv template may hold.
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "prompt",
    "prompt_file",
    "feature",
    "run",
    "iteration",
    "attempt",
    "session",
    "uuid",
    "model",
    "model_argv",
    "args",
    "mcp",
    "mcp_command",
    "mcp_args",
    "permissions_argv",
];

/// Words of `prompt`.
pub(crate) const CHANNELS: &[(&str, PromptChannel)] = &[
    ("stdin", PromptChannel::Stdin),
    ("argv", PromptChannel::Argv),
    ("file", PromptChannel::File),
];

/// Reads one agent.
pub(crate) fn agent_of(
    name: &str,
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) -> (Result<AgentName, InvalidName>, Option<AgentEntry>) {
    let provider = fields.string("provider", sink);
    let base = provider.as_ref().map(|provider| base_of(provider, sink));
    if provider.is_none() && fields.take("argv").is_none() {
        fields.missing("argv", "argv = [\"PROGRAM\", \"ARGUMENT\"], or name a `provider`", sink);
    }
    let own = Draft::read(fields, sink);
    // Variables may name another login: then it is an account of its own, unless `account` says otherwise.
    let alone = own.has_variables();
    let draft = match base {
        Some(None) => return (AgentName::new(name), None),
        Some(Some(base)) => base.under(own),
        None => own,
    };
    let provider = provider.map(|provider| provider.value);
    let entry = draft.entry(provider, fields.at(), sink).map(|mut entry| {
        if entry.manifest.provider.is_some() && entry.manifest.account.is_none() {
            let program = entry.argv.first().cloned().unwrap_or_default();
            let account = if alone { format!("{program}/{name}") } else { program };
            entry.manifest.account = Some(account);
        }
        entry
    });
    (AgentName::new(name), entry)
}

fn base_of(provider: &Spanned<String>, sink: &mut Sink<'_>) -> Option<Draft> {
    if let Some((mut draft, _)) = builtin::draft_of(&provider.value) {
        draft.stand_at(&provider.span);
        return Some(draft);
    }
    let message = format!("there is no built-in provider {}", quoted(&provider.value));
    let hint = hint_for(&provider.value, builtin::provider_names());
    sink.error_hint(Code::IllegalValue, &provider.span, message, &hint);
    None
}

/// An argv, if it is there, with a program as its first word.
pub(crate) fn argv_of(
    fields: &mut Fields<'_>,
    key: &'static str,
    sink: &mut Sink<'_>,
) -> Option<Spanned<Vec<Spanned<String>>>> {
    let argv = fields.strings(key, sink)?;
    let program = argv.value.first().map(|word| word.value.trim());
    if program.is_none_or(str::is_empty) {
        let message = format!("`{key}` names no program");
        sink.error(Code::IllegalValue, &argv.span, message);
        return None;
    }
    Some(argv)
}

/// The variables that an entry adds.
pub(crate) fn environment(
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for (name, value) in fields.string_map("env", sink) {
        if !is_variable_name(&name.value) {
            let message = format!("{} is no name of a variable", quoted(&name.value));
            sink.error(Code::IllegalValue, &name.span, message);
        } else if name.value.starts_with("TIDEGATE_") {
            let message = format!("{} is set by Tidegate itself", quoted(&name.value));
            sink.error(Code::IllegalValue, &name.span, message);
        } else {
            env.insert(name.value, value.value);
        }
    }
    env
}

/// The prompt's way: what `prompt` says, else what the template shows.
pub(crate) fn channel_of(
    argv: &Spanned<Vec<Spanned<String>>>,
    said: Option<Spanned<PromptChannel>>,
    sink: &mut Sink<'_>,
) -> PromptChannel {
    let place = |mark: &str| argv.value.iter().find(|word| word.value.contains(mark));
    let (text, file) = (place("{prompt}"), place("{prompt_file}"));
    check_placeholders(&argv.value, sink);
    let Some(said) = said else {
        return match (text, file) {
            (Some(_), _) => PromptChannel::Argv,
            (None, Some(_)) => PromptChannel::File,
            (None, None) => PromptChannel::Stdin,
        };
    };
    let missing = |mark: &str, word: &str, sink: &mut Sink<'_>| {
        let message = format!("`prompt` is \"{word}\", but `argv` has no `{mark}`");
        let hint = format!("put `{mark}` where the prompt belongs");
        sink.error_hint(Code::IllegalValue, &said.span, message, &hint);
    };
    let extra = |span: &Span, mark: &str, word: &str, sink: &mut Sink<'_>| {
        let message = format!("`argv` has `{mark}`, but `prompt` is not \"{word}\"");
        let hint = format!("write prompt = \"{word}\"");
        sink.error_hint(Code::IllegalValue, span, message, &hint);
    };
    match said.value {
        PromptChannel::Argv if text.is_none() => missing("{prompt}", "argv", sink),
        PromptChannel::File if file.is_none() => missing("{prompt_file}", "file", sink),
        PromptChannel::Stdin | PromptChannel::Argv | PromptChannel::File => {}
    }
    if let (Some(word), PromptChannel::Stdin | PromptChannel::File) = (text, said.value) {
        extra(&word.span, "{prompt}", "argv", sink);
    }
    if let (Some(word), PromptChannel::Stdin | PromptChannel::Argv) = (file, said.value) {
        extra(&word.span, "{prompt_file}", "file", sink);
    }
    said.value
}

/// Warns of words in braces that are nearly a placeholder; others may be a program's own.
pub(crate) fn check_placeholders(argv: &[Spanned<String>], sink: &mut Sink<'_>) {
    for word in argv {
        for part in word.value.split('{').skip(1) {
            let Some((name, _)) = part.split_once('}') else { continue };
            if PLACEHOLDERS.contains(&name) {
                continue;
            }
            if let Some(meant) = near_miss(name, PLACEHOLDERS.iter().copied()) {
                let message = format!("{{{name}}} is no placeholder and stays as it is");
                let hint = format!("did you mean {{{meant}}}?");
                sink.warning(Code::IllegalValue, &word.span, message, &hint);
            }
        }
    }
}
