//! Parts that judge are found, and other parts of the same files are not.

use super::super::change::{ChangedFile, GateCommand};
use super::super::conventions::Conventions;
use super::super::finding::Severity;
use super::super::gate_file::Gates;
use super::compare;

fn stops(path: &str, old: &str, new: &str) -> Vec<String> {
    let argv = vec!["make".to_owned(), "prove".to_owned()];
    let gates = Gates::of(&[GateCommand { name: "g".to_owned(), argv }]);
    let found = compare(&ChangedFile::modified(path, old, new), &Conventions::default(), &gates);
    let stops = found.into_iter().filter(|finding| finding.severity == Severity::Stop);
    stops.map(|finding| format!("{} {}", finding.line, finding.excerpt)).collect()
}

#[test]
fn package_json_is_compared_by_its_scripts_and_configs() {
    let old = "{\n\"scripts\": {\n\"test\": \"jest\",\n\"start\": \"node .\"}, \"jest\": {\"bail\": true}}";
    let same = old.replace("node .", "node main.js").replace("{\"bail\"", "{ \"bail\"");
    assert!(stops("package.json", old, &same).is_empty());
    assert_eq!(
        stops("a/package.json", old, &old.replace("\"jest\",", "\"true\",")),
        ["3 scripts.test"]
    );
    assert_eq!(stops("package.json", old, &old.replace("true", "false")), ["4 jest"]);
    assert_eq!(stops("package.json", old, "{").len(), 1);
}

#[test]
fn toml_and_ini_are_compared_by_their_parts() {
    let cargo = "[package]\nname = \"a\"\n[lints.rust]\nunsafe_code = \"deny\"\n[dependencies]\n";
    assert!(stops("Cargo.toml", cargo, &format!("{cargo}serde = \"1\"\n")).is_empty());
    assert_eq!(stops("Cargo.toml", cargo, &cargo.replace("deny", "allow")), ["3 lints"]);
    let python = "[project]\nname='a'\n[tool.pytest.ini_options]\naddopts='-q'\n";
    assert!(stops("pyproject.toml", python, &python.replace("'a'", "'b'")).is_empty());
    assert_eq!(stops("pyproject.toml", python, &python.replace("-q", "-k x")).len(), 1);
    let ini = "[metadata]\nname=a\n[tool:pytest]\n# x\naddopts=-q\n";
    assert!(stops("setup.cfg", ini, &ini.replace("# x", "# y").replace("=a", "=b")).is_empty());
    assert_eq!(stops("setup.cfg", ini, &ini.replace("-q", "-x")).len(), 1);
}

#[test]
fn targets_of_gates_and_what_they_need_are_compared() {
    let make = "prove: build\n\tcargo test\nbuild:\n\tcargo build\nrun:\n\tcargo run\n";
    assert!(stops("Makefile", make, &make.replace("cargo run", "cargo run -q")).is_empty());
    assert_eq!(stops("Makefile", make, &make.replace("cargo test", "true")), ["1 prove"]);
    assert_eq!(stops("Makefile", make, &make.replace("cargo build", "true")), ["1 build"]);
}

#[test]
fn configs_of_runners_are_compared_without_comments() {
    let config = "// one\nexport default { test: { bail: 1 } };\n";
    assert!(stops("vitest.config.ts", config, &config.replace("one", "two")).is_empty());
    assert_eq!(stops("vitest.config.ts", config, &config.replace('1', "9")).len(), 1);
    assert_eq!(stops("tests/conftest.py", "", "collect_ignore = ['a']\n").len(), 1);
    assert!(stops("tests/conftest.py", "", "def db():\n    return 1\n").is_empty());
}
