//! From a bundle to what the engine executes, or to all that is wrong with it. The client's
//! `plan check` and the daemon's submit both end here.

mod build;
mod prompts;
mod selection;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use tidegate_core::ids::{BlobId, FeatureId};
use tidegate_core::plan::{PlanSpec, ReviewPolicy};

use crate::bundle::Bundle;
use crate::check::{
    Graph, check_names, check_needs, check_paths, check_references, warn_of_ungated,
};
use crate::diagnostic::{Code, Diagnostic, Severity, Sink, has_errors, sort};
use crate::plan::{PlanDoc, parse_plan};
use crate::settings::{LauncherEntry, Layered, load_config};
use crate::source::Source;

use prompts::Prompts;
pub use selection::Selection;

/// A plan that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// What the engine executes; only what was selected.
    pub spec: PlanSpec,
    /// The pinned bytes, each once: plan, settings, prompts and specs.
    pub blobs: Vec<(BlobId, Vec<u8>)>,
    /// Needs that lie in earlier waves outside the selection. They are left out of the features'
    /// needs; whoever starts the run checks that they have landed.
    pub assumed: Vec<AssumedNeed>,
    /// The launchers that the settings define.
    pub launchers: BTreeMap<String, LauncherEntry>,
    /// Variables of the client that agents and gates get.
    pub env_pass: Vec<String>,
    /// What is not wrong, but worth a look; sorted.
    pub warnings: Vec<Diagnostic>,
}

/// A need that the selection left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssumedNeed {
    /// The selected feature.
    pub feature: FeatureId,
    /// What must have landed before.
    pub need: FeatureId,
    /// The wave of that.
    pub wave: u32,
}

/// Content address of `bytes`: SHA-256.
pub fn blob_id(bytes: &[u8]) -> BlobId {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        for digit in [byte >> 4, byte & 15] {
            hex.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    match BlobId::new(hex) {
        Some(id) => id,
        None => unreachable!("64 hex digits are a blob id"),
    }
}

/// Everything that is found in a bundle, sorted by file and line. What `plan check` prints.
pub fn check(bundle: &Bundle, selection: &Selection) -> Vec<Diagnostic> {
    match resolve(bundle, selection) {
        Ok(resolved) => resolved.warnings,
        Err(found) => found,
    }
}

/// Checks a bundle and gives what the engine executes.
///
/// # Errors
/// All that was found, warnings included, sorted by file and line; at least one is an error.
pub fn resolve(bundle: &Bundle, selection: &Selection) -> Result<Resolved, Vec<Diagnostic>> {
    resolve_after(bundle, selection, &[])
}

/// As [`resolve`], for a run that goes on where another ended: needs on the features in `landed` are
/// met whatever their wave. They are recorded in [`Resolved::assumed`], too.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_after(
    bundle: &Bundle,
    selection: &Selection,
    landed: &[FeatureId],
) -> Result<Resolved, Vec<Diagnostic>> {
    let layered = load_config(&bundle.config);
    let parsed = parse_plan(&bundle.plan.path, &bundle.plan.bytes);
    let mut found = layered.findings.clone();
    found.extend(parsed.findings);
    let mut resolved = None;
    if let (Some(source), Some(doc)) = (&parsed.source, &parsed.doc) {
        let mut sink = Sink::new(source);
        let shapeless = doc.waves.is_empty() && has_errors(&found);
        let prompts = check_all(doc, bundle, &layered, shapeless, &mut sink);
        found.extend(sink.finish());
        found.extend(prompts.findings.iter().cloned());
        found.extend(missing_roles(&layered, source));
        found.extend(selection.check(doc));
        if !has_errors(&found) {
            let mut sink = Sink::new(source);
            warn_of_ungated(doc, &layered, &mut sink);
            found.extend(sink.finish());
            resolved =
                build::build(bundle, doc, &layered, prompts, (selection, landed), &mut found);
        }
    }
    sort(&mut found);
    match resolved {
        Some(resolved) if !has_errors(&found) => Ok(Resolved { warnings: found, ..resolved }),
        Some(_) | None => Err(found),
    }
}

/// `shapeless`: the waves could not be read, which is said already.
fn check_all(
    doc: &PlanDoc,
    bundle: &Bundle,
    layered: &Layered,
    shapeless: bool,
    sink: &mut Sink<'_>,
) -> Prompts {
    let graph = Graph::new(doc);
    if !shapeless {
        check_names(doc, sink);
    }
    check_needs(&graph, sink);
    check_paths(doc, &graph, sink);
    if !layered.is_broken() {
        check_references(doc, layered, sink);
    }
    Prompts::read(doc, bundle, layered, sink)
}

/// Roles that nobody fills although they are needed.
fn missing_roles(layered: &Layered, plan: &Source) -> Vec<Diagnostic> {
    if layered.is_broken() {
        return Vec::new();
    }
    let known = layered.declared("role");
    let by_agent = layered.config.review.value == ReviewPolicy::Agent;
    let needed = [
        (
            !known.contains(&"builder"),
            Code::NoBuilder,
            "no agent builds: there is no [role.builder]",
            "`tidegate init` writes one",
        ),
        (
            by_agent && !known.contains(&"reviewer"),
            Code::NoReviewer,
            "review.policy is \"agent\", and there is no [role.reviewer]",
            "add `[role.reviewer]` with an `agent`",
        ),
    ];
    let config = layered.sources.last().map_or(plan, |(_, source)| source);
    let missing = needed.into_iter().filter(|(missing, ..)| *missing);
    missing
        .map(|(_, code, message, hint)| {
            config.diagnostic(Severity::Error, code, &(0..0), message, hint)
        })
        .collect()
}
