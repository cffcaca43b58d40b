//! `[role.NAME]`, `[gate.NAME]`, `[profile.NAME]` and `[launcher.NAME]`.

use tidegate_core::ids::{AgentName, GateName, InvalidName, RoleName, check_name};
use tidegate_core::plan::GateRun;

use super::agent::{argv_of, environment};
use super::apply::illegal_name;
use super::config::{GateEntry, LauncherEntry, LauncherSelection, ProfileEntry, RoleEntry};
use super::promises::promises_of;
use crate::check::inner_path;
use crate::diagnostic::{Code, Sink};
use crate::fields::Fields;
use crate::near::quoted;
use crate::plan::TRIES_MAX;
use crate::span::Spanned;

const SELECTION: &[(&str, LauncherSelection)] =
    &[("env", LauncherSelection::Env), ("append", LauncherSelection::Append)];

/// Reads one role.
pub(crate) fn role_of(
    name: &str,
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) -> (Result<RoleName, InvalidName>, Option<RoleEntry>) {
    let agent = fields.required_string("agent", "name one of the agents", sink);
    let agent = agent.and_then(|agent| agent_named(agent, sink));
    let fallback = fields.strings("fallback", sink).map(|list| list.value).unwrap_or_default();
    let fallback = fallback.into_iter().filter_map(|agent| agent_named(agent, sink)).collect();
    let prompt = fields.string("prompt", sink).map(|prompt| prompt.value);
    let max_attempts = fields.count("max_attempts", 1, TRIES_MAX, sink).map(|said| said.value);
    let backoff_ms = fields.duration("backoff", sink).map(|said| said.value);
    let max_backoff_ms = fields.duration("max_backoff", sink).map(|said| said.value);
    let entry = agent.map(|agent| RoleEntry {
        agent,
        fallback,
        prompt,
        max_attempts,
        backoff_ms,
        max_backoff_ms,
    });
    (RoleName::new(name), entry)
}

fn agent_named(agent: Spanned<String>, sink: &mut Sink<'_>) -> Option<Spanned<AgentName>> {
    match AgentName::new(agent.value) {
        Ok(name) => Some(Spanned::new(name, agent.span)),
        Err(error) => {
            illegal_name(&error, &agent.span, sink);
            None
        }
    }
}

/// Reads what is executed: an argv, or a text for bash.
pub(crate) fn run_of(what: &str, fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Option<GateRun> {
    match (fields.take("argv").is_some(), fields.take("run").cloned()) {
        (true, Some(entry)) => {
            let message = format!("{what} has either `argv` or `run`, this one has both");
            sink.error(Code::IllegalValue, &entry.key.span, message);
            None
        }
        (true, None) => argv_of(fields, "argv", sink)
            .map(|argv| GateRun::Argv(argv.value.into_iter().map(|word| word.value).collect())),
        (false, Some(_)) => fields.string("run", sink).and_then(|script| {
            if script.value.trim().is_empty() {
                sink.error(Code::IllegalValue, &script.span, "`run` is empty");
                return None;
            }
            Some(GateRun::Script(script.value))
        }),
        (false, None) => {
            let hint = "argv = [\"PROGRAM\", \"ARGUMENT\"], or run = \"a bash text\"";
            fields.missing("argv", hint, sink);
            None
        }
    }
}

/// Reads one gate.
pub(crate) fn gate_of(
    name: &str,
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) -> (Result<GateName, InvalidName>, Option<GateEntry>) {
    let run = run_of("a gate", fields, sink);
    let env = environment(fields, sink);
    let mut cache = Vec::new();
    for path in fields.strings("cache", sink).map(|list| list.value).unwrap_or_default() {
        match inner_path(&path.value) {
            Ok(inner) if !inner.is_empty() && !inner.split('/').any(|part| part == ".git") => {
                cache.push(inner);
            }
            Ok(_) => {
                let message = format!("{} cannot be a cache", quoted(&path.value));
                sink.error(Code::BadPath, &path.span, message);
            }
            Err(why) => {
                let message = format!("the cache {} {why}", quoted(&path.value));
                sink.error(Code::BadPath, &path.span, message);
            }
        }
    }
    let timeout_ms = fields.duration("timeout", sink).map(|limit| limit.value);
    let needs = fields.strings("needs", sink).map(|list| list.value).unwrap_or_default();
    let retries = fields.count("retries", 0, TRIES_MAX, sink).map_or(0, |said| said.value);
    let parallel = fields.boolean("parallel", sink).is_none_or(|said| said.value);
    let promises = promises_of(fields, sink);
    let entry = run.map(|run| GateEntry {
        run,
        env,
        cache,
        timeout_ms,
        needs,
        retries,
        parallel,
        promises,
    });
    (GateName::new(name), entry)
}

/// Reads one profile.
pub(crate) fn profile_of(
    name: &str,
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) -> (Result<String, InvalidName>, Option<ProfileEntry>) {
    if fields.take("gates").is_none() {
        fields.missing("gates", "gates = [\"GATE\"]", sink);
    }
    let gates = fields.strings("gates", sink).map(|list| list.value);
    let entry = gates.map(|gates| ProfileEntry { gates });
    (check_name("profile", name).map(|()| name.to_owned()), entry)
}

/// Reads one launcher.
pub(crate) fn launcher_of(
    name: &str,
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) -> (Result<String, InvalidName>, Option<LauncherEntry>) {
    let words = |argv: Spanned<Vec<Spanned<String>>>| {
        argv.value.into_iter().map(|word| word.value).collect::<Vec<_>>()
    };
    let argv = argv_of(fields, "argv", sink).map(words);
    let selection = fields.choice("selection", SELECTION, sink);
    let resume_argv = argv_of(fields, "resume_argv", sink).map(words);
    let selection = selection.map_or(LauncherSelection::Env, |said| said.value);
    let entry = LauncherEntry { argv, selection, resume_argv };
    (check_name("launcher", name).map(|()| name.to_owned()), Some(entry))
}
