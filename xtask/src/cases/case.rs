//! The cases as they are written down: `cases/CATEGORY.toml`, one table each. Plays none.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

/// A public bug report, what has to hold here, and the scenario that finds out.
#[derive(Debug)]
pub(super) struct Case {
    /// `C002`.
    pub(super) id: String,
    /// The file that it stands in.
    pub(super) category: String,
    /// Repository and number of the report.
    pub(super) source: String,
    /// Where the report is.
    pub(super) url: String,
    /// What went wrong there, in a line.
    pub(super) about: String,
    /// What has to hold here.
    pub(super) holds: String,
    /// A text for bash.
    pub(super) script: String,
    /// Whether it needs root and a mount namespace of its own.
    pub(super) namespace: bool,
}

/// The folder of the cases.
pub(super) fn folder() -> PathBuf {
    crate::workspace::root().join("cases")
}

/// Every case, by id.
pub(super) fn load() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for entry in folder().read_dir().context("no cases")? {
        let path = entry?.path();
        if path.extension().is_none_or(|kind| kind != "toml") {
            continue;
        }
        let category = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path)?;
        let read = parse(&category, &text).with_context(|| path.display().to_string())?;
        cases.extend(read);
    }
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    ensure!(ids.len() == cases.len(), "two cases have one id");
    Ok(cases)
}

fn parse(category: &str, text: &str) -> Result<Vec<Case>> {
    let table: toml::Table = text.parse()?;
    let list = table.get("case").and_then(toml::Value::as_array).context("no [[case]]")?;
    list.iter().map(|value| one(category, value)).collect()
}

fn one(category: &str, value: &toml::Value) -> Result<Case> {
    const KEYS: [&str; 7] = ["id", "source", "url", "about", "holds", "script", "namespace"];
    let table = value.as_table().context("a case is a table")?;
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        bail!("no case has a `{key}`");
    }
    let text = |key: &str| -> Result<String> {
        let text = table.get(key).and_then(toml::Value::as_str);
        Ok(text.with_context(|| format!("a case without `{key}`"))?.to_owned())
    };
    Ok(Case {
        id: text("id")?,
        category: category.to_owned(),
        source: text("source")?,
        url: text("url")?,
        about: text("about")?,
        holds: text("holds")?,
        script: text("script")?,
        namespace: table.get("namespace").and_then(toml::Value::as_bool).unwrap_or(false),
    })
}
