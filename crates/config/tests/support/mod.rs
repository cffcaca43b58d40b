//! What the tests of this crate share: bundles from texts, and findings as text.

#![expect(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "each test file uses a part")]

use tidegate_config::{
    Bundle, ConfigFiles, Diagnostic, NamedFile, ReadError, Resolved, Selection, check, gather,
    resolve,
};

/// The settings that the plans of the corpus are checked against.
pub(crate) const CONFIG: &str = include_str!("../corpus/tidegate.toml");

/// Bundles a plan with the given settings; specs are files of `tests/corpus`.
pub(crate) fn bundle(path: &str, plan: &[u8], config: &str) -> Bundle {
    let file = |path: &str, bytes: &[u8]| NamedFile { path: path.into(), bytes: bytes.to_vec() };
    let config = ConfigFiles {
        repository: Some(file("tidegate.toml", config.as_bytes())),
        ..ConfigFiles::default()
    };
    let mut read = |path: &str| match path {
        "specs/linked.md" => Err(ReadError::Outside),
        "specs" => Err(ReadError::NotAFile),
        "specs/latin1.md" => Ok(b"caf\xe9".to_vec()),
        "specs/blank.md" => Ok(b" \n\t\n".to_vec()),
        "specs/huge.md" => Ok(vec![b'x'; tidegate_config::SPEC_BYTES_MAX + 1]),
        "specs/long.md" => Ok(vec![b'x'; 200_000]),
        path => {
            let full = corpus(path);
            std::fs::read(full).map_err(|_| ReadError::NotFound)
        }
    };
    gather(file(path, plan), config, &mut read)
}

/// A path below `tests/corpus`.
pub(crate) fn corpus(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(path)
}

/// The names of the files in a folder of the corpus, sorted.
pub(crate) fn names(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(corpus(folder)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What is found in a plan.
pub(crate) fn findings(path: &str, plan: &[u8]) -> Vec<Diagnostic> {
    check(&bundle(path, plan, CONFIG), &Selection::default())
}

/// The codes that are found in a plan.
pub(crate) fn codes(path: &str, plan: &str) -> Vec<&'static str> {
    findings(path, plan.as_bytes()).iter().map(|one| one.code.as_str()).collect()
}

/// A plan that has no errors.
pub(crate) fn resolved(path: &str, plan: &str, config: &str) -> Resolved {
    match resolve(&bundle(path, plan.as_bytes(), config), &Selection::default()) {
        Ok(resolved) => resolved,
        Err(found) => panic!("{}", shown(&found, plan, config)),
    }
}

/// Findings as a terminal shows them.
pub(crate) fn shown(found: &[Diagnostic], plan: &str, config: &str) -> String {
    let text = |one: &Diagnostic| match one.file.as_str() {
        "tidegate.toml" => config.to_owned(),
        file if file.starts_with("specs/") => String::new(),
        _ => plan.to_owned(),
    };
    found.iter().map(|one| one.render(&text(one))).collect()
}
