//! `docs/cases.md`: what every case came to, for people. It holds no times, so that it changes when a verdict does.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;

use super::Played;
use super::verdict::Verdict;

/// The page, relative to the root.
pub(super) const PAGE: &str = "docs/cases.md";

/// Writes the page of all cases.
pub(super) fn write(played: &[Played<'_>]) -> Result<()> {
    std::fs::write(crate::workspace::root().join(PAGE), text(played)?)?;
    println!("written: {PAGE}");
    Ok(())
}

fn text(played: &[Played<'_>]) -> Result<String> {
    let count = |is: fn(&Verdict) -> bool| played.iter().filter(|one| is(&one.verdict)).count();
    let mut text = format!(
        "# Cases\n\nBugs that were reported in public of tools of this kind, played against this one. Each row names its report; \
         the scenario\nstands in `cases/` under its id. `cargo xtask cases` plays them and writes this page: {} cases, {} hold, {} \
         are refused loudly,\n{} are about something that is not there (yet), {} fail.\n",
        played.len(),
        count(|verdict| matches!(verdict, Verdict::Holds)),
        count(|verdict| matches!(verdict, Verdict::Refused(_))),
        count(|verdict| matches!(verdict, Verdict::Unsupported(_))),
        count(|verdict| matches!(verdict, Verdict::Fails(_))),
    );
    let mut categories: BTreeMap<&str, Vec<&Played<'_>>> = BTreeMap::new();
    for one in played {
        categories.entry(&one.case.category).or_default().push(one);
    }
    for (category, all) in categories {
        writeln!(
            text,
            "\n## {category}\n\n| case | what went wrong there | what holds here | verdict |\n|---|---|---|---|"
        )?;
        for one in all {
            let case = one.case;
            writeln!(
                text,
                "| {}, [{}]({}) | {} | {} | {} |",
                case.id,
                case.source,
                case.url,
                cell(&case.about),
                cell(&case.holds),
                cell(&one.verdict.to_string()),
            )?;
        }
    }
    Ok(text)
}

/// A text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
