//! Whole changes: what a person stops for, and what looks like it and is none.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::super::change::{Change, ChangedFile, GateCommand, Side};
use super::super::conventions::Conventions;
use super::super::finding::{Kind, Severity};
use super::inspect;

fn found(files: Vec<ChangedFile>, severity: Severity) -> Vec<Kind> {
    let argv = vec!["./scripts/check.sh".to_owned()];
    let gates = vec![GateCommand { name: "check".to_owned(), argv }];
    let change = Change { files, declared: Vec::new(), gates };
    let found = inspect(&change, &Conventions::default()).unwrap();
    found.into_iter().filter(|f| f.severity == severity).map(|f| f.kind).collect()
}

fn stops(path: &str, old: &str, new: &str) -> Vec<Kind> {
    found(vec![ChangedFile::modified(path, old, new)], Severity::Stop)
}

const RUST: &str = "#[test]\nfn ship_docks() {\n    let ship = Ship::new(\"Anna\", 40);\n    \
    let berth = dock(&ship).unwrap();\n    assert_eq!(berth.metres, 50);\n    \
    assert_eq!(berth.name, \"north\");\n}\n";

#[test]
fn test_that_is_renamed_with_its_expectation_is_one_test() {
    let renamed = RUST.replace("ship_docks", "ship_docks_in_the_south").replace("north", "south");
    assert_eq!(stops("tests/a.rs", RUST, &renamed), []);
    let file = ChangedFile::modified("tests/a.rs", RUST, &renamed);
    assert_eq!(found(vec![file], Severity::Note), [Kind::ChangedExpectation]);
}

#[test]
fn new_test_may_take_over_the_name_of_a_renamed_one() {
    let kept = RUST.replace("ship_docks", "ship_docks_alone");
    let new = "#[test]\nfn ship_docks() {\n    assert!(crowd().is_empty());\n}\n";
    assert_eq!(stops("tests/a.rs", RUST, &format!("{new}\n{kept}")), []);
}

#[test]
fn calls_of_methods_that_happen_to_assert_are_no_assertions() {
    let helper = "impl Repo {\n    fn git(&self) { assert!(self.ok) }\n}\n";
    let old =
        format!("{helper}{RUST}").replace("let ship", "repo.git();\n    repo.git();\n    let ship");
    let new = format!("{helper}{RUST}").replace("let ship", "repo.ready();\n    let ship");
    assert_eq!(stops("tests/a.rs", &old, &new), []);
    let helper = "impl Drop for Repo {\n    fn drop(&mut self) { assert!(self.ok) }\n}\n";
    let old = format!("{helper}{RUST}").replace("let ship", "drop(repo);\n    let ship");
    assert_eq!(stops("tests/a.rs", &old, &format!("{helper}{RUST}")), []);
}

#[test]
fn test_that_is_no_test_any_more_is_gone() {
    let deleted = [Kind::DeletedTest];
    assert_eq!(stops("tests/a.rs", RUST, &RUST.replace("#[test]\n", "")), deleted);
    let python = "def test_a():\n    assert f('north') == 50\n";
    assert_eq!(stops("tests/test_a.py", python, &python.replace("def test", "def _test")), deleted);
}

#[test]
fn assertion_that_goes_is_not_made_good_by_short_values_of_a_new_test() {
    let old = "it('a', () => { expect(b).toHaveLength(2); expect(c).toBe(3); });\n";
    let new =
        "it('a', () => { expect(c).toBe(3); });\n\nit('t', () => { expect(t(2)).toBe(2); });\n";
    assert_eq!(stops("a.test.ts", old, new), [Kind::RemovedAssertions]);
}

#[test]
fn shell_test_that_is_not_called_is_unreached() {
    let old = "set -e\ntest_a() {\n  [ \"$x\" = 1 ]\n}\ntest_a\n";
    assert_eq!(
        stops("tests/smoke.sh", old, &old.replace("}\ntest_a\n", "}\n")),
        [Kind::UnreachedTests]
    );
}

#[test]
fn helper_that_is_hollowed_out_and_tests_of_a_moved_file_are_followed() {
    let old = "fn check_berth(b: &Berth) {\n    assert_eq!(b.metres, 50);\n}\n#[test]\nfn a() {\n    \
        check_berth(&dock());\n}\n";
    let hollow = old.replace("    assert_eq!(b.metres, 50);\n", "    let _ = b;\n");
    assert!(stops("tests/a.rs", old, &hollow).contains(&Kind::EmptiedTest));
    let side =
        |path: &str, text: &str| Some(Side { path: path.into(), content: Some(text.into()) });
    let moved = |to: &str| {
        vec![
            ChangedFile { old: side("tests/a.rs", RUST), new: None },
            ChangedFile { old: None, new: side(to, RUST) },
        ]
    };
    assert_eq!(found(moved("crates/b/tests/a.rs"), Severity::Stop), []);
    assert_eq!(found(moved("attic/a.rs"), Severity::Stop), [Kind::DeletedTestFile]);
}

#[test]
fn gate_script_and_unreadable_sides_are_named() {
    assert_eq!(stops("scripts/check.sh", "set -e\na\n", "set -e\nb\n"), [Kind::ChangedGate]);
    let side = Some(Side { path: "scripts/check.sh".into(), content: None });
    let file = ChangedFile { old: side.clone(), new: side };
    assert_eq!(found(vec![file], Severity::Stop), [Kind::ChangedGate]);
}
