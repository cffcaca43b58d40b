//! What Tidegate adds to a feature: against the same git commands by hand, and with agents that take their time.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::row::Row;
use super::samples::{Samples, time};
use crate::site::Place;
use crate::site::quietly;

const ROUNDS: usize = 7;

/// What one feature does, by hand: a worktree, a commit, a clean checkout for the gate, a merge, another clean checkout,
/// the branch moved, both removed.
const BY_HAND: &str = r"
set -e
base=$(git rev-parse main)
git worktree add --quiet --no-track -b hand-$1 ../hand-$1 $base
(cd ../hand-$1 && echo $1 >file-$1 && git add --all && git commit --quiet --message $1)
git worktree add --quiet --detach ../gate-$1 hand-$1
(cd ../gate-$1 && true)
tree=$(git merge-tree --write-tree main hand-$1)
merged=$(git commit-tree -p main -p hand-$1 -m merge $tree)
git -C ../gate-$1 checkout --quiet --detach $merged
(cd ../gate-$1 && true)
git merge --quiet --ff-only $merged
git worktree remove --force ../gate-$1
git worktree remove --force ../hand-$1
";

/// One instant feature, and four that take three seconds each.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let place = bench.place()?;
    write(&place, "instant", &[("one", "true")])?;
    place.verb(&["config", "trust"])?;
    place.daemon()?;
    let mut round = 0;
    let ours = Samples::take(ROUNDS, || {
        round += 1;
        write(&place, "instant", &[("one", &format!("echo {round} >one.txt"))])?;
        time(|| run(&place, "instant"))
    })?;
    let by_hand = Samples::take(ROUNDS, || {
        round += 1;
        let mut hand = Command::new("sh");
        hand.args(["-c", BY_HAND, "sh", &round.to_string()]).current_dir(place.repository());
        time(|| quietly(&mut hand))
    })?;
    let slow: Vec<(String, String)> =
        (1..=4).map(|n| (format!("slow{n}"), format!("sleep 3; echo {n} >slow{n}.txt"))).collect();
    let slow: Vec<(&str, &str)> = slow.iter().map(|(id, job)| (&id[..], &job[..])).collect();
    write(&place, "slow", &slow)?;
    let four = time(|| run(&place, "slow"))?;
    let bar = by_hand.median() + Duration::from_millis(600);
    Ok(vec![
        Row::at_most("one feature, instant agent, landed", ours.median(), bar, "by hand + 0.6 s"),
        Row::info("the same git commands by hand", by_hand),
        Row::at_most("four features of 3 s agents", four, Duration::from_millis(4500), "4.5 s"),
    ])
}

fn run(place: &Place, plan: &str) -> Result<()> {
    let answer = place.verb(&["submit", &format!("{plan}.toml")])?;
    place.wait(&crate::site::run_id(&answer)?)
}

/// Writes a plan whose features are shell texts. They stand in the prompt, so that the config stays the same.
fn write(place: &Place, name: &str, features: &[(&str, &str)]) -> Result<()> {
    std::fs::write(
        place.file("tidegate.toml"),
        "target = \"main\"\n[agent.shell]\nargv = [\"sh\"]\nprompt = \"stdin\"\n\
         [role.builder]\nagent = \"shell\"\n[gate.test]\nargv = [\"true\"]\n\
         [landing]\nmerge_gates = [\"test\"]\n",
    )?;
    let mut plan = format!("title = \"{name}\"\n[[wave]]\nname = \"only\"\n");
    for (id, prompt) in features {
        let feature = format!("id = \"{id}\"\nprompt = '''{prompt}'''\ngates = [\"test\"]\n");
        plan.push_str("[[wave.feature]]\n");
        plan.push_str(&feature);
    }
    std::fs::write(place.file(&format!("{name}.toml")), plan)?;
    Ok(())
}
