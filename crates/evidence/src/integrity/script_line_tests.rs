//! Lines that let failures pass, and lines that only look so.

use super::super::change::ChangedFile;
use super::super::conventions::Conventions;
use super::super::finding::{Kind, Severity};
use super::super::gate_file::Gates;
use super::compare;

fn stops(path: &str, old: &str, new: &str) -> Vec<Kind> {
    let file = ChangedFile::modified(path, old, new);
    let found = compare(&file, &Conventions::default(), &Gates::default());
    let stops = found.into_iter().filter(|finding| finding.severity == Severity::Stop);
    stops.map(|finding| finding.kind).collect()
}

#[test]
fn ignored_failures_are_found_in_every_form() {
    let script = "set -e\ncargo test\n";
    let ignored = [Kind::IgnoredFailure];
    assert_eq!(stops("run.sh", script, "set -e\ncargo test || true\n"), ignored);
    assert_eq!(stops("check.sh", script, "cargo test\n"), ignored);
    assert_eq!(stops("check.sh", script, "set -e\nset +e\ncargo test\n"), ignored);
    assert_eq!(stops("check.sh", script, "set -e\nexit 0\ncargo test\n"), [Kind::ForcedSuccess]);
    assert_eq!(stops("Makefile", "t:\n\tgo test\n", "t:\n\t-go test\n"), ignored);
    let yaml = "steps:\n  - run: npm test\n";
    assert_eq!(stops("a.yml", yaml, "steps:\n  - run: npm test || true\n"), ignored);
    assert_eq!(stops("a.yml", yaml, &format!("{yaml}    continue-on-error: true\n")), ignored);
    let package = "{\n  \"scripts\": {\n    \"test\": \"jest\"\n  }\n}\n";
    assert_eq!(stops("package.json", package, &package.replace("jest", "jest || true")), ignored);
}

#[test]
fn hooks_that_are_passed_by_and_tests_left_out_are_found() {
    let bypassed = [Kind::BypassedHook];
    assert_eq!(stops("a.sh", "", "git commit --no-verify -m x\n"), bypassed);
    assert_eq!(stops("a.sh", "", "git config core.hooksPath /dev/null\n"), bypassed);
    assert_eq!(stops("a.sh", "", "HUSKY=0 git push\n"), bypassed);
    assert_eq!(stops("a.sh", "", "pytest --deselect tests/a.py\n"), [Kind::ExcludedTests]);
}

#[test]
fn comments_strings_moved_lines_and_other_scripts_are_no_alarm() {
    let quiet = "# cargo test || true\necho 'never use || true or set +e'\n";
    assert!(stops("check.sh", "", quiet).is_empty());
    let script = "grep x y || true\ncargo test\n";
    assert!(stops("check.sh", script, "cargo test\ngrep x y || true\n").is_empty());
    assert!(stops("deploy.sh", "", "rm -f x || true\nexit 0\n").is_empty());
}
