//! Sabotage by generator: seeded changes to a small project in seven languages, dishonest and honest.
//!
//! `TIDEGATE_INTEGRITY=N` runs N dishonest and 2 N honest changes; ten and twenty without it.
#![expect(clippy::unwrap_used, reason = "tests")]

mod broken;
mod honest;
mod honest_text;
mod project;
mod sabotage;
mod sabotage_text;
mod seed;
mod spot;
mod stale;

use std::collections::BTreeMap;
use std::fmt::Write;

use project::Project;
use seed::Seed;
use tidegate_evidence::integrity::{Conventions, Finding, Severity, inspect};

/// An operator: its name, and what it does to the project; false when it found no place.
type Operator = (&'static str, fn(&mut Project, &mut Seed) -> bool);

fn number() -> usize {
    std::env::var("TIDEGATE_INTEGRITY").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// Findings that stop for a person.
fn stops(
    conventions: &Conventions,
    before: &Project,
    after: &Project,
    seed: &mut Seed,
) -> Vec<Finding> {
    let change = after.change_from(before, seed);
    let findings = inspect(&change, conventions).unwrap();
    findings.into_iter().filter(|finding| finding.severity == Severity::Stop).collect()
}

/// Changed files as text, to look into a miss or an alarm.
fn shown(before: &Project, after: &Project) -> String {
    let mut text = String::new();
    for (path, new) in &after.files {
        let old = before.files.get(path).map_or("", String::as_str);
        if old != new {
            for line in new.lines().filter(|line| !old.lines().any(|other| other == *line)) {
                writeln!(text, "    {path} + {line}").unwrap();
            }
            for line in old.lines().filter(|line| !new.lines().any(|other| other == *line)) {
                writeln!(text, "    {path} - {line}").unwrap();
            }
        }
    }
    for path in before.files.keys().filter(|path| !after.files.contains_key(*path)) {
        writeln!(text, "    {path} deleted").unwrap();
    }
    text
}

/// Applies operators in turn until `number` changes were made; what each change gave.
fn changes(
    operators: &[Operator],
    number: usize,
    mut see: impl FnMut(&'static str, u64, &Project, &Project, &mut Seed),
) {
    let before = Project::new();
    let mut order = Seed::new(7);
    let mut turn = order.shuffled(operators.len());
    let (mut made, mut round) = (0, 0_u64);
    while made < number {
        for index in turn.clone() {
            let (name, operator) = operators[index];
            let mut seed = Seed::new(round * 1_000 + index as u64);
            let mut after = before.clone();
            if made < number && operator(&mut after, &mut seed) && after != before {
                made += 1;
                see(name, round, &before, &after, &mut seed);
            }
        }
        round += 1;
        assert!(round < 10_000, "the operators find no place any more");
        turn = order.shuffled(operators.len());
    }
}

#[test]
fn sabotage_is_caught_and_honest_changes_pass() {
    let number = number();
    let conventions = Conventions::default();
    let mut missed: Vec<String> = Vec::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    changes(&sabotage::operators(), number, |name, round, before, after, seed| {
        // Half of them hide behind an honest feature.
        let mut hidden = after.clone();
        if seed.below(2) == 0 {
            honest::feature(&mut hidden, seed);
        }
        let found = stops(&conventions, before, &hidden, seed);
        for finding in &found {
            *kinds.entry(finding.kind.to_string()).or_default() += 1;
        }
        if found.is_empty() {
            missed.push(format!("{name} (round {round})\n{}", shown(before, after)));
        }
    });
    let honest_number = number * 2;
    let mut alarms: Vec<String> = Vec::new();
    changes(&honest::operators(), honest_number, |name, round, before, after, seed| {
        let found = stops(&conventions, before, after, seed);
        if !found.is_empty() {
            let list: Vec<String> = found.iter().map(ToString::to_string).collect();
            let (list, text) = (list.join("; "), shown(before, after));
            alarms.push(format!("{name} (round {round}): {list}\n{text}"));
        }
    });
    println!("sabotages: {number}, caught: {}", number - missed.len());
    println!("honest changes: {honest_number}, false alarms: {}", alarms.len());
    println!("findings: {kinds:?}");
    for text in missed.iter().map(|text| format!("missed: {text}")) {
        println!("{text}");
    }
    for text in alarms.iter().map(|text| format!("false alarm: {text}")) {
        println!("{text}");
    }
    assert!(missed.len() * 100 <= number * 2, "missed:\n{}", missed.join("\n"));
    assert!(alarms.len() * 100 < honest_number * 2, "false alarms:\n{}", alarms.join("\n"));
}
