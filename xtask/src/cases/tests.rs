//! A share of the cases with every run of the tests, and the proof that cases can fail.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::case::{Case, load};
use super::verdict::Verdict;
use super::{SHARE, Terms, page, play};

/// A number that scatters ids, the same on every machine.
fn scattered(id: &str) -> u64 {
    let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    id.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// The same tenth every time.
fn share(cases: &[Case]) -> Vec<&Case> {
    let mut share: Vec<&Case> = cases.iter().collect();
    share.sort_by_key(|case| scattered(&case.id));
    share.truncate(cases.len().div_ceil(SHARE));
    share
}

#[test]
fn tenth_of_the_cases_holds() -> Result<()> {
    let cases = load()?;
    let share = share(&cases);
    let binary = match std::env::var_os("TIDEGATE_BIN") {
        Some(binary) => PathBuf::from(binary),
        None => crate::suite::build()?,
    };
    let played = play(&share, &Terms { binary, limit: Duration::from_mins(1) })?;
    let failed: Vec<String> = played
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Fails(_)))
        .map(|one| format!("{}: {}", one.case.id, one.verdict))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    Ok(())
}

#[test]
fn no_case_holds_for_a_product_that_only_says_yes() -> Result<()> {
    super::hollow::run(&share(&load()?))
}

#[test]
fn every_scenario_is_a_text_for_bash() -> Result<()> {
    for case in load()? {
        let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn()?;
        bash.stdin.take().context("no pipe")?.write_all(case.script.as_bytes())?;
        assert!(bash.wait()?.success(), "{}", case.id);
    }
    Ok(())
}

#[test]
fn every_case_stands_on_the_page_with_its_report_and_none_fails() -> Result<()> {
    let text = std::fs::read_to_string(crate::workspace::root().join(page::PAGE))?;
    for case in load()? {
        let row = text.lines().find(|line| line.starts_with(&format!("| {}, ", case.id)));
        let row = row.with_context(|| format!("{} is not on {}", case.id, page::PAGE))?;
        assert!(row.contains(&case.url), "{} has another report", case.id);
        assert!(!row.contains("FAILS"), "{row}");
    }
    Ok(())
}
