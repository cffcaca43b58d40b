//! Configuration of tests, coverage and lints: the parts of a file that judge, compared by value.

use serde_json::Value;

use super::change::ChangedFile;
use super::conventions::Conventions;
use super::finding::{Finding, Kind};
use super::gate_file::Gates;

/// Names of scripts and targets that check something.
const CHECKS: &[&str] = &[
    "test",
    "tests",
    "check",
    "lint",
    "ci",
    "verify",
    "coverage",
    "cover",
    "typecheck",
    "validate",
    "e2e",
    "unit",
    "integration",
    "all",
];

/// Findings over one file.
pub(super) fn compare(
    file: &ChangedFile,
    conventions: &Conventions,
    gates: &Gates,
) -> Vec<Finding> {
    let path = file.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let found =
        |kind, excerpt: &str| vec![Finding::new(kind, path, line_of(file, excerpt), excerpt)];
    let changed = match name {
        "package.json" => return package(file, gates),
        "pyproject.toml" => toml_parts(file, PYTHON),
        "Cargo.toml" => toml_parts(file, CARGO),
        "setup.cfg" => sections(file),
        "conftest.py" => conftest(file),
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" => {
            return targets(file, gates)
                .map_or_else(Vec::new, |target| found(Kind::ChangedGate, &target));
        }
        _ if conventions.is_config(path) => {
            let content = meaning(file.old_text()) != meaning(file.new_text());
            let runner = name == "config.toml" || name == "config";
            if file.old.is_none() && !runner {
                let finding = Finding::new(Kind::ChangedTestConfig, path, 0, path);
                return vec![finding.noted()];
            }
            content.then(|| path.to_owned())
        }
        _ => None,
    };
    changed.map_or_else(Vec::new, |what| found(Kind::ChangedTestConfig, &what))
}

/// Line of the new content, or of the old one, that holds the last word of `what`.
fn line_of(file: &ChangedFile, what: &str) -> u32 {
    let word = what.rsplit(['.', ' ']).next().unwrap_or(what);
    let find = |text: &str| {
        let mut lines = text.lines().zip(1_u32..);
        lines.find(|(line, _)| line.contains(word)).map(|(_, line)| line)
    };
    find(file.new_text()).or_else(|| find(file.old_text())).unwrap_or(0)
}

/// Lines with content: without comments and spaces around.
fn meaning(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| {
            !line.is_empty() && !["#", "//", ";"].iter().any(|mark| line.starts_with(mark))
        })
        .collect()
}

fn package(file: &ChangedFile, gates: &Gates) -> Vec<Finding> {
    let path = file.path();
    let read = |text: &str| serde_json::from_str::<Value>(text);
    if file.old.is_none() {
        return Vec::new();
    }
    let (Ok(old), Ok(new)) = (read(file.old_text()), read(file.new_text())) else {
        return vec![Finding::new(Kind::ChangedTestConfig, path, 0, "package.json cannot be read")];
    };
    let mut findings = Vec::new();
    let checks = |name: &str| {
        let plain = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
        let first = plain.split([':', '-']).next().unwrap_or(plain);
        gates.name(name) || gates.name(plain) || CHECKS.contains(&first)
    };
    let names = [&old, &new].into_iter().filter_map(|side| side["scripts"].as_object());
    let mut names: Vec<&String> = names.flat_map(|scripts| scripts.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let (was, is) = (&old["scripts"][name.as_str()], &new["scripts"][name.as_str()]);
        // A script of a new name that wraps none of before judges nothing yet.
        let wraps = name.starts_with("pre") || name.starts_with("post");
        if was != is && checks(name) && (!was.is_null() || wraps || gates.name(name)) {
            let line = line_of(file, &format!("\"{name}\":"));
            findings.push(Finding::new(Kind::ChangedGate, path, line, &format!("scripts.{name}")));
        }
        if was != is && matches!(name.as_str(), "prepare" | "postinstall") {
            let line = line_of(file, name);
            let excerpt = format!("scripts.{name}");
            let hooks =
                was.as_str().is_some_and(|text| text.contains("husky") || text.contains("hook"));
            if hooks {
                findings.push(Finding::new(Kind::ChangedHook, path, line, &excerpt));
            }
        }
    }
    let configs = [
        "jest",
        "vitest",
        "mocha",
        "ava",
        "c8",
        "nyc",
        "eslintConfig",
        "tap",
        "husky",
        "lint-staged",
    ];
    for key in configs {
        if old.get(key) != new.get(key) {
            let line = line_of(file, &format!("\"{key}\":"));
            findings.push(Finding::new(Kind::ChangedTestConfig, path, line, key));
        }
    }
    findings
}

const PYTHON: &[&str] = &[
    "tool.pytest",
    "tool.coverage",
    "tool.mypy",
    "tool.pyright",
    "tool.tox",
    "tool.pylint",
    "tool.ruff",
    "tool.flake8",
    "tool.nox",
    "tool.hatch.envs",
];
const CARGO: &[&str] = &[
    "lints",
    "workspace.lints",
    "profile",
    "test",
    "lib.test",
    "lib.doctest",
    "lib.harness",
    "package.autotests",
    "package.metadata.coverage",
];

/// The first part of a TOML file that differs.
fn toml_parts(file: &ChangedFile, parts: &[&str]) -> Option<String> {
    file.old.as_ref()?;
    let read = |text: &str| text.parse::<toml::Table>().ok().map(toml::Value::Table);
    let (Some(old), Some(new)) = (read(file.old_text()), read(file.new_text())) else {
        return Some("it cannot be read".to_owned());
    };
    let part = |value: &toml::Value, path: &str| {
        path.split('.').try_fold(value.clone(), |value, key| value.get(key).cloned())
    };
    let differs = |path: &&&str| part(&old, path) != part(&new, path);
    parts.iter().find(differs).map(|path| (*path).to_owned())
}

/// The first section of an INI file that judges and differs.
fn sections(file: &ChangedFile) -> Option<String> {
    let judges = |name: &str| {
        ["tool:pytest", "coverage", "flake8", "mypy", "pylint", "tox"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let read = |text: &str| {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for line in meaning(text) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                found.push((name.to_owned(), Vec::new()));
            } else if let Some((_, lines)) = found.last_mut() {
                lines.push(line.to_owned());
            }
        }
        found.retain(|(name, _)| judges(name));
        found
    };
    let (old, new) = (read(file.old_text()), read(file.new_text()));
    let differs = old.iter().find(|section| !new.contains(section));
    differs
        .or_else(|| new.iter().find(|section| !old.contains(section)))
        .map(|(name, _)| name.clone())
}

/// Hooks of pytest that can leave tests out or change how a run ends.
fn conftest(file: &ChangedFile) -> Option<String> {
    let words = [
        "collect_ignore",
        "pytest_collection",
        "pytest_ignore_collect",
        "pytest_runtest",
        "pytest_sessionfinish",
        "exitstatus",
        "pytest_pyfunc_call",
        "pytest_report_teststatus",
    ];
    let number =
        |text: &str, word: &str| meaning(text).iter().filter(|line| line.contains(word)).count();
    let more = |word: &&&str| number(file.new_text(), word) > number(file.old_text(), word);
    words.iter().find(more).map(|word| (*word).to_owned())
}

/// The first target of a makefile that checks something and is made otherwise than before.
fn targets(file: &ChangedFile, gates: &Gates) -> Option<String> {
    file.old.as_ref()?;
    let (old, new) = (recipes(file.old_text()), recipes(file.new_text()));
    let recipe = |all: &[(String, Vec<String>)], name: &str| {
        all.iter().find(|(target, _)| target == name).map(|(_, lines)| lines.clone())
    };
    let mut wanted: Vec<String> = old.iter().map(|(name, _)| name.clone()).collect();
    wanted.retain(|name| gates.name(name) || CHECKS.contains(&name.as_str()) && name != "all");
    let mut index = 0;
    while let Some(name) = wanted.get(index).cloned() {
        let was = recipe(&old, &name);
        if was != recipe(&new, &name) {
            return Some(name);
        }
        // What it needs is made before it.
        let needs = was.and_then(|lines| lines.first().cloned()).unwrap_or_default();
        for need in needs.split_whitespace() {
            if !wanted.iter().any(|known| known == need) {
                wanted.push(need.to_owned());
            }
        }
        index += 1;
    }
    None
}

/// Targets with what they need as their first line, then their commands.
fn recipes(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let indented = line.starts_with(['\t', ' ']);
        if indented && open {
            let content = line.trim();
            if let Some((_, lines)) = found.last_mut()
                && !content.is_empty()
                && !content.starts_with('#')
            {
                lines.push(content.to_owned());
            }
            continue;
        }
        let head = line.split_once(':').filter(|(_, rest)| !rest.starts_with('='));
        open = false;
        if let Some((names, needs)) = head.filter(|_| !line.starts_with(['#', '.'])) {
            for name in names.split_whitespace() {
                found.push((name.to_owned(), vec![needs.trim().to_owned()]));
            }
            open = true;
        }
    }
    found
}

#[cfg(test)]
#[path = "config_file_tests.rs"]
mod tests;
