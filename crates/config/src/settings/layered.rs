//! The layers of settings: default < user < repository < environment < flag, and who set what.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::ids::AgentName;

use super::apply::apply;
use super::config::{Config, Place};
use super::overrides::{Override, table_of};
use super::rounds::{GateProblem, check_gates};
use crate::diagnostic::{Code, Diagnostic, Severity, Sink, sort};
use crate::duration::format_duration;
use crate::near::{hint_for, quoted};
use crate::node::{Table, Value, toml_string};
use crate::source::Source;
use crate::span::{Span, Spanned};
use crate::toml_text::read_toml;

/// Bytes of a config file that are read.
const CONFIG_BYTES_MAX: usize = 1024 * 1024;

/// Tables whose entries are replaced whole by a layer above.
const WHOLE: &[&str] = &["agent", "role", "gate", "profile", "launcher"];

/// Where a setting comes from; later ones go over earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Built in.
    Default,
    /// The user's own file.
    User,
    /// `tidegate.toml` of the repository.
    Repository,
    /// A variable of the client.
    Environment,
    /// A flag of the command.
    Flag,
}

impl Layer {
    /// The layer's name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Repository => "repository",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// A file as bytes, with the path that messages give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// The path, as the user knows it.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What the settings are made of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigFiles {
    /// The user's own file.
    pub user: Option<NamedFile>,
    /// `tidegate.toml` of the repository.
    pub repository: Option<NamedFile>,
    /// Variables and flags.
    pub overrides: Vec<Override>,
}

/// Who set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file, variable or flag; `None` for a default.
    pub file: Option<String>,
    /// The line in the file; `None` where there is no file.
    pub line: Option<u32>,
}

/// A line of `config show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The key, such as `limits.max_attempts`.
    pub key: String,
    /// The value, in TOML's form.
    pub value: String,
    /// Who set it.
    pub origin: Origin,
}

/// The settings after all layers, with the texts they come from.
#[derive(Debug, Clone)]
pub struct Layered {
    /// The settings that hold. Where a file has errors, what could be read of it.
    pub config: Config,
    /// The text of each layer that was given, lowest first.
    pub sources: Vec<(Layer, Source)>,
    /// What was found in them, sorted.
    pub findings: Vec<Diagnostic>,
    rows: BTreeMap<String, (String, Option<Place>)>,
    /// Kind and name of every named table, also of those with errors.
    declared: BTreeSet<(&'static str, String)>,
    broken: bool,
}

/// Reads all layers. Errors do not end it: they are in [`Layered::findings`].
pub fn load_config(files: &ConfigFiles) -> Layered {
    let config = Config::default();
    let rows = default_rows(&config);
    let mut layered = Layered {
        config,
        sources: Vec::new(),
        findings: Vec::new(),
        rows,
        declared: BTreeSet::new(),
        broken: false,
    };
    for (layer, file) in [(Layer::User, &files.user), (Layer::Repository, &files.repository)] {
        let Some(file) = file else { continue };
        match Source::decode(&file.path, &file.bytes, CONFIG_BYTES_MAX) {
            Ok(source) => {
                layered
                    .add(layer, source, |sink| read_toml(&(0..sink.source().text().len()), sink));
            }
            Err(found) => {
                layered.findings.extend(found);
                layered.broken = true;
            }
        }
    }
    let mut overrides: Vec<&Override> = files.overrides.iter().collect();
    overrides.sort_by_key(|one| one.layer);
    for one in overrides {
        let source = Source::new(one.name.clone(), one.value.clone());
        layered.add(one.layer, source, |sink| table_of(&one.key, sink));
    }
    if !layered.broken {
        layered.check_references();
    }
    sort(&mut layered.findings);
    layered
}

impl Layered {
    /// What `config show` prints: every setting and who set it, by key.
    pub fn show(&self) -> Vec<Shown> {
        let shown = |(key, (value, place)): (&String, &(String, Option<Place>))| Shown {
            key: key.clone(),
            value: value.clone(),
            origin: self.origin(place.as_ref()),
        };
        self.rows.iter().map(shown).collect()
    }

    /// Whether a layer could not be read at all, so that what it defines is not known.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Who set the value at `place`.
    pub fn origin(&self, place: Option<&Place>) -> Origin {
        let found = place.and_then(|place| Some((place, self.sources.get(place.layer)?)));
        let Some((place, (layer, source))) = found else {
            return Origin { layer: Layer::Default, file: None, line: None };
        };
        let in_file = matches!(layer, Layer::User | Layer::Repository);
        let line = in_file.then(|| source.line(place.span.start));
        Origin { layer: *layer, file: Some(source.path().to_owned()), line }
    }

    fn add(
        &mut self,
        layer: Layer,
        source: Source,
        read: impl FnOnce(&mut Sink<'_>) -> Option<Table>,
    ) {
        let index = self.sources.len();
        let mut sink = Sink::new(&source);
        if let Some(table) = read(&mut sink) {
            apply(&mut self.config, &table, index, &mut sink);
            self.record(&table, index);
        } else {
            self.broken = true;
        }
        self.findings.extend(sink.finish());
        self.sources.push((layer, source));
    }

    /// Notes the leaves of a layer's tree.
    fn record(&mut self, table: &Table, layer: usize) {
        for kind in WHOLE {
            let Some(Value::Table(entries)) = table.get(kind).map(|entry| &entry.node.value) else {
                continue;
            };
            for entry in &entries.entries {
                self.declared.insert((*kind, entry.key.value.clone()));
                let prefix = format!("{kind}.{}.", key_part(&entry.key.value));
                self.rows.retain(|key, _| !key.starts_with(&prefix));
            }
        }
        self.record_under("", table, layer);
    }

    fn record_under(&mut self, prefix: &str, table: &Table, layer: usize) {
        for entry in &table.entries {
            let key = format!("{prefix}{}", key_part(&entry.key.value));
            if let Value::Table(inner) = &entry.node.value {
                self.record_under(&format!("{key}."), inner, layer);
            } else {
                let place = Place { layer, span: entry.key.span.clone() };
                self.rows.insert(key, (entry.node.to_line(), Some(place)));
            }
        }
    }

    fn has_terminal(&self, agent: &Spanned<AgentName>) -> bool {
        self.config.agents.get(&agent.value).is_some_and(|entry| entry.value.terminal)
    }

    /// Names that must lead somewhere once all layers are there.
    fn check_references(&mut self) {
        let (agents, gates) = (self.declared("agent"), self.declared("gate"));
        let mut found = Vec::new();
        for role in self.config.roles.values() {
            for named in std::iter::once(&role.value.agent).chain(&role.value.fallback) {
                let (agent, span, place) = (named.value.as_str(), &named.span, role.place.as_ref());
                if !agents.contains(&agent) {
                    let message = format!("there is no agent {}", quoted(agent));
                    let hint = hint_for(agent, agents.iter().copied());
                    found.extend(self.at(place, span, Code::UnknownAgent, message, &hint));
                } else if self.has_terminal(named) != self.has_terminal(&role.value.agent) {
                    let message =
                        format!("{} has another `terminal` than its role's agent", quoted(agent));
                    let hint = "an agent stands in for one of its own kind";
                    found.extend(self.at(place, span, Code::IllegalValue, message, hint));
                }
            }
        }
        let place = self.config.merge_gates.place.as_ref();
        for gate in &self.config.merge_gates.value {
            if let Some((message, hint)) = self.unknown_gate(&gate.value) {
                found.extend(self.at(place, &gate.span, Code::UnknownGate, message, &hint));
            }
        }
        for problem in check_gates(&self.config, &gates) {
            let GateProblem { place, span, code, message, hint } = problem;
            found.extend(self.at(place, span, code, message, &hint));
        }
        self.findings.extend(found);
    }

    /// What is wrong with a name that stands where a gate's does, or a profile's after an `@`.
    pub(crate) fn unknown_gate(&self, name: &str) -> Option<(String, String)> {
        let (what, bare) = name.strip_prefix('@').map_or(("gate", name), |bare| ("profile", bare));
        let known = self.declared(what);
        if known.contains(&bare) {
            return None;
        }
        let hint = if known.is_empty() {
            format!("define [{what}.NAME] in tidegate.toml")
        } else {
            hint_for(bare, known.iter().copied())
        };
        Some((format!("there is no {what} {}", quoted(bare)), hint))
    }

    /// Names of the tables of a kind in all layers. One with errors is among them: its own errors
    /// say enough.
    pub(crate) fn declared(&self, kind: &str) -> Vec<&str> {
        let of_kind = self.declared.iter().filter(|(known, _)| *known == kind);
        of_kind.map(|(_, name)| name.as_str()).collect()
    }

    /// A finding in the layer of `place`; a place of no layer gives none.
    pub(crate) fn at(
        &self,
        place: Option<&Place>,
        span: &Span,
        code: Code,
        message: String,
        hint: &str,
    ) -> Option<Diagnostic> {
        let (_, source) = self.sources.get(place?.layer)?;
        Some(source.diagnostic(Severity::Error, code, span, message, hint))
    }
}

/// A part of a dotted key, in quotes where TOML wants them.
fn key_part(key: &str) -> String {
    let bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if bare { key.to_owned() } else { toml_string(key) }
}

fn default_rows(config: &Config) -> BTreeMap<String, (String, Option<Place>)> {
    let duration = |ms: u64| toml_string(&format_duration(ms));
    [
        ("target", toml_string("main")),
        ("commit", toml_string("auto")),
        ("on_failure", toml_string("stop")),
        ("review.policy", toml_string("auto")),
        ("landing.strategy", toml_string("merge")),
        ("landing.merge_gates", "[]".to_owned()),
        ("limits.active_features", config.active_features.value.to_string()),
        ("limits.max_iterations", config.max_iterations.value.to_string()),
        ("limits.max_attempts", config.max_attempts.value.to_string()),
        ("limits.max_same", config.same_max.value.to_string()),
        ("retry.backoff", duration(config.backoff_ms.value)),
        ("retry.max_backoff", duration(config.max_backoff_ms.value)),
        ("commands.keep", duration(config.commands_kept_ms.value)),
        ("limits.stall_after", duration(config.stall_after_ms.value)),
        ("limits.agent_timeout", duration(config.agent_timeout_ms.value)),
        ("limits.gate_timeout", duration(config.gate_timeout_ms.value)),
        ("limits.grace", duration(config.grace_ms.value)),
        ("limits.snapshot_every", duration(config.snapshot_every_ms.value)),
        ("env.pass", "[]".to_owned()),
        ("worktree.include", config.worktree.include.to_string()),
        ("worktree.submodules", toml_string("init")),
        ("worktree.lfs", toml_string("off")),
        ("worktree.setup_gates", config.worktree.setup_gates.to_string()),
        ("worktree.ports", config.worktree.ports.to_string()),
        ("worktree.port_range", toml_string("20000-29999")),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), (value, None)))
    .collect()
}
