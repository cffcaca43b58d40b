//! A scene without a fault: how it ends, and which fail points it comes to after which moment.

use std::collections::BTreeMap;

use super::audit;
use super::fault::Moment;
use super::follow::Follower;
use super::matrix;
use super::play;
use super::scene::Scene;

/// An undisturbed run.
pub(super) struct Calm {
    /// The tree of the target at its end.
    pub(super) tree: String,
    /// How often each point is come to after a moment, in all processes together.
    pub(super) points: BTreeMap<Moment, BTreeMap<String, u64>>,
}

/// Plays a scene without a fault.
pub(super) fn calm(scene: Scene) -> Calm {
    let stage = scene.stage();
    let trace = stage.home.beside("trace");
    play::start_traced(&stage, &trace);
    let run = scene.submit(&stage, None);
    let length = || std::fs::metadata(&trace).unwrap().len();
    let mut marks = vec![(Moment::Start, 0)];
    let followers: Vec<_> = matrix::moments(scene)
        .into_iter()
        .map(|at| (at, Follower::of(&stage.home, &run)))
        .collect();
    for (moment, follower) in &followers {
        assert!(follower.until(moment), "{scene}: {moment:?} does not come\n{}", stage.story(&run));
        marks.push((moment.clone(), length()));
    }
    drop(followers);
    scene.attend(&stage, &run, None);
    let document = stage.home.ended(&run);
    let status = match scene {
        Scene::Plan
        | Scene::Off
        | Scene::Journal
        | Scene::Reconciled
        | Scene::Furnished
        | Scene::Tended => "completed",
        Scene::Silent | Scene::Crewed | Scene::Attached => "failed",
        Scene::Cancelled => "cancelled",
    };
    assert_eq!(document["status"], status, "{document:#}\n{}", stage.story(&run));
    let tree = audit::tree(&stage);
    scene.clear(&stage, &run, None);
    stage.home.run(&["daemon", "stop"]).ends_with(0);
    let text = std::fs::read_to_string(&trace).unwrap();
    let mut points = BTreeMap::new();
    for (moment, from) in marks {
        let mut counts = BTreeMap::new();
        for name in text[usize::try_from(from).unwrap()..].lines() {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
        points.insert(moment, counts);
    }
    audit::everything(stage, &run);
    Calm { tree, points }
}
