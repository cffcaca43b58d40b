//! `cargo xtask deny`: bans, licences and sources of the whole dependency tree, by `deny.toml`.
//!
//! With cargo-deny installed it does the work. Without it the same three questions are answered from what cargo
//! knows, so that no machine skips them. Advisories need the network and belong to the public repository's own runs.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

mod license;

use license::permitted;

/// Checks the tree.
pub(crate) fn run() -> Result<()> {
    let installed = Command::new("cargo-deny").arg("--version").output();
    if installed.is_ok_and(|output| output.status.success()) {
        let mut check = crate::workspace::cargo(&["deny", "--offline", "check"]);
        return crate::workspace::succeed(
            check.args(["bans", "licenses", "sources"]),
            "cargo deny",
        );
    }
    let text = std::fs::read_to_string(crate::workspace::root().join("deny.toml"))
        .context("cannot read deny.toml")?;
    let policy = Policy::read(&text)?;
    let metadata = crate::workspace::metadata(true)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let findings: Vec<String> = packages.iter().flat_map(|package| policy.check(package)).collect();
    for finding in &findings {
        println!("deny: {finding}");
    }
    if !findings.is_empty() {
        bail!("{} packages against deny.toml", findings.len());
    }
    println!(
        "deny: {} packages, all allowed (own check: cargo-deny is not installed)",
        packages.len()
    );
    Ok(())
}

struct Policy {
    licenses: Vec<String>,
    banned: Vec<(String, String)>,
    registries: Vec<String>,
}

impl Policy {
    fn read(text: &str) -> Result<Self> {
        let file: toml::Table = text.parse().context("deny.toml")?;
        let list = |section: &str, key: &str| -> Result<Vec<toml::Value>> {
            let value = file.get(section).and_then(|section| section.get(key));
            Ok(value
                .and_then(toml::Value::as_array)
                .with_context(|| format!("no {section}.{key}"))?
                .clone())
        };
        let texts = |values: Vec<toml::Value>| -> Vec<String> {
            values.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect()
        };
        let field = |ban: &toml::Value, key: &str| -> String {
            ban.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        let bans = list("bans", "deny")?;
        Ok(Self {
            licenses: texts(list("licenses", "allow")?),
            banned: bans.iter().map(|ban| (field(ban, "crate"), field(ban, "reason"))).collect(),
            registries: texts(list("sources", "allow-registry")?),
        })
    }

    /// What is wrong with one package of `cargo metadata`.
    fn check(&self, package: &Value) -> Vec<String> {
        let name = package["name"].as_str().unwrap_or_default();
        let mut findings = Vec::new();
        if let Some((_, reason)) = self.banned.iter().find(|(banned, _)| banned == name) {
            findings.push(format!("{name} is banned: {reason}"));
        }
        let expression = package["license"].as_str().unwrap_or_default();
        if !permitted(expression, &self.licenses) {
            findings.push(format!("{name}: the licence `{expression}` is not allowed"));
        }
        if let Some(source) = package["source"].as_str() {
            let known = self.registries.iter().any(|registry| source.ends_with(registry.as_str()));
            if !known {
                findings.push(format!("{name} comes from {source}"));
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Policy;

    const POLICY: &str = "\
licenses.allow = ['MIT']
bans.deny = [{ crate = 'bad', reason = 'no' }]
sources.allow-registry = ['https://index']
";

    fn findings(name: &str, license: &str, source: Option<&str>) -> anyhow::Result<usize> {
        let package = json!({"name": name, "license": license, "source": source});
        Ok(Policy::read(POLICY)?.check(&package).len())
    }

    #[test]
    fn package_against_the_policy_is_found() -> anyhow::Result<()> {
        assert_eq!(findings("good", "MIT OR GPL-3.0", Some("registry+https://index"))?, 0);
        assert_eq!(findings("bad", "MIT", None)?, 1);
        assert_eq!(findings("good", "GPL-3.0", None)?, 1);
        assert_eq!(findings("good", "", None)?, 1);
        assert_eq!(findings("good", "MIT", Some("git+https://elsewhere"))?, 1);
        Ok(())
    }

    #[test]
    fn policy_of_the_workspace_is_readable() -> anyhow::Result<()> {
        let path = crate::workspace::root().join("deny.toml");
        let policy = Policy::read(&std::fs::read_to_string(path)?)?;
        assert!(policy.banned.iter().all(|(name, reason)| !name.is_empty() && !reason.is_empty()));
        Ok(())
    }
}
