//! Features that join a plan run under way.

use std::collections::BTreeMap;

use tidegate_core::run::{Added, Event, FeatureState, Input, Rejected, Run, step};

use crate::fixture::{NOW, Shape, cancel, fid, plan_run, take, waves};
use crate::pipeline::{building, feature};

/// Features like one of the run's own.
pub(crate) fn added(run: &Run, ids: &[&str]) -> Input {
    let (spec, _) = run.plan().unwrap();
    let mut like = spec.features.values().next().unwrap().clone();
    like.needs.clear();
    let features: BTreeMap<_, _> = ids.iter().map(|id| (fid(id), like.clone())).collect();
    let added = Box::new(Added { features, ..Added::default() });
    Input::AddFeatures { added, actor: "ann".to_owned() }
}

fn refused(run: &Run, input: &Input) -> Rejected {
    step(run, input, NOW).unwrap_err()
}

#[test]
fn features_join_the_wave_that_is_open_and_the_log_tells_the_same() {
    let mut run = building(&Shape { waves: waves(&[&["a"], &["b"]]), ..Shape::default() });
    let before = run.clone();
    let input = added(&run, &["z", "m"]);
    let told = take(&mut run, &input);
    let Some(Event::FeaturesAdded { wave: 1, .. }) = told.first() else { panic!("{told:?}") };
    let (spec, plan) = run.plan().unwrap();
    assert_eq!(spec.waves[0].features, [fid("a"), fid("m"), fid("z")]);
    assert_eq!(spec.waves[1].features, [fid("b")]);
    assert_eq!(plan.features.len(), 4);
    assert_eq!(feature(&run, "m").state, FeatureState::Queued);
    let mut replayed = before;
    for event in &told {
        replayed.apply(event);
    }
    assert_eq!(replayed, run);
}

#[test]
fn features_join_nothing_that_waits_ends_or_has_them() {
    let waiting = plan_run(&Shape::default());
    assert!(matches!(refused(&waiting, &added(&waiting, &["z"])), Rejected::NotWhile(_)));
    let run = building(&Shape::default());
    assert!(matches!(refused(&run, &added(&run, &["z", "a"])), Rejected::Already(_)));
    assert!(matches!(refused(&run, &added(&run, &[])), Rejected::Unknown(_)));
    let mut ending = run;
    take(&mut ending, &cancel());
    assert!(matches!(refused(&ending, &added(&ending, &["z"])), Rejected::NotWhile(_)));
}
