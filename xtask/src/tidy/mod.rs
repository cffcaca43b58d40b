//! `cargo xtask tidy`: the rules of the sources that neither the compiler nor clippy checks. Also a test of this crate.
//!
//! Every rule is a function from the sources to findings; nothing here changes a file.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

mod arrows;
mod failpoints;
mod fault_page;
mod headers;
mod mask;
mod pages;
mod places;
mod proofs;
mod purity;
mod size;
mod sleeps;
mod source;
mod unsafety;

use source::Source;

/// A place that breaks a rule.
pub(crate) struct Finding {
    path: PathBuf,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

/// Checks every rule and prints what breaks one.
pub(crate) fn run() -> Result<()> {
    let findings = check()?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: ok");
            Ok(())
        }
        number => bail!("{number} findings"),
    }
}

fn sources(root: &Path, files: &[PathBuf]) -> Result<Vec<Source>> {
    let rust = files.iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    rust.map(|path| {
        let text = std::fs::read_to_string(root.join(path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Source::new(path, text))
    })
    .collect()
}

fn check() -> Result<Vec<Finding>> {
    let root = crate::workspace::root();
    let files = crate::workspace::files()?;
    let sources = sources(&root, &files)?;
    let mut findings = size::check(&root, &sources)?;
    for source in &sources {
        findings.extend(headers::check(source));
        findings.extend(purity::check(source));
        findings.extend(unsafety::check(source));
        findings.extend(places::check(source));
        findings.extend(sleeps::check(source));
    }
    findings.extend(proofs::check(&root, &sources)?);
    findings.extend(failpoints::check(&sources));
    findings.extend(arrows::check(&crate::workspace::metadata(false)?)?);
    findings.extend(pages::check(&root, &files)?);
    findings.extend(fault_page::check(&root, &sources)?);
    Ok(findings)
}

#[cfg(test)]
mod tests {
    #[test]
    fn workspace_keeps_every_rule() -> anyhow::Result<()> {
        let findings = super::check()?;
        let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(list.is_empty(), "\n{}\n", list.join("\n"));
        Ok(())
    }
}
