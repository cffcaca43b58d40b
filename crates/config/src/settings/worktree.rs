//! `[worktree]`: what the worktrees of features get beside the files of their commits.

use tidegate_core::limits;
use tidegate_core::plan::GateRun;
use tidegate_core::workplace::{Hook, HookSpec, LfsPolicy, SubmodulePolicy, WorktreeSpec};

use super::agent::{argv_of, environment};
use super::named::run_of;
use crate::diagnostic::{Code, Sink};
use crate::fields::{Fields, wrong_type};
use crate::near::quoted;
use crate::node::Value;
use crate::span::Spanned;

const SUBMODULES: &[(&str, SubmodulePolicy)] =
    &[("off", SubmodulePolicy::Off), ("init", SubmodulePolicy::Init)];

const LFS: &[(&str, LfsPolicy)] = &[("off", LfsPolicy::Off), ("pull", LfsPolicy::Pull)];

/// Puts what a layer says of worktrees over what is there.
pub(crate) fn apply_worktree(
    worktree: &mut WorktreeSpec,
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) {
    let Some((table, entry)) = fields.table("worktree", sink) else { return };
    let mut inner = Fields::new("[worktree]", table, entry.key.span.clone());
    if let Some(hook) = hook_of("setup", Hook::Setup, &mut inner, sink) {
        worktree.setup = Some(hook);
    }
    if let Some(hook) = hook_of("teardown", Hook::Teardown, &mut inner, sink) {
        worktree.teardown = Some(hook);
    }
    set(&mut worktree.setup_gates, inner.boolean("setup_gates", sink));
    set(&mut worktree.include, inner.boolean("include", sink));
    set(&mut worktree.submodules, inner.choice("submodules", SUBMODULES, sink));
    set(&mut worktree.lfs, inner.choice("lfs", LFS, sink));
    set(&mut worktree.ports, inner.count("ports", 0, limits::PORTS_MAX, sink));
    if let Some(range) = inner.string("port_range", sink) {
        if let Some((first, last)) = ports_of(&range.value) {
            (worktree.port_first, worktree.port_last) = (first, last);
        } else {
            let message = format!("`port_range` cannot be {}", quoted(&range.value));
            let hint = "two ports from 1024 to 65535, such as \"20000-29999\"";
            sink.error_hint(Code::IllegalValue, &range.span, message, hint);
        }
    }
    inner.finish(sink);
}

fn set<T>(value: &mut T, said: Option<Spanned<T>>) {
    if let Some(said) = said {
        *value = said.value;
    }
}

/// Reads one hook: a list is an argv, a string a text for bash, a table has more.
fn hook_of(
    key: &'static str,
    hook: Hook,
    fields: &mut Fields<'_>,
    sink: &mut Sink<'_>,
) -> Option<HookSpec> {
    let timeout_ms = match hook {
        Hook::Setup => limits::SETUP_TIMEOUT_MS,
        Hook::Teardown => limits::TEARDOWN_TIMEOUT_MS,
    };
    let plain = |run| HookSpec { run, env: std::collections::BTreeMap::new(), timeout_ms };
    let entry = fields.take(key)?;
    match &entry.node.value {
        Value::Array(_) => argv_of(fields, key, sink)
            .map(|argv| argv.value.into_iter().map(|word| word.value).collect())
            .map(|argv| plain(GateRun::Argv(argv))),
        Value::String(script) if script.trim().is_empty() => {
            sink.error(Code::IllegalValue, &entry.node.span, format!("`{key}` is empty"));
            None
        }
        Value::String(_) => {
            fields.string(key, sink).map(|script| plain(GateRun::Script(script.value)))
        }
        Value::Table(table) => {
            let mut inner = Fields::new("a hook", table, entry.key.span.clone());
            let run = run_of("a hook", &mut inner, sink);
            let env = environment(&mut inner, sink);
            let limit = inner.duration("timeout", sink).map(|limit| limit.value);
            inner.finish(sink);
            run.map(|run| HookSpec { run, env, timeout_ms: limit.unwrap_or(timeout_ms) })
        }
        Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Number(_) | Value::Date(_) => {
            wrong_type(&format!("`{key}`"), "an argv, a bash text or a table", &entry.node, sink);
            None
        }
    }
}

fn ports_of(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-')?;
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port >= 1024);
    let (first, last) = (port(first)?, port(last)?);
    (first <= last).then(|| (first.into(), last.into()))
}
