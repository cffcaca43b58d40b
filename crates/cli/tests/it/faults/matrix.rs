//! All faults: every point that a scene comes to, at several hits and moments, and every victim from
//! outside at every moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::elsewhere;
use super::fault::{Fault, Kill, Moment, Point};
use super::scene::Scene;
use super::trace::Calm;
use super::victim::Victim;

/// Hits of a point in one process that are tried, as far as it is come to so often.
const HITS: &[u64] = &[1, 3];
/// Beginnings of the names of points that a process comes to once.
const ONCE: &[&str] = &["shim.", "child.", "started.", "daemon.start.", "store.epoch.", "cli."];

/// The moments of a scene at which a daemon is exchanged for one with a fault, or somebody kills.
pub(super) fn moments(scene: Scene) -> Vec<Moment> {
    let list: &[(&str, usize)] = match scene {
        Scene::Off => &[("landing-intended", 1)],
        Scene::Cancelled => &[("submitted", 1)],
        Scene::Plan => &[
            ("submitted", 1),
            ("worktree-ready", 1),
            ("job-started", 2),
            ("committed", 1),
            ("gate-failed", 1),
            ("merge-prepared", 1),
            ("landing-intended", 1),
            ("landed", 1),
            ("landed", 3),
        ],
        Scene::Journal => &[("submitted", 1), ("launcher-started", 1), ("progress", 1)],
        Scene::Silent => &[("submitted", 1), ("launcher-started", 1)],
        Scene::Crewed => &[("submitted", 1), ("launcher-started", 1), ("agent-registered", 1)],
        Scene::Reconciled => &[("conflict-found", 1), ("landing-intended", 2)],
        Scene::Furnished => &[("submitted", 1), ("landing-intended", 1)],
        Scene::Tended | Scene::Attached => &[],
    };
    list.iter().map(|(kind, number)| Moment::event(kind, *number)).collect()
}

/// Moments from which points are armed: the exchange of the daemon takes a while, so later ones of
/// short scenes would find nothing left.
fn is_armed_at(scene: Scene, moment: &Moment, name: &str) -> bool {
    // Which job comes first to a point of its shim, the moment alone decides.
    let late: &[&str] = if is_once(name) {
        &["committed#1", "gate-failed#1", "landing-intended#1", "landed#3"]
    } else {
        &["gate-failed#1", "landed#3"]
    };
    match moment {
        Moment::Start => scene != Scene::Off || name.starts_with("git."),
        Moment::Event { kind, number } => {
            scene == Scene::Plan && late.contains(&format!("{kind}#{number}").as_str())
        }
    }
}

fn is_once(name: &str) -> bool {
    ONCE.iter().any(|start| name.starts_with(start))
}

/// Points that are come to only after a kill at another one.
const AFTER: &[(&str, &str)] = &[
    ("git.forward.after_merge", "git.forward.before_recover"),
    ("git.forward.after_merge", "git.forward.after_recover"),
    ("git.forward_record.after_write", "git.forward.before_recover"),
    ("git.worktree.after_add", "git.worktree.before_discard"),
    ("git.worktree.after_add", "git.worktree.after_discard"),
    ("git.worktree.after_checkout", "git.worktree.before_readopt"),
    ("git.worktree.after_mark", "git.worktree.after_readopt"),
    ("shim.after_release", "sweep.before_kill"),
    ("shim.after_release", "sweep.after_kill"),
    ("store.commit.before_commit", "store.epoch.after_commit"),
    ("store.commit.after_commit", "daemon.start.after_lock"),
    ("store.highwater.before_sync", "store.highwater.after_sync"),
    ("daemon.dispatch.before_hand_on", "daemon.dispatch.after_hand_on"),
    ("git.merge.after_commit", "store.commit.after_commit"),
    ("git.commit.after_commit", "git.commit.before_commit"),
    ("spawner.before_spawn", "started.before_link"),
    ("spawner.after_spawn", "shim.before_lock"),
    ("started.after_link", "jobdir.before_write_spec"),
    ("shim.before_rename_exit", "spawner.after_spawn"),
];

/// The same in the scene that lays a conflict out.
const AFTER_CONFLICT: &[(&str, &str)] = &[
    ("git.conflict_record.after_write", "git.conflict.before_undo"),
    ("git.conflict_record.after_write", "git.conflict.after_undo"),
];

/// The pairs of points of a scene.
fn after(scene: Scene) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let (pairs, fits): (&[_], fn(&str) -> bool) = match scene {
        Scene::Plan => (AFTER, |_| true),
        Scene::Cancelled => (AFTER, |first| !first.starts_with("git.")),
        Scene::Reconciled => (AFTER_CONFLICT, |_| true),
        Scene::Off
        | Scene::Journal
        | Scene::Silent
        | Scene::Crewed
        | Scene::Furnished
        | Scene::Tended
        | Scene::Attached => (&[], |_| true),
    };
    pairs.iter().filter(move |(first, _)| fits(first))
}

fn victims(scene: Scene) -> &'static [Victim] {
    match scene {
        Scene::Off | Scene::Furnished => &[Victim::Daemon, Victim::Git],
        Scene::Reconciled => &[Victim::Daemon, Victim::Agent, Victim::Git, Victim::Everything],
        Scene::Tended | Scene::Attached => &[],
        Scene::Cancelled => &[Victim::Daemon, Victim::Shim, Victim::Everything],
        Scene::Plan => &[
            Victim::Daemon,
            Victim::Shim,
            Victim::Agent,
            Victim::Gate,
            Victim::Git,
            Victim::Everything,
        ],
        Scene::Journal | Scene::Silent => {
            &[Victim::Daemon, Victim::Shim, Victim::Launcher, Victim::Everything]
        }
        Scene::Crewed => &[
            Victim::Daemon,
            Victim::Shim,
            Victim::Launcher,
            Victim::Registered,
            Victim::Everything,
        ],
    }
}

/// Every fault, in a fixed order.
pub(super) fn all(calm: &BTreeMap<Scene, Calm>) -> Vec<Fault> {
    let mut all = BTreeSet::new();
    let mut earlier = BTreeSet::new();
    for (scene, calm) in calm {
        let point = |name: &str, hit| Point { name: name.to_owned(), hit };
        let own = |name: &String| !scene.is_for_its_own_points() || !earlier.contains(name);
        for (moment, counts) in &calm.points {
            let armed = |name: &String| is_armed_at(*scene, moment, name) && own(name);
            for (name, count) in counts.iter().filter(|(name, _)| armed(name)) {
                let hits =
                    HITS.iter().filter(|hit| **hit == 1 || (!is_once(name) && *hit <= count));
                let kills = hits.map(|hit| Kill::Points(vec![point(name, *hit)]));
                all.extend(kills.map(|kill| Fault { scene: *scene, moment: moment.clone(), kill }));
            }
        }
        let pairs = after(*scene).map(|(a, b)| Kill::Points(vec![point(a, 1), point(b, 1)]));
        all.extend(pairs.map(|kill| Fault { scene: *scene, moment: Moment::Start, kill }));
        earlier.extend(calm.points.values().flat_map(BTreeMap::keys).cloned());
        for moment in moments(*scene) {
            all.extend(victims(*scene).iter().map(|victim| Fault {
                scene: *scene,
                moment: moment.clone(),
                kill: Kill::Outside(*victim),
            }));
        }
    }
    all.into_iter().collect()
}

/// Every fail point is in a scene or in the list of those that are not. Which points an undisturbed scene comes to
/// hangs on who is first in places: what is missing is looked for in scenes that `again` plays, twice at most.
///
/// # Panics
/// When one is not, or when a scene comes to one that nobody comes to by the list.
pub(super) fn is_whole(calm: &BTreeMap<Scene, Calm>, again: impl Fn() -> BTreeMap<Scene, Calm>) {
    let mut reached = reached(calm);
    let after: BTreeSet<&str> =
        Scene::ALL.iter().flat_map(|scene| after(*scene)).map(|(_, second)| *second).collect();
    let known = points();
    let listed = elsewhere::points(&known);
    let missing = |reached: &BTreeSet<String>| -> Vec<String> {
        let elsewhere = |name: &str| after.contains(name) || listed.contains(name);
        known.difference(reached).filter(|name| !elsewhere(name)).cloned().collect()
    };
    for _ in 0..2 {
        if missing(&reached).is_empty() {
            break;
        }
        println!("points: looked for once more: {:?}", missing(&reached));
        reached.extend(self::reached(&again()));
    }
    println!(
        "points: {} of {} are come to without a fault, {} after one, {} elsewhere",
        reached.len(),
        known.len(),
        after.iter().filter(|name| !reached.contains(**name)).count(),
        listed.len(),
    );
    assert!(reached.is_subset(&known), "{reached:?}");
    let missing = missing(&reached);
    assert!(
        missing.is_empty(),
        "no scene comes to, and faults/elsewhere.rs does not list: {missing:?}"
    );
    let never: Vec<_> = reached.iter().filter(|name| elsewhere::is_never(name)).collect();
    assert!(
        never.is_empty(),
        "nobody comes to by faults/elsewhere.rs, and a scene does: {never:?}"
    );
}

fn reached(calm: &BTreeMap<Scene, Calm>) -> BTreeSet<String> {
    calm.values().flat_map(|calm| calm.points.values()).flat_map(BTreeMap::keys).cloned().collect()
}

/// Every fail point of the workspace's sources.
fn points() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in std::fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            scan(&source, &mut names);
        }
    }
    names
}

fn scan(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scan(&path, names);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let calls = text.split("fail_point!(").skip(1);
            let found =
                calls.filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
            names.extend(found.filter(|name| name.contains('.')).map(str::to_owned));
        }
    }
}
