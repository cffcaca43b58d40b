//! A feature that fails with the same tree for the same reason is stopped before its iterations end.

use tidegate_core::evidence::Evidence;
use tidegate_core::run::{Block, CommitOutcome, FeatureState, Run};

use crate::fixture::{
    Shape, capture_all, exited, fid, job_finished, job_left, kinds, newest, take, waves,
};
use crate::matrix::{begin_gate, commit, ready, slot, tested};
use crate::pipeline::{building, feature};

fn shape(same_max: u32) -> Shape {
    Shape { waves: waves(&[&["a"]]), iterations_max: 9, same_max, ..Shape::default() }
}

/// The builder leaves this tree, and its gate fails with this digest. What followed, and the next
/// builder is at work where there is one.
fn fail(run: &mut Run, tree: u32, digest: Option<&str>) -> Vec<&'static str> {
    let job = newest(run);
    take(run, &job_finished(job, exited(0)));
    capture_all(run);
    let input = commit(run, CommitOutcome::Commit(tested(tree)));
    take(run, &input);
    begin_gate(run);
    let gate = newest(run);
    let digest = digest.map(str::to_owned);
    let left = Evidence { digest, ..Evidence::default() };
    let told = kinds(&take(run, &job_left(gate, exited(1), Some(left))));
    if !matches!(feature(run, "a").state, FeatureState::Blocked(_)) {
        take(run, &slot());
        take(run, &ready());
    }
    told
}

fn is_stuck(run: &Run) -> Option<u32> {
    match &feature(run, "a").state {
        FeatureState::Blocked(Block::NoProgress { times, .. }) => Some(*times),
        _ => None,
    }
}

#[test]
fn same_tree_and_same_error_so_often_stop_the_feature_with_a_typed_block() {
    let mut run = building(&shape(3));
    for _ in 0..2 {
        let told = fail(&mut run, 10, Some("d"));
        assert_eq!(told.last(), Some(&"iteration-failed"));
    }
    let told = fail(&mut run, 10, Some("d"));
    assert_eq!(told[told.len() - 2..], ["iteration-failed", "feature-blocked"]);
    assert_eq!(is_stuck(&run), Some(3));
}

#[test]
fn another_tree_or_another_error_or_an_unknown_one_counts_anew() {
    for (tree, digest) in [(11, Some("d")), (10, Some("e")), (10, None)] {
        let mut run = building(&shape(2));
        fail(&mut run, 10, Some("d"));
        fail(&mut run, tree, digest);
        assert_eq!(is_stuck(&run), None, "{tree} {digest:?}");
        fail(&mut run, 10, Some("d"));
        assert_eq!(is_stuck(&run), None, "it was not in a row");
    }
}

#[test]
fn without_a_bound_nothing_stops_it() {
    let mut run = building(&shape(0));
    for _ in 0..8 {
        fail(&mut run, 10, Some("d"));
        assert_eq!(is_stuck(&run), None);
    }
}

#[test]
fn builders_that_leave_no_change_do_not_get_on_either() {
    let mut run = building(&shape(2));
    for _ in 0..2 {
        let job = newest(&run);
        take(&mut run, &job_finished(job, exited(0)));
        capture_all(&mut run);
        let input = commit(&run, CommitOutcome::NoChange(tested(1)));
        take(&mut run, &input);
        if is_stuck(&run).is_none() {
            take(&mut run, &slot());
            take(&mut run, &ready());
        }
    }
    assert_eq!(is_stuck(&run), Some(2));
}

#[test]
fn retry_of_a_stuck_feature_counts_from_its_beginning() {
    let mut run = building(&shape(2));
    fail(&mut run, 10, Some("d"));
    fail(&mut run, 10, Some("d"));
    let (feature_id, actor) = (fid("a"), "ann".to_owned());
    let retry = tidegate_core::run::Input::RetryFeature { feature: feature_id, actor };
    take(&mut run, &retry);
    take(&mut run, &slot());
    take(&mut run, &ready());
    assert_eq!(feature(&run, "a").iteration, 1);
    assert!(feature(&run, "a").feedback.is_some(), "its builder is told what failed");
    fail(&mut run, 10, Some("d"));
    assert_eq!(is_stuck(&run), None);
}
