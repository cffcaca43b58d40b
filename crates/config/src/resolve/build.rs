//! Builds the core values of a plan that passed every check.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::ids::{AgentName, BlobId, FeatureId, GateName, LockName, RoleName};
use tidegate_core::plan::{
    AgentSpec, FeatureSpec, GateSpec, LandingSpec, PlanSpec, ReviewPolicy, Role, RoleSpec, WaveSpec,
};

use tidegate_core::run::Retry;

use super::prompts::Prompts;
use super::selection::{Selection, finding};
use super::{AssumedNeed, Resolved, blob_id};
use crate::bundle::Bundle;
use crate::check::wave_numbers;
use crate::diagnostic::{Code, Diagnostic};
use crate::near::quoted;
use crate::plan::{FeatureDoc, PlanDoc};
use crate::settings::{Config, Layered, branch_ref};
use crate::span::Spanned;

/// Collects the pinned bytes, each once.
#[derive(Default)]
struct Blobs {
    seen: BTreeSet<BlobId>,
    list: Vec<(BlobId, Vec<u8>)>,
}

impl Blobs {
    fn add(&mut self, bytes: &[u8]) -> BlobId {
        let id = blob_id(bytes);
        if self.seen.insert(id.clone()) {
            self.list.push((id.clone(), bytes.to_vec()));
        }
        id
    }
}

/// A feature with its wave and its prompt.
struct Placed<'d> {
    doc: &'d FeatureDoc,
    id: FeatureId,
    wave: u32,
    prompt: Vec<u8>,
}

/// Builds the values; `None` when a selection leaves something out, which goes to `found`.
pub(super) fn build(
    bundle: &Bundle,
    doc: &PlanDoc,
    layered: &Layered,
    prompts: Prompts,
    (selection, landed): (&Selection, &[FeatureId]),
    found: &mut Vec<Diagnostic>,
) -> Option<Resolved> {
    let config = &layered.config;
    let mut blobs = Blobs::default();
    let source = blobs.add(&bundle.plan.bytes);
    let pinned = bundle.config.repository.as_ref().map(|file| blobs.add(&file.bytes));
    let user_config = bundle.config.user.as_ref().map(|file| blobs.add(&file.bytes));
    let all = place(doc, prompts)?;
    let taken: Vec<&Placed<'_>> =
        all.iter().filter(|one| selection.takes(one.wave, one.doc)).collect();
    let needs = Needs::split(&all, &taken, landed, found)?;
    let mut features = BTreeMap::new();
    for one in &taken {
        let prompt = blobs.add(&one.prompt);
        let kept = needs.kept.get(&one.id).cloned().unwrap_or_default();
        features.insert(one.id.clone(), feature_spec(one, prompt, kept, doc, config, &mut blobs)?);
    }
    let (backoff_ms, backoff_ms_max) = (config.backoff_ms.value, config.max_backoff_ms.value);
    let builder = role_spec("builder", config, &mut blobs)?;
    let own_target = doc.target.as_ref().map(|target| branch_ref(&target.value));
    let target = own_target.transpose().ok()?.unwrap_or_else(|| config.target.value.clone());
    let merge_gates = gate_names(&config.merge_gates.value, config)?;
    let spec = PlanSpec {
        title: title_of(doc, &bundle.plan.path),
        path: bundle.plan.path.clone(),
        source,
        config: pinned,
        user_config,
        target,
        waves: wave_specs(doc, &taken),
        agents: agents_of(&builder, &features, config)?,
        gates: gates_of(&merge_gates, &features, config)?,
        features,
        builder,
        landing: LandingSpec {
            strategy: config.strategy.value,
            merge_gates,
            message: config.landing_message.value.clone(),
            remote: config.remote.value,
        },
        review: config.review.value,
        integrity: config.integrity.value,
        integrity_by_kind: config.integrity_by_kind.iter().map(|(k, p)| (*k, p.value)).collect(),
        same_max: config.same_max.value,
        budgets: config.budgets,
        collisions: config.collisions.value,
        on_failure: doc.on_failure.as_ref().map_or(config.on_failure.value, |said| said.value),
        commit: config.commit.value,
        active_max: config.active_features.value,
        snapshot_every_ms: Some(config.snapshot_every_ms.value),
        retry: Retry { backoff_ms, backoff_ms_max },
        stall_after_ms: Some(config.stall_after_ms.value),
        env_pass: config.env_pass.value.clone(),
        worktree: config.worktree.clone(),
    };
    Some(Resolved {
        spec,
        blobs: blobs.list,
        assumed: needs.assumed,
        launchers: config.launchers.iter().map(|(n, l)| (n.clone(), l.value.clone())).collect(),
        env_pass: config.env_pass.value.clone(),
        warnings: Vec::new(),
    })
}

fn place(doc: &PlanDoc, prompts: Prompts) -> Option<Vec<Placed<'_>>> {
    let waves = doc.waves.iter().zip(wave_numbers(doc));
    let features = waves.flat_map(|(wave, number)| wave.features.iter().map(move |f| (number, f)));
    features
        .zip(prompts.bytes)
        .map(|((wave, doc), prompt)| {
            let id = FeatureId::new(doc.id.as_ref()?.value.as_str()).ok()?;
            Some(Placed { doc, id, wave, prompt: prompt? })
        })
        .collect()
}

/// The needs of the selected features.
struct Needs {
    kept: BTreeMap<FeatureId, Vec<FeatureId>>,
    assumed: Vec<AssumedNeed>,
}

impl Needs {
    fn split(
        all: &[Placed<'_>],
        taken: &[&Placed<'_>],
        landed: &[FeatureId],
        found: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let by_id: BTreeMap<&str, &Placed<'_>> = all.iter().map(|o| (o.id.as_str(), o)).collect();
        let selected: BTreeSet<&FeatureId> = taken.iter().map(|one| &one.id).collect();
        let mut needs = Self { kept: BTreeMap::new(), assumed: Vec::new() };
        let mut whole = true;
        for one in taken {
            let mut kept: Vec<FeatureId> = Vec::new();
            for need in &one.doc.needs {
                let other = by_id.get(need.value.as_str())?;
                if selected.contains(&other.id) {
                    if !kept.contains(&other.id) {
                        kept.push(other.id.clone());
                    }
                } else if other.wave < one.wave || landed.contains(&other.id) {
                    let (feature, need) = (one.id.clone(), other.id.clone());
                    let assumed = AssumedNeed { feature, need, wave: other.wave };
                    if !needs.assumed.contains(&assumed) {
                        needs.assumed.push(assumed);
                    }
                } else {
                    let (from, to) = (quoted(one.id.as_str()), quoted(other.id.as_str()));
                    let message =
                        format!("{from} needs {to} of the same wave, which is not selected");
                    let hint = format!("select {to}, too");
                    found.push(finding("selection", "", Code::NeedNotSelected, &message, &hint));
                    whole = false;
                }
            }
            needs.kept.insert(one.id.clone(), kept);
        }
        whole.then_some(needs)
    }
}

fn feature_spec(
    one: &Placed<'_>,
    prompt: BlobId,
    needs: Vec<FeatureId>,
    doc: &PlanDoc,
    config: &Config,
    blobs: &mut Blobs,
) -> Option<FeatureSpec> {
    let feature = one.doc;
    let gates = feature.gates.as_ref().or(doc.gates.as_ref());
    let agent = match &feature.agent {
        Some(agent) => Some(AgentName::new(agent.value.as_str()).ok()?),
        None => None,
    };
    let count =
        |own: &Option<Spanned<u32>>, general: u32| own.as_ref().map_or(general, |n| n.value);
    Some(FeatureSpec {
        title: feature
            .title
            .as_ref()
            .map_or_else(|| one.id.to_string(), |title| title.value.clone()),
        prompt,
        needs,
        paths: feature.paths.iter().map(|path| path.value.clone()).collect(),
        locks: lock_names(&feature.locks)?,
        gates: gate_names(gates.map_or(&[], Vec::as_slice), config)?,
        agent,
        crew: crew_of(feature, config, blobs)?,
        allow_no_change: feature.allow_no_change.as_ref().is_some_and(|allow| allow.value),
        iterations_max: count(&feature.max_iterations, config.max_iterations.value),
        attempts_max: count(&feature.max_attempts, attempts_of_builder(config)),
    })
}

/// Each once.
fn lock_names(said: &[Spanned<String>]) -> Option<Vec<LockName>> {
    let mut locks: Vec<LockName> = Vec::new();
    for name in said {
        let lock = LockName::new(name.value.as_str()).ok()?;
        if !locks.contains(&lock) {
            locks.push(lock);
        }
    }
    Some(locks)
}

/// Who works on a feature: the roles that it names, and those that are called when they are needed.
fn crew_of(
    feature: &FeatureDoc,
    config: &Config,
    blobs: &mut Blobs,
) -> Option<BTreeMap<Role, RoleSpec>> {
    let mut crew = BTreeMap::new();
    for name in feature.roles.iter().flatten().filter(|role| role.value != "builder") {
        let part = Role::ALL.into_iter().find(|role| role.word() == name.value);
        crew.insert(part.unwrap_or(Role::Builder), role_spec(&name.value, config, blobs)?);
    }
    let called = [
        (Role::Reviewer, config.review.value == ReviewPolicy::Agent),
        (Role::Reconciler, config.roles.keys().any(|name| name.as_str() == "reconciler")),
    ];
    for (role, _) in called.into_iter().filter(|(_, called)| *called) {
        crew.insert(role, role_spec(role.word(), config, blobs)?);
    }
    Some(crew)
}

fn role_spec(name: &str, config: &Config, blobs: &mut Blobs) -> Option<RoleSpec> {
    let name = RoleName::new(name).ok()?;
    let entry = &config.roles.get(&name)?.value;
    let prompt = entry.prompt.as_ref().map(|text| blobs.add(text.as_bytes()));
    let own = entry.backoff_ms.or(entry.max_backoff_ms).map(|_| Retry {
        backoff_ms: entry.backoff_ms.unwrap_or(config.backoff_ms.value),
        backoff_ms_max: entry.max_backoff_ms.unwrap_or(config.max_backoff_ms.value),
    });
    let fallback = entry.fallback.iter().map(|agent| agent.value.clone()).collect();
    Some(RoleSpec { name, agent: entry.agent.value.clone(), fallback, prompt, retry: own })
}

/// Attempts of one job of a feature that says nothing itself.
fn attempts_of_builder(config: &Config) -> u32 {
    let builder = RoleName::new("builder").ok();
    let own = builder.and_then(|name| config.roles.get(&name)?.value.max_attempts);
    own.unwrap_or(config.max_attempts.value)
}

/// The names in their order, each once; those of a profile where it is named.
fn gate_names(names: &[Spanned<String>], config: &Config) -> Option<Vec<GateName>> {
    let mut all: Vec<&Spanned<String>> = Vec::new();
    for name in names {
        match name.value.strip_prefix('@') {
            Some(profile) => all.extend(&config.profiles.get(profile)?.value.gates),
            None => all.push(name),
        }
    }
    let mut gates: Vec<GateName> = Vec::new();
    for name in all {
        let gate = GateName::new(name.value.as_str()).ok()?;
        if !gates.contains(&gate) {
            gates.push(gate);
        }
    }
    Some(gates)
}

fn wave_specs(doc: &PlanDoc, taken: &[&Placed<'_>]) -> Vec<WaveSpec> {
    let mut waves = Vec::new();
    for (wave, number) in doc.waves.iter().zip(wave_numbers(doc)) {
        let features: Vec<FeatureId> =
            taken.iter().filter(|one| one.wave == number).map(|one| one.id.clone()).collect();
        if !features.is_empty() {
            let name =
                wave.name.as_ref().map_or_else(|| format!("wave {number}"), |n| n.value.clone());
            waves.push(WaveSpec { number, name, features });
        }
    }
    waves
}

fn agents_of(
    builder: &RoleSpec,
    features: &BTreeMap<FeatureId, FeatureSpec>,
    config: &Config,
) -> Option<BTreeMap<AgentName, AgentSpec>> {
    let own = features.values().filter_map(|feature| feature.agent.as_ref());
    let crew = features.values().flat_map(|feature| feature.crew.values());
    let roles = std::iter::once(builder).chain(crew);
    roles
        .flat_map(|role| std::iter::once(&role.agent).chain(&role.fallback))
        .chain(own)
        .map(|name| {
            let entry = &config.agents.get(name)?.value;
            let spec = AgentSpec {
                argv: entry.argv.clone(),
                prompt: entry.prompt,
                env: entry.env.clone(),
                timeout_ms: entry.timeout_ms.unwrap_or(config.agent_timeout_ms.value),
                grace_ms: entry.grace_ms.unwrap_or(config.grace_ms.value),
                terminal: entry.terminal,
                manifest: entry.manifest.clone(),
            };
            Some((name.clone(), spec))
        })
        .collect()
}

fn gates_of(
    merge_gates: &[GateName],
    features: &BTreeMap<FeatureId, FeatureSpec>,
    config: &Config,
) -> Option<BTreeMap<GateName, GateSpec>> {
    let own = features.values().flat_map(|feature| feature.gates.iter());
    // A planner may name any of them.
    let planners = features.values().any(|feature| feature.crew.contains_key(&Role::Planner));
    let all = config.gates.keys().filter(|_| planners);
    let mut open: Vec<GateName> = merge_gates.iter().chain(own).chain(all).cloned().collect();
    let mut gates = BTreeMap::new();
    while let Some(name) = open.pop() {
        let Entry::Vacant(free) = gates.entry(name) else { continue };
        let spec = gate_spec(config, free.key())?;
        open.extend(spec.needs.iter().cloned());
        free.insert(spec);
    }
    Some(gates)
}

fn gate_spec(config: &Config, name: &GateName) -> Option<GateSpec> {
    let entry = &config.gates.get(name)?.value;
    let needs = entry.needs.iter().map(|need| GateName::new(need.value.as_str()).ok());
    Some(GateSpec {
        run: entry.run.clone(),
        env: entry.env.clone(),
        cache: entry.cache.clone(),
        timeout_ms: entry.timeout_ms.unwrap_or(config.gate_timeout_ms.value),
        needs: needs.collect::<Option<_>>()?,
        retries: entry.retries,
        alone: !entry.parallel,
        promises: entry.promises.clone(),
    })
}

/// The plan's title, else the name of its file.
fn title_of(doc: &PlanDoc, path: &str) -> String {
    let given =
        doc.title.as_ref().map(|title| title.value.trim()).filter(|title| !title.is_empty());
    let base = path.rsplit('/').next().unwrap_or(path);
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
    given.unwrap_or(stem).to_owned()
}
