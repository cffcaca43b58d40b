//! What a planner or a reviewer says: one JSON document in its job's directory, checked here.

use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use tidegate_core::ids::GateName;
use tidegate_core::plan::Role;
use tidegate_core::run::{PlannedChange, ResultOutcome};

/// Name of the document within a job directory; `TIDEGATE_RESULT` has its path.
pub(super) const FILE: &str = "result.json";
/// Largest document that is read, in bytes.
const BYTES_MAX: u64 = 256 * 1024;
/// Most entries of one list.
const ENTRIES_MAX: usize = 2_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanDocument {
    summary: String,
    #[serde(default)]
    allowed: Vec<String>,
    #[serde(default)]
    forbidden: Vec<String>,
    #[serde(default)]
    create: Vec<String>,
    #[serde(default)]
    modify: Vec<String>,
    #[serde(default)]
    delete: Vec<String>,
    #[serde(default)]
    contracts: Vec<String>,
    #[serde(default)]
    criteria: Vec<String>,
    #[serde(default)]
    gates: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictDocument {
    approved: bool,
    #[serde(default)]
    comments: String,
}

/// Reads what the agent in `role` left in its job's directory. `gates` are those of the plan.
pub(super) fn read(job_dir: &Path, role: Role, gates: &[&GateName]) -> ResultOutcome {
    let outcome = document(&job_dir.join(FILE)).and_then(|bytes| match role {
        Role::Reviewer => verdict(&bytes),
        Role::Planner | Role::Builder | Role::Qa | Role::Reconciler => planned(&bytes, gates),
    });
    outcome.unwrap_or_else(|detail| ResultOutcome::Unusable { detail })
}

fn document(path: &Path) -> Result<Vec<u8>, String> {
    let found = |error: std::io::Error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            "it wrote nothing to $TIDEGATE_RESULT".to_owned()
        } else {
            format!("{}: {error}", path.display())
        }
    };
    if !path.symlink_metadata().map_err(found)?.is_file() {
        return Err("$TIDEGATE_RESULT is no plain file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(found)?;
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(found)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("the document has more than {BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("the document does not read: {error}"))
}

fn verdict(bytes: &[u8]) -> Result<ResultOutcome, String> {
    let VerdictDocument { approved, comments } = parse(bytes)?;
    if !approved && comments.trim().is_empty() {
        return Err("a refusal needs `comments`: they are what the builder is told".to_owned());
    }
    Ok(ResultOutcome::Verdict { approved, comments })
}

fn planned(bytes: &[u8], known: &[&GateName]) -> Result<ResultOutcome, String> {
    let document: PlanDocument = parse(bytes)?;
    if document.summary.trim().is_empty() {
        return Err("`summary` is empty".to_owned());
    }
    let paths = [
        ("allowed", &document.allowed),
        ("forbidden", &document.forbidden),
        ("create", &document.create),
        ("modify", &document.modify),
        ("delete", &document.delete),
    ];
    for (key, list) in paths {
        check_paths(key, list)?;
    }
    let files = document.create.iter().chain(&document.modify).chain(&document.delete);
    if let Some(path) = files.clone().find(|path| document.forbidden.contains(path)) {
        return Err(format!("`{path}` is both to be changed and forbidden"));
    }
    let gate = |name: &String| {
        let found = known.iter().find(|gate| gate.as_str() == name);
        found.map(|gate| (*gate).clone()).ok_or_else(|| format!("there is no gate `{name}`"))
    };
    let gates = document.gates.iter().map(gate).collect::<Result<_, _>>()?;
    let PlanDocument { summary, allowed, forbidden, create, modify, delete, .. } = document;
    let (contracts, criteria) = (document.contracts, document.criteria);
    Ok(ResultOutcome::Planned(PlannedChange {
        summary,
        allowed,
        forbidden,
        create,
        modify,
        delete,
        contracts,
        criteria,
        gates,
    }))
}

fn check_paths(key: &str, list: &[String]) -> Result<(), String> {
    if list.len() > ENTRIES_MAX {
        return Err(format!("`{key}` has more than {ENTRIES_MAX} entries"));
    }
    let inner = |path: &&String| {
        !path.is_empty()
            && !path.starts_with('/')
            && path.split('/').all(|part| part != ".." && part != ".git")
            && !path.chars().any(char::is_control)
    };
    match list.iter().find(|path| !inner(path)) {
        Some(path) => Err(format!("`{key}` has {path:?}, which is no path within the repository")),
        None => Ok(()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read_text(role: Role, text: &str) -> ResultOutcome {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), text).unwrap();
        let gate = GateName::new("test").unwrap();
        read(dir.path(), role, &[&gate])
    }

    fn detail(outcome: ResultOutcome) -> String {
        match outcome {
            ResultOutcome::Unusable { detail } => detail,
            ResultOutcome::Planned(_) | ResultOutcome::Verdict { .. } => {
                panic!("usable: {outcome:?}")
            }
        }
    }

    #[test]
    fn a_whole_plan_is_taken_as_it_is_written() {
        let text = r#"{"summary":"Adds","create":["src/a.rs"],"gates":["test"]}"#;
        let ResultOutcome::Planned(planned) = read_text(Role::Planner, text) else { panic!() };
        assert_eq!((planned.create, planned.gates.len()), (vec!["src/a.rs".to_owned()], 1));
    }

    #[test]
    fn what_cannot_be_used_says_what_is_wrong() {
        for (role, text, word) in [
            (Role::Planner, "{", "does not read"),
            (Role::Planner, r#"{"summary":" "}"#, "summary"),
            (Role::Planner, r#"{"summary":"a","modify":["../x"]}"#, "../x"),
            (Role::Planner, r#"{"summary":"a","gates":["tset"]}"#, "tset"),
            (Role::Planner, r#"{"summary":"a","modify":["x"],"forbidden":["x"]}"#, "forbidden"),
            (Role::Planner, r#"{"summary":"a","extra":1}"#, "extra"),
            (Role::Reviewer, r#"{"approved":false}"#, "comments"),
            (Role::Reviewer, r#"{"approved":"yes"}"#, "does not read"),
        ] {
            let told = detail(read_text(role, text));
            assert!(told.contains(word), "{text}: {told}");
        }
        let empty = tempfile::tempdir().unwrap();
        assert!(detail(read(empty.path(), Role::Planner, &[])).contains("wrote nothing"));
    }

    #[test]
    fn a_verdict_is_a_verdict() {
        let found = read_text(Role::Reviewer, r#"{"approved":true}"#);
        assert_eq!(found, ResultOutcome::Verdict { approved: true, comments: String::new() });
    }
}
