//! Shapes whose place is hard: submodules, hooks, remotes that refuse, checkouts in a bad state, and sheer size.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::yards::{clone, trap, url};
use crate::harness::Repo;

/// A project with two submodules, one of which has one itself.
pub(crate) fn submodules(folder: &Path) -> Repo {
    let near = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
    let add = |repo: &Repo, from: &Repo, path: &str| {
        let address = url(from.root());
        repo.git(&[&near[..], &["add", &address, path]].concat());
    };
    let inner = Repo::empty(&folder.join("inner"));
    inner.write("inner.txt", "inner\n");
    inner.commit("inner");
    let first = Repo::empty(&folder.join("lib-a"));
    first.write("lib.txt", "lib a\n");
    first.commit("lib a");
    add(&first, &inner, "deps/inner");
    first.commit("nest inner");
    let second = Repo::empty(&folder.join("lib-b"));
    for text in ["v1\n", "v2\n"] {
        second.write("b.txt", text);
        second.commit(text.trim());
    }
    let repo = Repo::empty(&folder.join("harbour"));
    let check = "test -f third/a/lib.txt && test -f third/a/deps/inner/inner.txt && test -f third/b/b.txt\n";
    repo.write("check.sh", check);
    repo.commit("first");
    add(&repo, &first, "third/a");
    add(&repo, &second, "third/b");
    repo.commit("add submodules");
    repo.git(&[&near[..], &["update", "--init", "--recursive"]].concat());
    let passes =
        |at: &Path| Command::new("sh").arg("check.sh").current_dir(at).status().unwrap().success();
    trap("the gate passes in the user's checkout", passes(repo.root()));
    let probe = folder.join("probe");
    let place = probe.display().to_string();
    repo.git(&["worktree", "add", "--quiet", "--detach", &place]);
    trap("it fails in a new worktree", !passes(&probe));
    let update = ["submodule", "update", "--init", "--recursive"];
    trap("git refuses to fetch by file", !Repo::at(&probe).can(&update));
    repo.git(&["worktree", "remove", "--force", &place]);
    repo
}

/// Hooks in a tracked folder, which want a file that no new worktree has, and a form of messages.
pub(crate) fn hooks(folder: &Path) -> Repo {
    let repo = Repo::empty(&folder.join("harbour"));
    let ticket =
        "#!/bin/sh\n[ -f .ticket ] && exit 0\necho 'no .ticket file, commit refused' >&2\nexit 1\n";
    let form = "#!/bin/sh\ngrep -qE '^(feat|fix|chore): ' \"$1\" && exit 0\necho 'say feat, fix or chore' >&2\nexit 1\n";
    for (name, text) in [("pre-commit", ticket), ("commit-msg", form)] {
        repo.write(&format!(".githooks/{name}"), text);
        executable(&repo.root().join(".githooks").join(name));
    }
    repo.write("code.txt", "code\n");
    repo.write(".gitignore", ".ticket\n");
    repo.commit("chore: base");
    repo.write(".ticket", "");
    repo.git(&["config", "core.hooksPath", ".githooks"]);
    let empty = ["commit", "--quiet", "--allow-empty", "-m"];
    trap("free text is refused", !repo.can(&[&empty[..], &["did stuff"]].concat()));
    repo
}

/// A remote that lets nobody push to `main`, and a hook of the user's that says so at length.
pub(crate) fn protected(folder: &Path) -> Repo {
    let remote = folder.join("remote.git");
    let seed = Repo::empty(&folder.join("seed"));
    seed.write("a", "1\n");
    seed.commit("base");
    Repo::at(folder).git(&["init", "--quiet", "--bare", &remote.display().to_string()]);
    seed.git(&["push", "--quiet", &url(&remote), "main"]);
    Repo::at(&remote).git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    let refuse =
        "#!/bin/sh\nwhile read o n r; do [ \"$r\" = refs/heads/main ] && exit 1; done; exit 0\n";
    let hook = remote.join("hooks/pre-receive");
    std::fs::write(&hook, refuse).unwrap();
    executable(&hook);
    let repo = clone(&remote, &folder.join("harbour"), &[]);
    let loud = "#!/bin/sh\nseq 3000 >&2\necho called >>\"$T/pre-push\"\nexit 1\n";
    let hook = repo.root().join(".git/hooks/pre-push");
    std::fs::write(&hook, loud).unwrap();
    executable(&hook);
    let push = ["push", "--quiet", "--no-verify", "origin", "HEAD~0:refs/heads/main"];
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "probe"]);
    trap("the remote refuses", !repo.can(&push));
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo
}

/// The user's checkouts in the worst state: one in a rebase, and the target's with staged, unstaged and untracked
/// work, a stash and a lock that git left behind. The repository of the stage is the latter.
pub(crate) fn dirty(folder: &Path) -> Repo {
    let text = |change: &[(u32, &str)]| -> String {
        (1..=30).fold(String::new(), |mut text, n| {
            let word = change.iter().find(|(at, _)| *at == n).map_or("", |(_, word)| word);
            writeln!(text, "{n}{word}").unwrap();
            text
        })
    };
    let repo = Repo::empty(&folder.join("rebasing"));
    repo.write("f.txt", &text(&[]));
    repo.write("keep.txt", "k\n");
    repo.commit("base");
    repo.git(&["checkout", "--quiet", "-b", "conflicted"]);
    repo.write("f.txt", &text(&[(3, " x")]));
    repo.commit("x");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("f.txt", &text(&[(3, " y")]));
    repo.commit("y");
    repo.write("keep.txt", "stashed\n");
    repo.git(&["stash", "--quiet"]);
    repo.git(&["checkout", "--quiet", "conflicted"]);
    trap("the rebase stops", !repo.can(&["rebase", "--quiet", "main"]));
    trap("a rebase is under way", repo.root().join(".git/rebase-merge").is_dir());
    let place = folder.join("harbour");
    repo.git(&["worktree", "add", "--quiet", &place.display().to_string(), "main"]);
    let target = Repo::at(&place);
    target.write("f.txt", &format!("{}staged\n", text(&[(3, " y")])));
    target.git(&["add", "f.txt"]);
    target.write("keep.txt", "k\nunstaged\n");
    target.write("new.txt", "the user's own\n");
    let lock = target.git(&["rev-parse", "--path-format=absolute", "--git-path", "index.lock"]);
    std::fs::write(lock, "").unwrap();
    trap("the lock is in git's way", !target.can(&["add", "keep.txt"]));
    target
}

/// Twenty thousand files in four hundred folders.
pub(crate) fn many_files(folder: &Path) -> Repo {
    let repo = Repo::empty(&folder.join("harbour"));
    let mut stream = String::from("commit refs/heads/main\n");
    stream.push_str("committer harbour <harbour@example.org> 1700000000 +0000\ndata 4\nbulk\n");
    for n in 0..20_000 {
        let text = format!("file {n}\n{}\n", "x".repeat(n % 97));
        let (path, length) = (format!("d{:03}/f{n:05}.txt", n % 400), text.len());
        writeln!(stream, "M 100644 inline {path}\ndata {length}\n{text}").unwrap();
    }
    import(&repo, stream.as_bytes());
    repo.git(&["reset", "--quiet", "--hard", "main"]);
    trap("20,000 paths", repo.git(&["ls-files"]).lines().count() == 20_000);
    repo
}

fn import(repo: &Repo, stream: &[u8]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(repo.root()).args(["fast-import", "--quiet"]).stdin(Stdio::piped());
    let mut git = git.spawn().unwrap();
    git.stdin.take().unwrap().write_all(stream).unwrap();
    assert!(git.wait().unwrap().success());
}

/// A binary of this many MiB that does not compress, with three versions on a branch `work`.
pub(crate) fn huge(folder: &Path, mib: usize) -> Repo {
    let repo = Repo::empty(&folder.join("harbour"));
    repo.git(&["config", "core.bigFileThreshold", "1m"]);
    repo.git(&["config", "core.compression", "0"]);
    let mut bytes = vec![0; mib << 20];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for chunk in bytes.chunks_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
    let model = repo.root().join("model.bin");
    std::fs::write(&model, &bytes).unwrap();
    repo.commit("v1");
    repo.git(&["checkout", "--quiet", "-b", "work"]);
    for version in ["v2", "v3"] {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].iter_mut().for_each(|byte| *byte ^= 0x5a);
        bytes.rotate_left(1);
        std::fs::write(&model, &bytes).unwrap();
        repo.commit(version);
    }
    repo.git(&["checkout", "--quiet", "main"]);
    let numbers = repo.git(&["diff", "--numstat", "main", "work"]);
    trap("git calls it binary", numbers.starts_with('-'));
    repo
}

/// Lets a script be executed.
pub(crate) fn executable(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
