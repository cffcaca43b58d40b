//! Makes the branches of a train from a seed, and the repository that they begin in.

use super::branch::{Branch, Kind, Numbers, Sign};
use crate::harness::{Dice, Repo};

/// Lines of the shared file between those of two branches.
const APART: usize = 4;

/// The gate of the project: what is used is defined, and once.
pub(super) const CHECK: &str = r#"
awk '/^def /{n[$2]++} /^use /{u[$2]=FILENAME}
  END{for(d in n) if(n[d]>1){print "defined twice: " d; bad=1}
  for(x in u) if(!(x in n)){print u[x] ": undefined: " x; bad=1} exit bad}' src/*"#;

/// What every builder has at hand: `rival COMMANDS` has somebody else land what the commands change, in a clone.
pub(super) const TOOLS: &str = r#"
base=$(git rev-parse HEAD)
rival() { (
    exec 9>"$T/rival.lock"; flock 9; cd "$T/rival"
    git pull --quiet --ff-only; eval "$1"; git add --all
    git commit --quiet --message "of somebody else, before $feature"
    git push --quiet origin HEAD:main
) }
catch_up() { git commit --quiet --allow-empty --message begun; git merge --quiet --no-edit main; }
case $prompt in
    *"merged with the target"*) . "$T/work/$feature.mend" ;;
    *) . "$T/work/$feature.sh" ;;
esac"#;

/// The branches, in the order of their plan.
pub(super) fn branches(numbers: Numbers, dice: &mut Dice) -> Vec<Branch> {
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    kinds.extend((0..numbers.clean).map(|n| (Kind::Clean, n)));
    kinds.extend((0..numbers.conflict).map(|n| (Kind::Conflict, n / 3)));
    kinds.extend((0..numbers.breaks).map(|n| (Kind::Breaks, n / 2)));
    kinds.extend((0..numbers.reverts).map(|n| (Kind::Revert, n)));
    kinds.extend((0..numbers.duplicates).map(|n| (Kind::Duplicate, n)));
    let flavours: Vec<usize> = (0..numbers.sum()).map(|_| dice.index(60)).collect();
    let mends: Vec<bool> = (0..numbers.breaks).map(|_| dice.below(2) == 0).collect();
    dice.shuffle(&mut kinds);
    let mut seen: Vec<(Kind, usize)> = Vec::new();
    let mut made = Vec::new();
    for (at, (kind, group)) in kinds.into_iter().enumerate() {
        let member = seen.iter().filter(|found| **found == (kind, group)).count();
        seen.push((kind, group));
        let id = format!("f{at:02}");
        let flavour = flavours[group];
        made.push(match kind {
            Kind::Clean | Kind::Duplicate => clean(id, kind, group, flavour),
            Kind::Conflict => conflict(id, group, member, flavour),
            Kind::Breaks => breaks(id, group, member, mends[group]),
            Kind::Revert => revert(id, group, flavour),
        });
    }
    made
}

fn branch(id: String, kind: Kind, group: usize, work: String, shows: Sign) -> Branch {
    let mend = ":".to_owned();
    Branch { id, kind, group, work, mend, mends: false, shows, keeps: None }
}

/// A change that meets nobody's. A duplicate has the group of the clean branch whose change it makes.
fn clean(id: String, kind: Kind, n: usize, flavour: usize) -> Branch {
    let (work, shows) = match flavour % 6 {
        0 => {
            let path = format!("new/{n}.txt");
            (format!("mkdir -p new; echo new {n} >{path}"), Sign::Line(path, format!("new {n}")))
        }
        1 | 2 => {
            let line = format!("changed by {n}");
            let sed = format!("sed -i '{}s/.*/{line}/' shared.txt", n * APART + 1);
            (sed, Sign::Line("shared.txt".to_owned(), line))
        }
        3 => {
            let (old, new) = (format!("own/{n}.txt"), format!("moved/{n}.txt"));
            (format!("mkdir -p moved; git mv {old} {new}"), Sign::Moved(old, new))
        }
        4 => (format!("rm own/{n}.txt"), Sign::NoFile(format!("own/{n}.txt"))),
        _ => (format!("chmod +x own/{n}.txt"), Sign::Executable(format!("own/{n}.txt"))),
    };
    branch(id, kind, n, work, shows)
}

/// A change that no other one of its group goes with.
fn conflict(id: String, group: usize, member: usize, flavour: usize) -> Branch {
    let (path, line) = (format!("contested/{group}.txt"), format!("of {id}"));
    let edit = format!("sed -i '2s/.*/{line}/' {path}");
    let (work, shows) = match (flavour % 3, member) {
        (0, _) => {
            let path = format!("contested/new-{group}.txt");
            (format!("echo {line} >{path}"), Sign::Line(path, line))
        }
        (1, 0) => (format!("rm {path}"), Sign::NoFile(path)),
        (_, _) => (edit, Sign::Line(path, line)),
    };
    branch(id, Kind::Conflict, group, work, shows)
}

/// One of a pair: a name that one of them takes away and the other one begins to use, or one that both define.
fn breaks(id: String, group: usize, member: usize, mends: bool) -> Branch {
    let own = format!("src/{id}.txt");
    let (work, shows, mend) = match (group % 2, member) {
        (0, 0) => (
            format!("sed -i 's/ name{group}$/ other{group}/' src/{group}.txt"),
            Sign::Line(format!("src/{group}.txt"), format!("def other{group}")),
            format!("sed -i 's/^use name{group}$/use other{group}/' src/*"),
        ),
        (0, _) => (
            format!("printf 'def {id}\\nuse name{group}\\n' >{own}"),
            Sign::Line(own.clone(), format!("def {id}")),
            format!("sed -i 's/^use name{group}$/use other{group}/' {own}"),
        ),
        (_, _) => (
            format!("printf 'def both{group}\\n# of {id}\\n' >{own}"),
            Sign::Line(own.clone(), format!("# of {id}")),
            format!("sed -i 's/^def both{group}$/def own-{id}/' {own}"),
        ),
    };
    let mut made = branch(id, Kind::Breaks, group, work, shows);
    if mends {
        (made.mend, made.mends) = (mend, true);
    }
    made
}

/// A branch that takes back what somebody landed in its time, and does something of its own, too.
fn revert(id: String, n: usize, flavour: usize) -> Branch {
    let (path, line) = (format!("others/{n}.txt"), format!("landed before {id}"));
    let edit = format!("rival \"sed -i '2s/.*/{line}/' {path}\"");
    let edited = Sign::Line(path.clone(), line.clone());
    let stale = format!("git show \"$base:{path}\" >{path}");
    let (lose, keeps) = match flavour % 6 {
        // A stale copy of the file.
        0 => (format!("{edit}; catch_up; {stale}"), edited),
        // A merge that keeps nothing of the other side.
        1 => (format!("{edit}; git commit --quiet --allow-empty -m begun; git merge --quiet -s ours --no-edit main"), edited),
        // A revert of it.
        2 => (format!("{edit}; catch_up; git revert --no-edit \"$(git log -1 --format=%H main -- {path})\""), edited),
        // A conflict that is resolved to one's own side.
        3 => (
            format!(
                "sed -i '2s/.*/mine/' {path}; git commit --quiet -am mine; {edit}
                 git merge --quiet --no-edit main || {{ git checkout --quiet --ours {path}; git commit --quiet -am merged; }}"
            ),
            edited,
        ),
        // A file of somebody else that is gone again.
        4 => {
            let new = format!("others/new-{n}.txt");
            let add = format!("rival \"echo {line} >{new}\"; catch_up; rm {new}");
            (add, Sign::Line(new, line))
        }
        // One that somebody else had removed, and that is back.
        _ => (format!("rival \"rm {path}\"; catch_up; {stale}"), Sign::NoFile(path)),
    };
    let own = format!("own-of-{id}.txt");
    let work = format!("{lose}\necho own >{own}");
    let mut made = branch(id, Kind::Revert, n, work, Sign::File(own));
    made.keeps = Some(keeps);
    made
}

/// What the branches begin at.
pub(super) fn furnish(repo: &Repo, numbers: Numbers) {
    let three = |what: &str, n: usize| format!("{what} {n}\nsecond\nthird\n");
    for n in 0..numbers.clean {
        repo.write(&format!("own/{n}.txt"), &three("own", n));
    }
    for n in 0..=numbers.conflict / 3 {
        repo.write(&format!("contested/{n}.txt"), &three("contested", n));
    }
    for n in 0..=numbers.breaks / 2 {
        repo.write(&format!("src/{n}.txt"), &format!("def name{n}\nuse name{n}\n"));
    }
    for n in 0..numbers.reverts {
        repo.write(&format!("others/{n}.txt"), &three("others", n));
    }
    let lines: Vec<String> = (0..=numbers.clean * APART).map(|n| format!("line {n}\n")).collect();
    repo.write("shared.txt", &lines.concat());
    repo.commit("the project");
}
