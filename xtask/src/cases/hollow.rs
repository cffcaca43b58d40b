//! The proof that cases can fail: a product that says yes to everything and does nothing, for which none may hold.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::case::Case;
use super::verdict::Verdict;
use super::{Terms, play};

/// Everything went well, and nothing is there.
const PROGRAM: &str = r#"#!/bin/sh
echo '{"ok":true,"data":{"runId":"r0000010000","status":"completed","running":true,"pid":1,"features":[],"runs":[],
"logs":[],"jobs":[],"events":[],"attention":[],"agentRuntimeSummary":[]}}'
"#;

/// Plays these cases against it; fails when one holds.
pub(super) fn run(cases: &[&Case]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let binary = folder.path().join("hollow");
    std::fs::write(&binary, PROGRAM)?;
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755))?;
    let played = play(cases, &Terms { binary, limit: Duration::from_secs(1) })?;
    let holds = |verdict: &Verdict| matches!(verdict, Verdict::Holds | Verdict::Refused(_));
    let credulous: Vec<&str> =
        played.iter().filter(|one| holds(&one.verdict)).map(|one| one.case.id.as_str()).collect();
    ensure!(credulous.is_empty(), "{credulous:?} hold whatever the product does");
    Ok(())
}
