//! The programs that tests start: looked for, and installed where that is possible without asking.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// A program, the Debian package that has it, and whether the tests are pointless without it.
const TOOLS: [(&str, &str, bool); 11] = [
    ("git", "git", true),
    ("bash", "bash", true),
    ("awk", "mawk", true),
    ("curl", "curl", true),
    ("jq", "jq", true),
    ("perl", "perl", true),
    ("ps", "procps", true),
    ("setpriv", "util-linux", false),
    ("faketime", "faketime", false),
    ("mkfs.ext4", "e2fsprogs", false),
    ("mkfs.xfs", "xfsprogs", false),
];

/// Finds every tool, installs what is missing, and fails when one that must be there is not.
pub(super) fn install() -> Result<()> {
    let missing: Vec<_> = TOOLS.iter().filter(|(program, ..)| !is_there(program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().map(|(_, package, _)| *package).collect();
    println!("installing {}", packages.join(", "));
    let installed = Command::new("apt-get")
        .args(["install", "--yes", "--no-install-recommends"])
        .args(&packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        println!("could not install {}", packages.join(", "));
    }
    for (program, package, needed) in TOOLS {
        if needed && !is_there(program) {
            bail!("`{program}` is missing: install {package}");
        }
    }
    Ok(())
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
