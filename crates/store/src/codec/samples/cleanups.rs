//! Samples of the facts of clean-ups.
#![expect(clippy::unwrap_used, reason = "tests")]

use tidegate_core::cleanup::{CleanupEnd, CleanupScope, Kept, Proof, Removal, Restoration, Thing};
use tidegate_core::home::HomeEvent;
use tidegate_core::ids::{FeatureId, Oid, ProjectId, RunId};
use tidegate_core::time::WallMs;

/// Things of every kind, proved in every way.
pub(crate) fn home_events() -> Vec<HomeEvent> {
    let project = || ProjectId::new("harbour").unwrap();
    let run = || RunId::new("r000001abcd").unwrap();
    let scope = CleanupScope {
        project: Some(project()),
        run: Some(run()),
        ended_before: Some(WallMs(5)),
        jobs_before: WallMs(4),
        delete: true,
    };
    let kinds = [
        (Thing::Worktree, Proof::Branch),
        (Thing::Worktree, Proof::Gone),
        (Thing::Branch, Proof::Ancestor),
        (Thing::Branch, Proof::PatchId),
        (Thing::Branch, Proof::Tree),
        (Thing::Ref, Proof::Derived),
        (Thing::Checkout, Proof::Derived),
        (Thing::Job, Proof::Recorded),
        (Thing::Snapshots, Proof::Tree),
    ];
    let removal = |(at, (what, proof)): (usize, (Thing, Proof))| HomeEvent::RemovalProved {
        number: 7,
        removal: Box::new(Removal {
            what,
            name: format!("thing {at}"),
            project: project(),
            run: (what != Thing::Checkout).then(run),
            feature: FeatureId::new("berths").ok().filter(|_| what == Thing::Worktree),
            proof,
            commit: Oid::new("a".repeat(40)).filter(|_| what == Thing::Branch),
            snapshot: (what == Thing::Worktree).then_some(3),
        }),
    };
    let kept = Kept {
        what: Thing::Branch,
        name: "refs/heads/tidegate/x".into(),
        project: project(),
        run: Some(run()),
        why: "it has a commit that the target has not".into(),
    };
    let end = CleanupEnd { kept: vec![kept], kept_more: 2, deleted: Some(run()) };
    let mut all = vec![
        HomeEvent::CleanupAsked { number: 7, scope, actor: "user".into(), at: WallMs(6) },
        HomeEvent::CleanupAsked {
            number: 8,
            scope: CleanupScope::default(),
            actor: "user".into(),
            at: WallMs(6),
        },
        HomeEvent::RestoreAsked {
            number: 9,
            restoration: Restoration {
                run: run(),
                feature: FeatureId::new("berths").unwrap(),
                snapshot: 2,
            },
            actor: "user".into(),
            at: WallMs(6),
        },
        HomeEvent::RestoreEnded { number: 9, failure: None },
        HomeEvent::RestoreEnded { number: 9, failure: Some("no room".into()) },
        HomeEvent::CleanupEnded { number: 7, end },
        HomeEvent::CleanupEnded { number: 8, end: CleanupEnd::default() },
    ];
    all.extend(kinds.into_iter().enumerate().map(removal));
    all
}
