//! The built-in providers, each with the program that this machine has for it. Nothing is installed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tidegate_config::{AgentEntry, Capabilities, builtin_entry, provider_names};
use tidegate_protocol::{CapabilitiesDoc, ProviderDoc};

use super::asked::Program;

/// All of them, in the order of their names. Their programs are asked at the same time.
pub(crate) fn all() -> Vec<ProviderDoc> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = provider_names()
            .filter_map(|name| Some((name, builtin_entry(name)?.0)))
            .map(|(name, entry)| scope.spawn(move || document(name, &entry)))
            .collect();
        asked.into_iter().filter_map(|provider| provider.join().ok()).collect()
    })
}

fn document(name: &str, entry: &AgentEntry) -> ProviderDoc {
    let program = entry.argv.first().cloned().unwrap_or_default();
    let path = program_on_path(&program);
    let asked = path.as_deref().map(|path| Program { path, env: environment(&entry.env) });
    ProviderDoc {
        name: name.to_owned(),
        path: path.as_ref().map(|path| path.display().to_string()),
        version: asked.as_ref().and_then(Program::version),
        logged_in: asked.as_ref().and_then(|program| program.logged_in(&entry.argv[0])),
        capabilities: capabilities(entry.capabilities()),
        program,
    }
}

/// The first file of this name on the `PATH` that can be executed.
fn program_on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let is_program = |file: &Path| {
        let found = file.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

/// The caller's environment, and what the manifest adds: no updates, no telemetry.
fn environment(added: &BTreeMap<String, String>) -> Vec<(OsString, OsString)> {
    let own = std::env::vars_os().filter(|(name, _)| !added.keys().any(|added| *name == **added));
    own.chain(added.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

fn capabilities(found: Capabilities) -> CapabilitiesDoc {
    CapabilitiesDoc {
        prompt: found.prompt.to_owned(),
        stream: found.stream.to_owned(),
        session: found.session.to_owned(),
        resume: found.resume,
        tools: found.tools,
        waiting: found.waiting,
        usage: found.usage,
        cost: found.cost,
        steering: found.steering,
        own_tools: found.own_tools,
    }
}
