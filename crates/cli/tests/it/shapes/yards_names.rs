//! Shapes whose names are hard: of files, and of branches.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::yards::trap;
use crate::harness::Repo;

/// Paths and branches that differ in case alone.
pub(crate) fn case_twins(folder: &Path) -> Repo {
    let repo = Repo::empty(&folder.join("harbour"));
    for path in ["README.md", "readme.md", "Src/Main.rs", "src/main.rs", "SRC/MAIN.rs"] {
        repo.write(path, &format!("{path}\n"));
    }
    repo.commit("twins");
    for branch in ["Feature/Login", "feature/login", "FEATURE/LOGIN"] {
        repo.git(&["branch", branch]);
    }
    repo.git(&["pack-refs", "--all"]);
    trap("five paths", repo.git(&["ls-files"]).lines().count() == 5);
    repo
}

/// File names that lists by lines, arguments and shells get wrong.
pub(crate) fn hostile_names(folder: &Path) -> Repo {
    let repo = Repo::empty(&folder.join("harbour"));
    let long = [b'x'; 250];
    let deep = [[b'd'; 240]; 12].join(&b'/');
    let deep = [&deep[..], b"/deep.txt"].concat();
    let names: [&[u8]; 21] = [
        b"caf\xe9-latin1.txt",
        "caf\u{e9}.txt".as_bytes(),
        "cafe\u{301}.txt".as_bytes(),
        b"new\nline.txt",
        b"tab\there.txt",
        b"quote\"and\\back.txt",
        b"-rf",
        b"--help.txt",
        b"a -> b.txt",
        b"trailing ",
        b" leading",
        "\u{1f680} rocket.md".as_bytes(),
        b"$(touch PWNED).txt",
        b"`touch PWNED`.txt",
        b"; touch PWNED; .txt",
        &long,
        "\u{202e}gnp.txt".as_bytes(),
        b"percent%s%n.txt",
        b"#hash.txt",
        b"sp ace/in side/f.txt",
        &deep,
    ];
    for name in names {
        write_deep(repo.root(), name);
    }
    repo.commit("names");
    let listed = repo.git(&["ls-files", "-z"]);
    trap("21 paths", listed.matches('\0').count() == 21);
    let quoted = repo.git(&["ls-files"]);
    trap("lines are not the names", quoted.lines().any(|l| !repo.root().join(l).exists()));
    repo
}

/// Writes a file whose path may be longer than the kernel takes in one piece.
fn write_deep(root: &Path, name: &[u8]) {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut folder = openat(CWD, root, flags, Mode::empty()).unwrap();
    let mut parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').collect();
    let file = parts.pop().unwrap();
    for part in parts {
        let part = OsStr::from_bytes(part);
        let _ = mkdirat(&folder, part, Mode::from_raw_mode(0o755));
        folder = openat(&folder, part, flags, Mode::empty()).unwrap();
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    let file = openat(&folder, OsStr::from_bytes(file), flags, Mode::from_raw_mode(0o644)).unwrap();
    std::io::Write::write_all(&mut std::fs::File::from(file), b"data\n").unwrap();
}

/// Branches that stand in the way of others, or are called like tags, files, hashes and options.
pub(crate) fn ref_traps(folder: &Path) -> Repo {
    let repo = Repo::empty(&folder.join("harbour"));
    repo.write("a", "a\n");
    repo.write("build", "b\n");
    repo.commit("first");
    repo.write("a", "a\nc\n");
    repo.commit("second");
    let like_a_hash = repo.git(&["rev-parse", "--short=12", "HEAD"]);
    let long = format!("long/{}", "n".repeat(200));
    for branch in ["run", "wave/1/feature/x", "feat/foo", "feat-foo", "build", &long] {
        repo.git(&["branch", branch]);
    }
    repo.git(&["branch", "topic/\u{fc}n\u{ef}-\u{1f680}"]);
    repo.git(&["branch", &like_a_hash, "HEAD~1"]);
    repo.git(&["branch", "v1.0", "HEAD~1"]);
    repo.git(&["tag", "v1.0", "HEAD"]);
    repo.git(&["update-ref", "refs/heads/HEAD", "HEAD~1"]);
    repo.git(&["update-ref", "refs/heads/-dash", "HEAD"]);
    trap("`run/1` cannot be", !repo.can(&["branch", "run/1"]));
    let branch = repo.git(&["rev-parse", "refs/heads/v1.0"]);
    trap("`v1.0` is the tag", repo.git(&["rev-parse", "v1.0"]) != branch);
    repo
}
