//! Shapes whose history is hard: two merge bases, none in sight, no commit at all.

use std::path::Path;

use super::yards::{clone, trap};
use crate::harness::Repo;

fn lines(count: u32, change: &[(u32, &str)]) -> String {
    let line = |n: u32| {
        let word = change.iter().find(|(at, _)| *at == n).map(|(_, word)| *word);
        word.map_or_else(|| format!("{n}\n"), |word| format!("{n} {word}\n"))
    };
    (1..=count).map(line).collect()
}

/// Two branches that took each other's work: they have two merge bases.
pub(crate) fn criss_cross(folder: &Path) -> Repo {
    let repo = Repo::empty(&folder.join("harbour"));
    repo.write("berths.txt", &lines(40, &[]));
    repo.commit("base");
    repo.git(&["branch", "feature"]);
    repo.write("berths.txt", &lines(40, &[(5, "main")]));
    repo.commit("main one");
    let main = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "--quiet", "feature"]);
    repo.write("berths.txt", &lines(40, &[(30, "feature")]));
    repo.commit("feature one");
    let feature = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["merge", "--quiet", "--no-ff", "-m", "feature takes main", &main]);
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-ff", "-m", "main takes feature", &feature]);
    repo.write("berths.txt", &lines(40, &[(5, "main"), (30, "feature"), (10, "main")]));
    repo.commit("main two");
    repo.git(&["checkout", "--quiet", "feature"]);
    repo.write("berths.txt", &lines(40, &[(5, "main"), (30, "feature"), (20, "feature")]));
    repo.commit("feature two");
    repo.git(&["checkout", "--quiet", "main"]);
    let bases = repo.git(&["merge-base", "--all", "main", "feature"]);
    trap("two merge bases", bases.lines().count() == 2);
    repo
}

/// No commit yet, another branch than `main`, an empty remote and one draft.
pub(crate) fn unborn(folder: &Path) -> Repo {
    let remote = folder.join("remote.git");
    Repo::at(folder).git(&["init", "--quiet", "--bare", &remote.display().to_string()]);
    let repo = Repo::empty(&folder.join("harbour"));
    repo.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    repo.git(&["remote", "add", "origin", &super::yards::url(&remote)]);
    repo.write("idea.txt", "draft\n");
    trap("HEAD leads nowhere", !repo.can(&["rev-parse", "--verify", "--quiet", "HEAD"]));
    repo
}

/// No local branch: a detached head on a tag, with one commit that no ref holds.
pub(crate) fn detached(folder: &Path) -> Repo {
    let source = Repo::empty(&folder.join("source"));
    for n in 1..=3 {
        source.write("version.txt", &format!("{n}\n"));
        source.commit(&format!("version {n}"));
    }
    source.git(&["tag", "v1", "HEAD~1"]);
    let repo = clone(source.root(), &folder.join("harbour"), &[]);
    repo.git(&["checkout", "--quiet", "--detach", "v1"]);
    repo.git(&["branch", "--quiet", "-D", "main"]);
    repo.git(&["remote", "set-head", "origin", "--delete"]);
    repo.write("local.txt", "held by no ref\n");
    repo.commit("held by no ref");
    trap("no local branch", repo.git(&["for-each-ref", "refs/heads"]).is_empty());
    trap("HEAD is detached", !repo.can(&["symbolic-ref", "--quiet", "HEAD"]));
    repo
}

/// A clone of depth one, beside whose tip there is a branch from further back.
pub(crate) fn shallow(folder: &Path) -> Repo {
    let source = Repo::empty(&folder.join("source"));
    for n in 1..=6 {
        source.write(&format!("f{n}.txt"), &format!("{n}\n"));
        source.commit(&format!("commit {n}"));
    }
    source.git(&["checkout", "--quiet", "-b", "feature", "HEAD~3"]);
    source.write("feature.txt", "feature\n");
    source.commit("feature");
    source.git(&["checkout", "--quiet", "main"]);
    // A landing goes to the remote, whose own checkout does not matter here.
    source.git(&["config", "receive.denyCurrentBranch", "ignore"]);
    let flags = ["--depth", "1", "--no-single-branch"];
    let repo = clone(source.root(), &folder.join("harbour"), &flags);
    repo.git(&["branch", "--quiet", "feature", "origin/feature"]);
    trap("it is shallow", repo.git(&["rev-parse", "--is-shallow-repository"]) == "true");
    trap("no merge base is in sight", !repo.can(&["merge-base", "main", "feature"]));
    repo
}
