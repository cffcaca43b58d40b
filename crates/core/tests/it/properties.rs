//! Properties of plan runs in a world that does its worst.

use proptest::prelude::*;
use tidegate_core::admission::Caps;
use tidegate_core::budget::{Budget, Budgets};
use tidegate_core::plan::{CollisionPolicy, IntegrityPolicy, OnFailure, ReviewPolicy, Role};
use tidegate_core::run::{Job, Plan, Purpose, Run, Work};

use crate::fixture::{Shape, config, plan_spec, submitted};
use crate::plan_world::World;
use crate::tape::Tape;

/// A plan of up to three waves, whose features may need any of those before them.
fn shape() -> impl Strategy<Value = Shape> {
    let feature = prop::collection::vec(any::<prop::sample::Index>(), 0..3);
    let wave = prop::collection::vec(feature, 1..4);
    let waves = prop::collection::vec(wave, 1..4);
    let policy = (0..3_u8, 0..16_u8, any::<bool>(), any::<bool>(), any::<bool>());
    let bounds = (1..4_u32, 1..4_u32, 1..4_u32);
    (waves, 0..5_usize, 0..5_usize, policy, bounds).prop_map(
        |(drawn, gates, merge_gates, (reviewed, roles, go_on, allow_no_change, hooks), bounds)| {
            let mut before: Vec<String> = Vec::new();
            let mut waves = Vec::new();
            for wave in drawn {
                let mut features = Vec::new();
                for needs in wave {
                    let id = format!("f{}", before.len());
                    let mut needs: Vec<String> = needs
                        .iter()
                        .filter(|_| !before.is_empty())
                        .map(|need| need.get(&before).clone())
                        .collect();
                    needs.dedup();
                    before.push(id.clone());
                    features.push((id, needs));
                }
                waves.push(features);
            }
            let review = match reviewed {
                0 => ReviewPolicy::Auto,
                1 => ReviewPolicy::Person,
                _ => ReviewPolicy::Agent,
            };
            let crew = crew_of(roles, review);
            let collisions = COLLISIONS[usize::from(roles) % 3];
            let on_failure = if go_on { OnFailure::Continue } else { OnFailure::Stop };
            let (iterations_max, attempts_max, active_max) = bounds;
            Shape {
                waves,
                gates,
                merge_gates,
                review,
                integrity: INTEGRITY[usize::from(roles) % 3],
                kinds: std::collections::BTreeMap::new(),
                same_max: if roles % 5 == 4 { 2 } else { 0 },
                collisions,
                crew,
                on_failure,
                allow_no_change,
                iterations_max,
                attempts_max,
                active_max,
                hooks,
                budgets: budgets(roles),
                locks: if roles % 2 == 0 { vec!["db"] } else { Vec::new() },
            }
        },
    )
}

/// Every third world has budgets that are soon used up.
fn budgets(dice: u8) -> Budgets {
    let few = Budget { attempts: Some(3), ..Budget::default() };
    match dice % 9 {
        2 => Budgets { feature: few, ..Budgets::default() },
        5 => Budgets { run: few, ..Budgets::default() },
        _ => Budgets::default(),
    }
}

const INTEGRITY: [IntegrityPolicy; 3] =
    [IntegrityPolicy::Off, IntegrityPolicy::Note, IntegrityPolicy::Person];

const COLLISIONS: [CollisionPolicy; 3] =
    [CollisionPolicy::Serialise, CollisionPolicy::Reject, CollisionPolicy::Allow];

/// The roles that the bits choose, and the reviewer where one is needed.
fn crew_of(bits: u8, review: ReviewPolicy) -> Vec<Role> {
    let roles = [Role::Planner, Role::Qa, Role::Reconciler];
    let chosen = (0..).zip(roles).filter(|(at, _)| bits & (1 << at) != 0).map(|(_, role)| role);
    let reviewer = (review == ReviewPolicy::Agent).then_some(Role::Reviewer);
    chosen.chain(reviewer).collect()
}

fn run_of(seq: usize, shape: &Shape) -> Run {
    let spec = plan_spec(shape);
    let state = Plan::new(&spec);
    Run::from_submitted(&submitted(seq as u64, Work::Plan { spec, state }))
}

proptest! {
    #![proptest_config(config(96))]

    /// Every oracle holds at every step, and every run ends.
    #[test]
    fn plan_runs_in_a_bad_world_keep_their_promises(
        shapes in prop::collection::vec(shape(), 1..4),
        features in 1..5_u32,
        gates in 1..4_u32,
        tape in prop::collection::vec(any::<u8>(), 0..900),
    ) {
        let runs = shapes.iter().enumerate().map(|(n, shape)| run_of(n + 1, shape)).collect();
        World::new(runs, Caps { features, gates }, Tape::new(tape)).live();
    }

    /// Without any trouble everything lands, and nothing is tried twice.
    #[test]
    fn plan_runs_in_a_calm_world_complete_at_the_first_attempt(
        shapes in prop::collection::vec(shape(), 1..4),
        features in 1..5_u32,
    ) {
        let runs = shapes.iter().enumerate().map(|(n, shape)| run_of(n + 1, shape)).collect();
        let mut world = World::new(runs, Caps { features, gates: 2 }, Tape::new(Vec::new()));
        world.live();
        for run in &world.runs {
            prop_assert_eq!(run.status.word(), "completed");
            // What qa changed passes its gates once more.
            let once = |job: &Job| job.attempt == 1 || matches!(job.purpose, Purpose::Gate { .. });
            prop_assert!(run.jobs.values().all(once));
        }
        prop_assert!(!world.log(0).is_empty());
    }
}

/// The model is of use only if its stories are not all alike.
#[test]
fn bad_worlds_between_them_meet_every_fact_of_a_plan_run() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..1_400_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let bytes = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        });
        let (review, on_failure) = match seed % 3 {
            0 => (ReviewPolicy::Auto, OnFailure::Stop),
            1 => (ReviewPolicy::Person, OnFailure::Continue),
            _ => (ReviewPolicy::Agent, OnFailure::Continue),
        };
        let crew = crew_of(u8::try_from(seed % 16).unwrap(), review);
        let collisions = COLLISIONS[usize::try_from(seed % 5).unwrap() % 3];
        let integrity = INTEGRITY[usize::try_from(seed % 7).unwrap() % 3];
        let waves = crate::fixture::waves(&[&["a", "b"], &["c"]]);
        let shape = Shape {
            waves,
            review,
            on_failure,
            crew,
            collisions,
            integrity,
            allow_no_change: seed % 4 == 0,
            hooks: seed % 8 == 7,
            budgets: budgets(u8::try_from(seed % 9).unwrap()),
            locks: if seed % 6 == 1 { vec!["db"] } else { Vec::new() },
            gates: 1 + usize::try_from(seed % 3).unwrap(),
            ..Shape::default()
        };
        // Short trouble lets a story go far, long trouble lets more of it happen.
        let trouble = 100 + 100 * usize::try_from(seed % 11).unwrap();
        let tape = Tape::new(bytes.take(trouble).collect());
        let caps = Caps { features: 2, gates: 1 + u32::try_from(seed % 2).unwrap() };
        let mut world = World::new(vec![run_of(1, &shape)], caps, tape);
        world.live();
        seen.extend(world.log(0).iter().map(tidegate_core::run::Event::kind));
    }
    let seen: Vec<&str> = seen.into_iter().collect();
    insta::assert_snapshot!(seen.join("\n"));
}
