//! Lines of scripts that let a failure pass, go past hooks, or leave tests out.

use std::collections::BTreeMap;

use super::change::ChangedFile;
use super::conventions::Conventions;
use super::finding::{Finding, Kind};
use super::gate_file::Gates;
use super::language::Language;
use super::lexer::{Token, TokenKind, lex};

/// Programs that check something.
const RUNNERS: &[&str] = &[
    "cargo",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "bun",
    "jest",
    "vitest",
    "pytest",
    "tox",
    "nox",
    "go",
    "make",
    "gradle",
    "./gradlew",
    "mvn",
    "./mvnw",
    "rspec",
    "rake",
    "bundle",
    "bats",
    "ctest",
    "eslint",
    "tsc",
    "mypy",
    "ruff",
    "clippy",
    "golangci-lint",
    "shellcheck",
    "playwright",
    "python",
    "python3",
    "node",
];

/// Findings over the lines that a change added to one file.
pub(super) fn compare(
    file: &ChangedFile,
    conventions: &Conventions,
    gates: &Gates,
) -> Vec<Finding> {
    let path = file.path();
    let Some(form) = Form::of(path, file.new_text()) else { return Vec::new() };
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let speaks = ["test", "check", "ci", "lint", "verify", "gate", "coverage", "validate", "hook"];
    let judges = gates.runs(path)
        || conventions.is_ci(path)
        || conventions.is_hook(path)
        || conventions.is_test(path)
        || form != Form::Script
        || speaks.iter().any(|word| name.contains(word));
    let (old, new) = (form.lines(file.old_text()), form.lines(file.new_text()));
    let mut findings = Vec::new();
    for (line, text) in added(&old, &new) {
        let tokens = lex(text, Language::Shell);
        let runs = tokens.iter().any(|token| RUNNERS.contains(&token.text));
        if let Some((kind, always)) = judge(&tokens, text, form, runs, judges) {
            let finding = Finding::new(kind, path, *line, text);
            findings.push(if judges || runs || always { finding } else { finding.noted() });
        }
    }
    if let Some(line) = strictness_lost(&old, &new).filter(|_| file.new.is_some()) {
        let finding = Finding::new(Kind::IgnoredFailure, path, 0, &format!("removed: {line}"));
        findings.push(if judges { finding } else { finding.noted() });
    }
    findings
}

/// How commands are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Script,
    Make,
    Yaml,
    Package,
}

impl Form {
    fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if Language::of(path, text) == Some(Language::Shell) || path.contains(".husky/") {
            return Some(Self::Script);
        }
        match name {
            "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" => Some(Self::Make),
            "package.json" => Some(Self::Package),
            "tox.ini" | "noxfile.py" | "Jenkinsfile" => Some(Self::Script),
            _ => [".yml", ".yaml"].iter().any(|end| name.ends_with(end)).then_some(Self::Yaml),
        }
    }

    /// Commands with their lines; comments and quoted text of a shell are blanked by its lexer.
    fn lines(self, text: &str) -> Vec<(u32, String)> {
        if self == Self::Script {
            return shell_lines(text);
        }
        let lines = text.lines().zip(1_u32..).map(|(line, number)| {
            let content = line.trim();
            let command = match self {
                Self::Script | Self::Make => content,
                Self::Yaml => {
                    let content = content.trim_start_matches("- ");
                    let value = content.strip_prefix("run:").unwrap_or(content).trim();
                    value.trim_matches(['"', '\''])
                }
                Self::Package => content
                    .split_once("\": \"")
                    .map_or(content, |(_, value)| value.trim_end_matches(['"', ','])),
            };
            (number, command.to_owned())
        });
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect()
    }
}

fn shell_lines(text: &str) -> Vec<(u32, String)> {
    let mut lines: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for token in lex(text, Language::Shell) {
        lines.entry(token.line).or_default().push(token.text);
    }
    lines.into_iter().map(|(line, words)| (line, words.join(" "))).collect()
}

/// Lines of `new` that `old` does not have as often.
fn added<'a>(old: &[(u32, String)], new: &'a [(u32, String)]) -> Vec<&'a (u32, String)> {
    let mut number: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, line) in old {
        *number.entry(line.as_str()).or_default() += 1;
    }
    let is_new = |line: &&(u32, String)| match number.get_mut(line.1.as_str()) {
        Some(number) if *number > 0 => {
            *number -= 1;
            false
        }
        Some(_) | None => true,
    };
    new.iter().filter(is_new).collect()
}

/// What a line does, and whether it is grave wherever it stands.
fn judge(
    tokens: &[Token<'_>],
    text: &str,
    form: Form,
    runs: bool,
    judges: bool,
) -> Option<(Kind, bool)> {
    let words: Vec<&str> = tokens
        .iter()
        .filter(|token| token.kind != TokenKind::Text)
        .map(|token| token.text)
        .collect();
    let pair = |first: &str, seconds: &[&str]| {
        words.windows(2).any(|two| two[0] == first && seconds.contains(&two[1]))
    };
    let has = |word: &str| words.iter().any(|found| found.starts_with(word));
    if has("--no-verify") || has("core.hooksPath") || text.contains("core.hooksPath") {
        return Some((Kind::BypassedHook, true));
    }
    let variables =
        ["HUSKY", "HUSKY_SKIP_HOOKS", "SKIP_HOOKS", "LEFTHOOK", "PRE_COMMIT_ALLOW_NO_CONFIG"];
    if variables.iter().any(|name| pair(name, &["="]) || has(&format!("{name}:"))) {
        return Some((Kind::BypassedHook, true));
    }
    let yaml_off = ["continue-on-error: true", "allow_failure: true", "if: false", "when: never"];
    if form == Form::Yaml && yaml_off.iter().any(|line| text.contains(line)) {
        return Some((Kind::IgnoredFailure, false));
    }
    let ignores = pair("||", &["true", ":", "/bin/true"])
        || words.windows(3).any(|three| three == ["||", "exit", "0"])
        || runs && pair("||", &["echo", "printf"])
        || runs && words.ends_with(&[";", "true"])
        || runs && words.windows(3).any(|three| three == [";", "exit", "0"])
        || pair("set", &["+e", "+o", "+eu", "+euo", "+ex"])
        || form == Form::Make && text.starts_with('-')
        || runs && words.last() == Some(&"&");
    if ignores {
        return Some((Kind::IgnoredFailure, false));
    }
    let ends = words.first() == Some(&"exit") && matches!(words.get(1), None | Some(&"0"));
    if ends && judges && form == Form::Script {
        return Some((Kind::ForcedSuccess, false));
    }
    let options = [
        "--passWithNoTests",
        "--deselect",
        "--ignore",
        "--exclude",
        "--skip",
        "--no-run",
        "--testPathIgnorePatterns",
        "-DskipTests",
        "-Dmaven.test.skip",
        "--no-coverage",
        "--no-cov",
        "--exit-zero",
        "--force-exit",
        "--suite-skip",
    ];
    let left_out = runs && options.iter().any(|option| has(option));
    let unselected = runs && text.contains("not ") && (pair("-k", &[]) || has("-k") || has("-m"));
    (left_out || unselected).then_some((Kind::ExcludedTests, false))
}

/// A line that made a script strict, when no line does so any more.
fn strictness_lost<'a>(old: &'a [(u32, String)], new: &[(u32, String)]) -> Option<&'a str> {
    let strict = |flag: &'static str| {
        move |line: &&(u32, String)| {
            let mut words = line.1.split(' ');
            words.next() == Some("set")
                && words
                    .any(|word| word.starts_with('-') && word.contains(flag) || word == "errexit")
        }
    };
    let lost = old.iter().find(strict("e")).filter(|_| !new.iter().any(|line| strict("e")(&line)));
    let pipe = |line: &&(u32, String)| line.1.contains("pipefail") && line.1.starts_with("set -");
    let lost =
        lost.or_else(|| old.iter().find(pipe).filter(|_| !new.iter().any(|line| pipe(&line))));
    lost.map(|(_, line)| line.as_str())
}

#[cfg(test)]
#[path = "script_line_tests.rs"]
mod tests;
