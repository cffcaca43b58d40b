//! The part of a plan that a run was asked for.

use crate::check::wave_numbers;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::near::{near_miss, quoted};
use crate::plan::{FeatureDoc, PlanDoc};
use crate::source::Source;

/// Waves and features of a plan. The default is all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Number of the first wave.
    pub start_wave: Option<u32>,
    /// Number of the last wave.
    pub end_wave: Option<u32>,
    /// Ids of the only features.
    pub features: Option<Vec<String>>,
}

impl Selection {
    /// Whether a feature of the wave `number` is part of it.
    pub(super) fn takes(&self, number: u32, feature: &FeatureDoc) -> bool {
        self.start_wave.is_none_or(|start| number >= start)
            && self.end_wave.is_none_or(|end| number <= end)
            && self
                .features
                .as_ref()
                .is_none_or(|only| feature.id.as_ref().is_some_and(|id| only.contains(&id.value)))
    }

    /// What is wrong with the selection itself.
    pub(super) fn check(&self, doc: &PlanDoc) -> Vec<Diagnostic> {
        let numbers = wave_numbers(doc);
        let mut found = Vec::new();
        for (flag, wave) in [("--start-wave", self.start_wave), ("--end-wave", self.end_wave)] {
            let Some(wave) = wave.filter(|wave| !numbers.contains(wave)) else { continue };
            let known: Vec<String> = numbers.iter().take(20).map(u32::to_string).collect();
            let hint = format!("the plan has the waves {}", known.join(", "));
            let message = format!("the plan has no wave {wave}");
            found.push(finding(flag, &wave.to_string(), Code::UnknownSelection, &message, &hint));
        }
        for id in self.features.iter().flatten() {
            let mut known = doc.features().filter_map(|feature| feature.id.as_ref());
            if known.any(|known| known.value == *id) {
                continue;
            }
            let known = doc.features().filter_map(|feature| feature.id.as_ref());
            let near = near_miss(id, known.map(|id| id.value.as_str()));
            let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`?"));
            let message = format!("the plan has no feature {}", quoted(id));
            found.push(finding("--feature", id, Code::UnknownSelection, &message, &hint));
        }
        let mut pairs = doc.waves.iter().zip(&numbers);
        let any =
            pairs.any(|(wave, number)| wave.features.iter().any(|one| self.takes(*number, one)));
        if !any && found.is_empty() && doc.features().next().is_some() {
            let message = "nothing of the plan is selected";
            found.push(finding("selection", "", Code::EmptySelection, message, ""));
        }
        found
    }
}

/// A finding about a flag, with the flag in place of a file.
pub(super) fn finding(flag: &str, text: &str, code: Code, message: &str, hint: &str) -> Diagnostic {
    let source = Source::new(flag, text);
    source.diagnostic(Severity::Error, code, &(0..text.len()), message, hint)
}
