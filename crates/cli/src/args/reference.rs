//! The reference page of the command line, `docs/cli.md`, made of its own help.

use std::fmt::Write;
use std::path::Path;

use clap::Command;

/// Above the verbs.
const HEAD: &str = "\
# The command line

Made from the code by `cargo xtask docs`: do not edit it. `tidegate man DIR` writes the same as manual pages.
";

fn page() -> String {
    let mut command = super::command().term_width(100);
    command.build();
    let mut page = HEAD.to_owned();
    section(&command, 2, &mut page);
    page
}

fn section(command: &Command, level: usize, page: &mut String) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let help = command.clone().term_width(100).render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let _ = write!(page, "\n{} {name}\n\n```text\n{}\n```\n", "#".repeat(level), text.trim_end());
    for verb in command.get_subcommands() {
        if !verb.is_hide_set() && verb.get_name() != "help" {
            section(verb, (level + 1).min(4), page);
        }
    }
}

#[test]
fn reference_page_is_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = page();
    if std::env::var_os("TIDEGATE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("docs/cli.md cannot be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(page.lines()).find(|(found, made)| found != made);
    assert!(
        found == page,
        "docs/cli.md is not up to date, `cargo xtask docs` writes it: {differs:?}"
    );
}
