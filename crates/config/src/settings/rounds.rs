//! The order of gates that their `needs` ask for: every name is known, none needs itself, and there
//! is no circle. And the gates of profiles.

use std::collections::BTreeMap;

use tidegate_core::ids::GateName;

use super::config::{Config, GateEntry, Place, Sourced};
use crate::diagnostic::Code;
use crate::near::{hint_for, quoted};
use crate::span::{Span, Spanned};

/// Names of a circle that a message shows.
const SHOWN_MAX: usize = 12;

/// Something about the gates that cannot be meant.
pub(super) struct GateProblem<'c> {
    pub(super) place: Option<&'c Place>,
    pub(super) span: &'c Span,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) hint: String,
}

/// Checks what gates need, and what profiles name.
pub(super) fn check_gates<'c>(config: &'c Config, known: &[&str]) -> Vec<GateProblem<'c>> {
    let mut found = Vec::new();
    for (name, gate) in &config.gates {
        for need in &gate.value.needs {
            let problem = if need.value == name.as_str() {
                let message = format!("the gate {} needs itself", quoted(&need.value));
                (Code::SelfNeed, message, String::new())
            } else if known.contains(&need.value.as_str()) {
                continue;
            } else {
                unknown(need, known)
            };
            found.push(at(gate.place.as_ref(), &need.span, problem));
        }
    }
    for profile in config.profiles.values() {
        let unknown_of = |gate: &&Spanned<String>| !known.contains(&gate.value.as_str());
        for gate in profile.value.gates.iter().filter(unknown_of) {
            found.push(at(profile.place.as_ref(), &gate.span, unknown(gate, known)));
        }
    }
    found.extend(circle(&config.gates));
    found
}

fn unknown(name: &Spanned<String>, known: &[&str]) -> (Code, String, String) {
    let hint = if name.value.starts_with('@') {
        "profiles are for features, plans and merge gates; name the gates".to_owned()
    } else {
        hint_for(&name.value, known.iter().copied())
    };
    (Code::UnknownGate, format!("there is no gate {}", quoted(&name.value)), hint)
}

fn at<'c>(
    place: Option<&'c Place>,
    span: &'c Span,
    (code, message, hint): (Code, String, String),
) -> GateProblem<'c> {
    GateProblem { place, span, code, message, hint }
}

type Gates = BTreeMap<GateName, Sourced<GateEntry>>;

/// A circle of needs, at one of those that close it. Others show once that one is broken.
fn circle(gates: &Gates) -> Option<GateProblem<'_>> {
    let needs = |name: &GateName| -> Vec<&Spanned<String>> {
        let needs = gates.get(name).map_or(&[][..], |gate| gate.value.needs.as_slice());
        needs.iter().filter(|need| need.value != name.as_str()).collect()
    };
    let by_name: BTreeMap<&str, &GateName> =
        gates.keys().map(|gate| (gate.as_str(), gate)).collect();
    let known = |need: &Spanned<String>| by_name.get(need.value.as_str()).copied();
    // Whatever needs nothing that is left is taken away; a circle is among what stays.
    let mut left: BTreeMap<&GateName, usize> = BTreeMap::new();
    let mut needed_by: BTreeMap<&GateName, Vec<&GateName>> = BTreeMap::new();
    for gate in gates.keys() {
        let all: Vec<&GateName> = needs(gate).into_iter().filter_map(known).collect();
        left.insert(gate, all.len());
        for need in all {
            needed_by.entry(need).or_default().push(gate);
        }
    }
    let mut free: Vec<&GateName> = left.iter().filter(|(_, n)| **n == 0).map(|(g, _)| *g).collect();
    while let Some(gate) = free.pop() {
        left.remove(gate);
        for waits in needed_by.get(gate).into_iter().flatten() {
            if let Some(count) = left.get_mut(waits) {
                *count -= 1;
                free.extend((*count == 0).then_some(*waits));
            }
        }
    }
    let mut at_gate = *left.keys().next()?;
    let mut path: Vec<(&GateName, &Spanned<String>)> = Vec::new();
    let mut seen: BTreeMap<&GateName, usize> = BTreeMap::new();
    while !seen.contains_key(at_gate) {
        seen.insert(at_gate, path.len());
        let open =
            |need: &&Spanned<String>| known(need).is_some_and(|need| left.contains_key(need));
        let need = needs(at_gate).into_iter().find(open)?;
        path.push((at_gate, need));
        at_gate = known(need)?;
    }
    let circle = path.get(*seen.get(at_gate)?..)?;
    let mut names: Vec<String> = circle.iter().map(|(gate, _)| quoted(gate.as_str())).collect();
    if names.len() > SHOWN_MAX {
        let more = names.len() - SHOWN_MAX;
        names.truncate(SHOWN_MAX);
        names.push(format!("{more} others"));
    }
    names.push(quoted(at_gate.as_str()));
    let (gate, need) = circle.first()?;
    let message = format!("gates need each other in a circle: {}", names.join(" → "));
    let hint = "take one of these needs out".to_owned();
    let place = gates.get(*gate)?.place.as_ref();
    Some(at(place, &need.span, (Code::NeedCycle, message, hint)))
}
