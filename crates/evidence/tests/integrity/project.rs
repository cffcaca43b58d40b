//! The project that is changed: a harbour's board in Rust, TypeScript, Python, Go, Java, Ruby, shell.

use std::collections::BTreeMap;

use tidegate_evidence::integrity::{Change, ChangedFile, GateCommand, Side};

use crate::seed::Seed;

/// Its files by path.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) files: BTreeMap<String, String>,
    /// What the feature declared.
    pub(crate) declared: Vec<String>,
}

macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../project/", $name, ".txt")))
    };
}

const FILES: &[(&str, &str)] = &[
    file!("Cargo.toml"),
    file!("src/berth.rs"),
    file!("src/lib.rs"),
    file!("tests/harbour.rs"),
    file!("tests/it/main.rs"),
    file!("tests/it/dock.rs"),
    file!("web/package.json"),
    file!("web/vitest.config.ts"),
    file!("web/src/board.ts"),
    file!("web/src/board.test.ts"),
    file!("web/src/__snapshots__/board.test.ts.snap"),
    file!("tools/pyproject.toml"),
    file!("tools/tide.py"),
    file!("tools/tests/conftest.py"),
    file!("tools/tests/test_tide.py"),
    file!("tools/tests/test_moon.py"),
    file!("relay/relay.go"),
    file!("relay/relay_test.go"),
    file!("ferry/src/main/java/Ferry.java"),
    file!("ferry/src/test/java/FerryTest.java"),
    file!("bell/lib/bell.rb"),
    file!("bell/spec/bell_spec.rb"),
    file!("scripts/check.sh"),
    file!("scripts/deploy.sh"),
    file!("tests/smoke.sh"),
    file!("Makefile"),
    file!(".github/workflows/ci.yml"),
    file!(".husky/pre-commit"),
    file!("tests/golden/board.golden"),
    file!("README.md"),
    file!("Cargo.lock"),
];

impl Project {
    pub(crate) fn new() -> Self {
        let files = FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self { files: files.collect(), declared: vec!["**".to_owned()] }
    }

    pub(crate) fn text(&mut self, path: &str) -> &mut String {
        self.files.get_mut(path).unwrap_or_else(|| panic!("no file {path}"))
    }

    /// Replaces the first `old` of a file; false when it is not there.
    pub(crate) fn replace(&mut self, path: &str, old: &str, new: &str) -> bool {
        let Some(text) = self.files.get_mut(path) else { return false };
        let there = text.contains(old);
        *text = text.replacen(old, new, 1);
        there
    }

    /// The change from `before`, with renames told as git would in half of the cases.
    pub(crate) fn change_from(&self, before: &Self, seed: &mut Seed) -> Change {
        let side = |path: &str, text: &str| {
            Some(Side { path: path.to_owned(), content: Some(text.to_owned()) })
        };
        let mut added: Vec<(&str, &str)> = Vec::new();
        let mut files = Vec::new();
        for (path, new) in &self.files {
            match before.files.get(path) {
                Some(old) if old == new => {}
                Some(old) => files.push(ChangedFile { old: side(path, old), new: side(path, new) }),
                None => added.push((path, new)),
            }
        }
        let renames = seed.below(2) == 0;
        for (path, old) in before.files.iter().filter(|(path, _)| !self.files.contains_key(*path)) {
            let same = added.iter().position(|(_, new)| renames && *new == old.as_str());
            let new = same.map(|index| added.remove(index)).and_then(|(path, new)| side(path, new));
            files.push(ChangedFile { old: side(path, old), new });
        }
        files.extend(
            added.iter().map(|(path, new)| ChangedFile { old: None, new: side(path, new) }),
        );
        let gate = |name: &str, argv: &[&str]| GateCommand {
            name: name.to_owned(),
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        };
        let gates = vec![
            gate("check", &["./scripts/check.sh"]),
            gate("web", &["bash", "-eo", "pipefail", "-c", "cd web && npm test"]),
            gate("all", &["make", "verify"]),
        ];
        Change { files, declared: self.declared.clone(), gates }
    }
}
