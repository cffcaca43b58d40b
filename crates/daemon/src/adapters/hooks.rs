//! The programs of gates and of hooks: commands of the pinned config, in a checkout or a worktree.

use std::ffi::OsString;
use std::path::Path;

use tidegate_core::limits;
use tidegate_core::plan::{GateRun, GateSpec};
use tidegate_core::workplace::{HookSpec, WorktreeSpec};
use tidegate_process::record::Stdin;

use super::launch::Program;
use super::variables::{self, Variable};

/// Runs the first command, whose words are counted before it, then becomes the second one.
const ONE_AFTER_THE_OTHER: &str = "n=$1; shift; \"${@:1:n}\" || exit; shift \"$n\"; exec \"$@\"";

/// A gate; after the setup, where the config wants that.
pub(super) fn gate(
    gate: &GateSpec,
    worktree: &WorktreeSpec,
    mut env: Vec<Variable>,
    cwd: &Path,
) -> Program {
    let setup = worktree.setup.as_ref().filter(|_| worktree.setup_gates);
    let mut argv = argv_of(&gate.run);
    let mut timeout_ms = gate.timeout_ms;
    if let Some(setup) = setup {
        add(&mut env, setup.env.iter());
        let first = argv_of(&setup.run);
        let mut both: Vec<OsString> =
            ["bash", "-c", ONE_AFTER_THE_OTHER, "setup"].map(OsString::from).into();
        both.push(first.len().to_string().into());
        both.extend(first);
        both.extend(argv);
        argv = both;
        timeout_ms = timeout_ms.saturating_add(setup.timeout_ms);
    }
    add(&mut env, gate.env.iter());
    program(argv, env, cwd, timeout_ms)
}

/// A hook, in the worktree that it is for.
pub(super) fn hook(hook: &HookSpec, mut env: Vec<Variable>, cwd: &Path) -> Program {
    add(&mut env, hook.env.iter());
    program(argv_of(&hook.run), env, cwd, hook.timeout_ms)
}

fn program(argv: Vec<OsString>, env: Vec<Variable>, cwd: &Path, timeout_ms: u64) -> Program {
    let (cwd, stdin, timeout_ms) = (cwd.to_owned(), Stdin::Null, Some(timeout_ms));
    Program { argv, cwd, env, stdin, timeout_ms, grace_ms: limits::GRACE_MS }
}

fn add<'a>(env: &mut Vec<Variable>, more: impl Iterator<Item = (&'a String, &'a String)>) {
    for (name, value) in more {
        variables::set(env, name, value.as_bytes());
    }
}

fn argv_of(run: &GateRun) -> Vec<OsString> {
    match run {
        GateRun::Argv(argv) => argv.iter().map(OsString::from).collect(),
        GateRun::Script(script) => {
            ["bash", "-eo", "pipefail", "-c", script].iter().map(OsString::from).collect()
        }
    }
}
