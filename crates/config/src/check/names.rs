//! Ids of features, names and numbers of waves.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tidegate_core::ids::{FeatureId, LockName};
use tidegate_core::limits::FEATURES_PER_PLAN;

use crate::diagnostic::{Code, Sink};
use crate::near::quoted;
use crate::plan::PlanDoc;
use crate::span::Span;

/// Checks ids, names and numbers.
pub(crate) fn check_names(doc: &PlanDoc, sink: &mut Sink<'_>) {
    let count = doc.features().count();
    if count == 0 && doc.waves.iter().all(|wave| wave.features.is_empty()) && doc.waves.is_empty() {
        let hint = "add `[[wave]]` with `[[wave.feature]]`";
        sink.error_hint(Code::NoFeatures, &(0..0), "the plan has no feature", hint);
    }
    if count > FEATURES_PER_PLAN {
        let message = format!("the plan has {count} features, at most {FEATURES_PER_PLAN} are run");
        sink.error_hint(Code::TooManyFeatures, &(0..0), message, "split it into several plans");
    }
    check_waves(doc, sink);
    for lock in doc.features().flat_map(|feature| &feature.locks) {
        if let Err(error) = LockName::new(lock.value.as_str()) {
            sink.error(Code::IllegalName, &lock.span, shortened(&error.to_string()));
        }
    }
    let mut first: HashMap<&str, Span> = HashMap::new();
    let mut folded: HashMap<String, &str> = HashMap::new();
    for id in doc.features().filter_map(|feature| feature.id.as_ref()) {
        if let Err(error) = FeatureId::new(id.value.as_str()) {
            let hint = slug(&id.value).map(|slug| format!("for instance `{slug}`"));
            let message = error.to_string();
            let code = Code::IllegalName;
            sink.error_hint(code, &id.span, shortened(&message), &hint.unwrap_or_default());
        }
        if let Some(earlier) = first.get(id.value.as_str()) {
            let line = sink.source().line(earlier.start);
            let message =
                format!("the id {} is given twice; the first is on line {line}", quoted(&id.value));
            sink.error(Code::DuplicateId, &id.span, message);
        } else {
            first.insert(&id.value, id.span.clone());
            check_case(&id.value, &id.span, &mut folded, sink);
        }
    }
}

/// Ids become folders and branches: on a disk that folds case, two that differ in it alone would be one.
fn check_case<'d>(
    id: &'d str,
    span: &Span,
    folded: &mut HashMap<String, &'d str>,
    sink: &mut Sink<'_>,
) {
    match folded.entry(id.to_ascii_lowercase()) {
        Entry::Occupied(earlier) => {
            let message = format!(
                "the id {} differs from {} in case alone",
                quoted(id),
                quoted(earlier.get())
            );
            let hint = "ids are names of folders and branches, and disks may fold case";
            sink.error_hint(Code::DuplicateId, span, message, hint);
        }
        Entry::Vacant(free) => {
            free.insert(id);
        }
    }
}

fn check_waves(doc: &PlanDoc, sink: &mut Sink<'_>) {
    let mut first: HashMap<&str, Span> = HashMap::new();
    for wave in &doc.waves {
        if wave.features.is_empty() {
            let hint = "a feature is `[[wave.feature]]` in TOML, `### ID` in Markdown";
            sink.error_hint(Code::EmptyWave, &wave.span, "this wave has no feature", hint);
        }
        let Some(name) = &wave.name else { continue };
        if name.value.trim().is_empty() || name.value.len() > 200 {
            let message = "a wave's name has 1 to 200 bytes";
            sink.error(Code::IllegalName, &name.span, message);
        }
        if let Some(earlier) = first.get(name.value.as_str()) {
            let line = sink.source().line(earlier.start);
            let message =
                format!("the wave on line {line} has the name {}, too", quoted(&name.value));
            sink.warning(Code::DuplicateWave, &name.span, message, "");
        } else {
            first.insert(&name.value, name.span.clone());
        }
    }
    let mut last: Option<u32> = None;
    for wave in &doc.waves {
        let number = match (&wave.number, last) {
            (Some(given), Some(before)) if given.value <= before => {
                let message =
                    format!("wave {} comes after wave {before}: numbers rise", given.value);
                sink.error(Code::WaveNotRising, &given.span, message);
                before
            }
            (Some(given), _) => given.value,
            (None, Some(before)) => before + 1,
            (None, None) => 1,
        };
        last = Some(number);
    }
}

/// The numbers of the waves: the given ones, else one above the wave before.
pub(crate) fn wave_numbers(doc: &PlanDoc) -> Vec<u32> {
    let mut last = 0_u32;
    let number = |wave: &crate::plan::WaveDoc| {
        last = wave.number.as_ref().map_or(last.saturating_add(1), |given| given.value);
        last
    };
    doc.waves.iter().map(number).collect()
}

/// A legal id that is close to `text`.
fn slug(text: &str) -> Option<String> {
    let mut slug = String::new();
    for character in text.chars().take(60) {
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-').to_owned();
    FeatureId::new(slug.as_str()).is_ok().then_some(slug)
}

/// The first part of a message that may quote a long text.
fn shortened(message: &str) -> String {
    let mut short: String = message.chars().take(240).collect();
    if short.len() < message.len() {
        short.push('…');
    }
    short
}
