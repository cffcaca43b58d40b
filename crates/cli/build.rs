//! Lists the workspace's fail points for `src/faults.rs`, in builds with the feature `failpoints`
//! (other builds need no list and scan nothing), and says how the program is linked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const CALL: &str = "fail_point!(";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    // A reader lives for two milliseconds. A position-independent program spends a quarter of that
    // on relocations; one at a fixed place has none. Libraries, stack and heap stay randomised.
    let target = |name| env::var(name).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    if env::var_os("CARGO_FEATURE_FAILPOINTS").is_none() {
        return Ok(());
    }
    let package = env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?;
    let crates = Path::new(&package).join("..");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(&crates)? {
        let source = entry?.path().join("src");
        if source.is_dir() {
            println!("cargo::rerun-if-changed={}", source.display());
            scan(&source, &mut names)?;
        }
    }
    let list: Vec<String> = names.iter().map(|name| format!("    {name:?},")).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("failpoints.rs"), format!("&[\n{}\n]\n", list.join("\n")))
}

fn scan(directory: &Path, names: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            scan(&path, names)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            names.extend(text.split(CALL).skip(1).filter_map(literal));
        }
    }
    Ok(())
}

/// The name at the beginning of a call's arguments.
fn literal(arguments: &str) -> Option<String> {
    let (name, _) = arguments.trim_start().strip_prefix('"')?.split_once('"')?;
    Some(name.to_owned())
}
