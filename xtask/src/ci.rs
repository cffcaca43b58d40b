//! `cargo xtask ci`: everything that must hold before a change is taken, cheapest first, tests and their count last.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::workspace::{cargo, succeed};

type Step = (&'static str, fn() -> Result<()>);

const STEPS: [Step; 7] = [
    ("fmt", fmt),
    ("tidy", crate::tidy::run),
    ("deny", crate::deny::run),
    ("clippy", clippy),
    ("doc", doc),
    ("demo", crate::smoke::run),
    ("test", test),
];

/// Runs every step; the first that fails ends it.
pub(crate) fn run() -> Result<()> {
    let begun = Instant::now();
    for (name, step) in STEPS {
        let at = Instant::now();
        println!("== {name}");
        step().with_context(|| format!("step {name}"))?;
        println!("== {name}: ok, {} s", at.elapsed().as_secs());
    }
    println!("ci: ok, {} s", begun.elapsed().as_secs());
    Ok(())
}

fn fmt() -> Result<()> {
    succeed(&mut cargo(&["fmt", "--all", "--check", "--", "--color", "never"]), "cargo fmt")
}

fn clippy() -> Result<()> {
    let mut clippy = cargo(&["clippy", "--workspace", "--all-targets", "--locked"]);
    clippy.args(["--features", "tidegate/failpoints", "--", "--deny", "warnings"]);
    succeed(&mut clippy, "cargo clippy")
}

fn doc() -> Result<()> {
    let mut doc: Command = cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
    // Private items are documented too, so that every link in a comment is followed.
    doc.arg("--document-private-items");
    let flags = "--deny warnings --allow rustdoc::private_intra_doc_links";
    succeed(doc.env("RUSTDOCFLAGS", flags), "cargo doc")
}

fn test() -> Result<()> {
    crate::suite::run(&["--deny-skips".to_owned()])
}
