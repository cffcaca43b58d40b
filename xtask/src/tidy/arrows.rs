//! Which crate may use which: the arrows of ARCHITECTURE.md, checked against what cargo resolved.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;

/// What each crate may use of ours, apart from its tests.
const ARROWS: [(&str, &[&str]); 10] = [
    ("tidegate-core", &[]),
    ("tidegate-protocol", &[]),
    ("tidegate-store", &["tidegate-core"]),
    ("tidegate-process", &["tidegate-core"]),
    ("tidegate-git", &["tidegate-core"]),
    ("tidegate-agents", &["tidegate-core"]),
    ("tidegate-config", &["tidegate-core"]),
    ("tidegate-evidence", &["tidegate-core"]),
    (
        "tidegate-daemon",
        &[
            "tidegate-store",
            "tidegate-process",
            "tidegate-git",
            "tidegate-agents",
            "tidegate-config",
            "tidegate-evidence",
            "tidegate-protocol",
            "tidegate-core",
        ],
    ),
    ("tidegate", &["tidegate-daemon", "tidegate-config", "tidegate-protocol"]),
];

/// Crates for development alone: free in what they use, used by tests alone.
const DEVELOPMENT: [&str; 2] = ["tidegate-testkit", "xtask"];

/// Dependencies that only one crate may have.
const EXCLUSIVE: [(&str, &str); 2] = [("rusqlite", "tidegate-store"), ("axum", "tidegate-daemon")];

/// Arrows that are not drawn.
pub(super) fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let packages = metadata["packages"].as_array().context("no packages")?;
    let mut findings = Vec::new();
    for package in packages {
        let name = package["name"].as_str().context("a package without a name")?;
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        if !DEVELOPMENT.contains(&name) {
            let wrong = wrong_dependencies(name, package);
            findings.extend(wrong.into_iter().map(|why| Finding::new(Path::new(manifest), 1, why)));
        }
    }
    Ok(findings)
}

fn wrong_dependencies(name: &str, package: &Value) -> Vec<String> {
    let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        return vec![format!("`{name}` is in no arrow of `cargo xtask tidy`")];
    };
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    dependencies
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| dependency["name"].as_str())
        .filter_map(|used| wrong(name, allowed, used))
        .collect()
}

fn wrong(name: &str, allowed: &[&str], used: &str) -> Option<String> {
    let ours = ARROWS.iter().any(|(crate_name, _)| *crate_name == used);
    if DEVELOPMENT.contains(&used) {
        return Some(format!("`{name}` uses `{used}`, which is for tests"));
    }
    if ours && !allowed.contains(&used) {
        return Some(format!("`{name}` must not use `{used}`"));
    }
    if name == "tidegate-core" && used != "thiserror" {
        return Some(format!("the core uses nothing but thiserror, not `{used}`"));
    }
    let owner = EXCLUSIVE.iter().find(|(library, _)| *library == used);
    owner
        .filter(|(_, owner)| *owner != name)
        .map(|(library, owner)| format!("`{library}` belongs to `{owner}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check;

    fn findings(name: &str, used: &str, kind: Option<&str>) -> anyhow::Result<usize> {
        let dependency = json!({"name": used, "kind": kind});
        let package = json!({"name": name, "manifest_path": "m", "dependencies": [dependency]});
        Ok(check(&json!({"packages": [package]}))?.len())
    }

    #[test]
    fn arrow_that_is_not_drawn_is_found() -> anyhow::Result<()> {
        assert_eq!(findings("tidegate-store", "tidegate-git", None)?, 1);
        assert_eq!(findings("tidegate-store", "tidegate-core", None)?, 0);
        assert_eq!(findings("tidegate-store", "tidegate-git", Some("dev"))?, 0);
        assert_eq!(findings("tidegate", "tidegate-core", None)?, 1);
        assert_eq!(findings("tidegate-core", "serde", None)?, 1);
        assert_eq!(findings("tidegate-daemon", "rusqlite", None)?, 1);
        assert_eq!(findings("tidegate-daemon", "tidegate-testkit", None)?, 1);
        assert_eq!(findings("tidegate-extra", "serde", None)?, 1);
        Ok(())
    }
}
