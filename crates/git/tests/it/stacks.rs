//! Several features on one target, in one stack.

use std::collections::BTreeMap;

use tidegate_git::{MergeOutcome, NoChangeReason, Oid, Probe, StackMember, StackRequest, Strategy};

use crate::sandbox::{Sandbox, WHEN, merge_request};

fn member(name: &str, branch_tip: &Oid, strategy: Strategy) -> StackMember {
    let (name, message) = (name.to_owned(), format!("Merge feature {name}"));
    StackMember { name, branch_tip: branch_tip.clone(), strategy, message }
}

#[test]
fn stack_holds_what_merges_leaves_out_what_does_not_and_lands_up_to_the_offender() {
    let sandbox = Sandbox::new();
    let target = sandbox.oid("main");
    let one = sandbox.branch("one", "main", &[("one.txt", Some("1\n"))]);
    let two = sandbox.branch("two", "main", &[("a.txt", Some("two\n"))]);
    let rival = sandbox.branch("rival", "main", &[("a.txt", Some("rival\n"))]);
    let three = sandbox.branch("three", "main", &[("three.txt", Some("3\n"))]);
    let request = StackRequest {
        target_tip: target.clone(),
        members: vec![
            member("one", &one, Strategy::Merge),
            member("two", &two, Strategy::Squash),
            member("rival", &rival, Strategy::Merge),
            member("old", &target, Strategy::Merge),
            member("three", &three, Strategy::Rebase),
        ],
        when_unix_s: WHEN,
        identity: merge_request(&target, &one).identity,
        keep_as: Some("refs/tidegate/batch/1".into()),
    };
    let before = sandbox.picture();
    let repo = sandbox.repo();
    let stack = repo.stack(&request).unwrap();
    assert_eq!(repo.stack(&request).unwrap(), stack);
    assert_eq!(sandbox.picture(), before);
    let names: Vec<_> = stack.layers.iter().map(|layer| &*layer.name).collect();
    assert_eq!(names, ["one", "two", "three"]);
    let mut below = target;
    for layer in &stack.layers {
        assert_eq!(layer.onto, below);
        assert!(repo.is_ancestor(&below, &layer.commit).unwrap());
        below = layer.commit.clone();
    }
    assert_eq!(repo.resolve("refs/tidegate/batch/1").unwrap(), Some(below.clone()));
    let names = sandbox.git(&["ls-tree", "-r", "--name-only", below.as_str()]);
    assert_eq!(names, "a.txt\none.txt\nsrc/lib.txt\nthree.txt");
    let [(rival, conflict), (old, nothing)] = &stack.left_out[..] else { panic!() };
    assert_eq!((&**rival, &**old), ("rival", "old"));
    assert!(matches!(conflict, MergeOutcome::Conflict { .. }));
    assert_eq!(*nothing, MergeOutcome::NoChange { why: NoChangeReason::AlreadyMerged });
    let verdicts = BTreeMap::from([
        (stack.layers[2].commit.clone(), false),
        (stack.layers[0].commit.clone(), true),
        (stack.layers[1].commit.clone(), false),
    ]);
    assert_eq!(stack.probe(&verdicts), Probe::Offender(&stack.layers[1]));
    assert_eq!(stack.landable(&verdicts), Some(&stack.layers[0]));
}
