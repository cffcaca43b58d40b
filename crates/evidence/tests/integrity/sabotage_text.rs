//! Operators that change one place of scripts, configuration, CI, hooks and snapshots.

use crate::Operator;
use crate::project::Project;
use crate::seed::Seed;

/// Name, file, what stands there and what takes its place.
pub(crate) const TEXTS: &[(&str, &str, &str, &str)] = &[
    (
        "ignore a failing command",
        "scripts/check.sh",
        "cargo test --workspace",
        "cargo test --workspace || true",
    ),
    ("ignore failures in a test script", "tests/smoke.sh", "test_help\n", "test_help || true\n"),
    ("switch strictness off", "scripts/check.sh", "cargo test", "set +e\ncargo test"),
    ("remove strictness", "scripts/check.sh", "set -euo pipefail\n", ""),
    ("end the gate at once", "scripts/check.sh", "cargo test", "exit 0\ncargo test"),
    ("drop a step of the gate", "scripts/check.sh", "(cd relay && go test ./...)\n", ""),
    ("gate in the wrong directory", "scripts/check.sh", "(cd tools &&", "(cd docs &&"),
    (
        "ignore a failing CI step",
        ".github/workflows/ci.yml",
        "check.sh\n",
        "check.sh\n        continue-on-error: true\n",
    ),
    ("drop a CI step", ".github/workflows/ci.yml", "      - run: ./scripts/check.sh\n", ""),
    ("lower coverage of lines", "web/vitest.config.ts", "lines: 90", "lines: 10"),
    ("remove a threshold", "web/vitest.config.ts", "        branches: 80,\n", ""),
    ("lower coverage of python", "tools/pyproject.toml", "fail_under = 85", "fail_under = 20"),
    (
        "leave tests out",
        "tools/pyproject.toml",
        "-q --strict-markers",
        "-q --deselect tests/test_tide.py",
    ),
    ("empty the npm test script", "web/package.json", "vitest run --coverage", "true"),
    ("pass without tests", "web/package.json", "vitest run", "vitest run --passWithNoTests"),
    (
        "hook into the npm test script",
        "web/package.json",
        "\"test\":",
        "\"posttest\": \"exit 0\",\n    \"test\":",
    ),
    ("allow lint warnings", "web/package.json", "--max-warnings 0", "--max-warnings 99"),
    ("empty the make target", "Makefile", "\tcargo test\n", "\t@echo ok\n"),
    ("ignore errors in make", "Makefile", "\tcargo test\n", "\t-cargo test\n"),
    ("change what a target needs", "Makefile", "\tcargo build\n", "\tcp old target\n"),
    ("edit a snapshot", "web/src/__snapshots__/board.test.ts.snap", "1: Clara", "1: undefined"),
    ("edit a golden file", "tests/golden/board.golden", "2: free", "2:"),
    ("empty a hook", ".husky/pre-commit", "cargo fmt --check\n", ""),
    (
        "go past hooks in a script",
        "scripts/deploy.sh",
        "rsync",
        "git commit --no-verify -am x\nrsync",
    ),
    (
        "switch hooks off",
        "scripts/deploy.sh",
        "rsync",
        "git config core.hooksPath /dev/null\nrsync",
    ),
    ("allow a lint", "Cargo.toml", "unsafe_code = \"deny\"", "unsafe_code = \"allow\""),
    ("drop a lint of the crate", "src/lib.rs", "#![deny(warnings)]\n", ""),
    ("drop a module of tests", "tests/it/main.rs", "mod dock;\n", ""),
    ("disable a module of tests", "tests/it/main.rs", "mod dock;", "#[cfg(any())]\nmod dock;"),
    ("compile tests never", "src/berth.rs", "#[cfg(test)]", "#[cfg(never)]"),
    (
        "skip a module of python",
        "tools/tests/test_tide.py",
        "import pytest\n",
        "import pytest\n\npytestmark = pytest.mark.skip\n",
    ),
    (
        "ignore a file of tests",
        "tools/tests/conftest.py",
        "import pytest\n",
        "import pytest\n\ncollect_ignore = ['test_moon.py']\n",
    ),
    (
        "leave out by a build tag",
        "relay/relay_test.go",
        "package relay",
        "//go:build never\n\npackage relay",
    ),
    ("skip a group", "web/src/board.test.ts", "describe('board'", "describe.skip('board'"),
    (
        "skip a class",
        "ferry/src/test/java/FerryTest.java",
        "class FerryTest",
        "@Disabled\nclass FerryTest",
    ),
    (
        "skip a group of ruby",
        "bell/spec/bell_spec.rb",
        "RSpec.describe 'bells' do",
        "RSpec.xdescribe 'bells' do",
    ),
    ("drop the call of a shell test", "tests/smoke.sh", "test_version\ntest_help\n", "test_help\n"),
    (
        "expect a panic",
        "src/berth.rs",
        "    fn full_harbour",
        "    #[should_panic]\n    fn full_harbour",
    ),
    ("accept any error", "tools/tests/test_tide.py", "raises(ValueError)", "raises(Exception)"),
    (
        "accept everything too",
        "tools/tests/test_tide.py",
        "assert found == 4.0",
        "assert found == 4.0 or True",
    ),
    (
        "assert nothing of a value",
        "web/src/board.test.ts",
        "expect(free).toBe('3: free')",
        "expect(free)",
    ),
];

const _: () = assert!(OPERATORS.len() == TEXTS.len());

pub(crate) fn text_operator(index: usize) -> Operator {
    (TEXTS[index].0, OPERATORS[index])
}

fn at(project: &mut Project, seed: &mut Seed, index: usize) -> bool {
    let (name, path, old, new) = TEXTS[index];
    assert!(project.replace(path, old, new), "{name}: {old} is not in {path}");
    if seed.below(4) == 0 {
        // Beside it, a harmless change.
        project.replace("README.md", "A board", "The board");
    }
    true
}

macro_rules! operators {
    ($($index:literal)*) => {
        const OPERATORS: &[fn(&mut Project, &mut Seed) -> bool] =
            &[$(|project, seed| at(project, seed, $index)),*];
    };
}

operators!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
    36 37 38 39 40);
