//! What simulated agents tell: drawn from the names of their jobs alone, as a real stream would be
//! read again after a crash, with the same answer.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::JobId;
use tidegate_core::manifest::{Emit, EventRule, Manifest, SessionRule, StreamForm};
use tidegate_core::plan::PlanSpec;
use tidegate_core::run::Run;
use tidegate_core::time::WallMs;
use tidegate_core::told::{Class, Outcome, Told, Usage};

use super::dice::Dice;

/// The manifest of an agent whose stream tells, and whose conversations are resumed.
fn manifest() -> Manifest {
    let completed = EventRule {
        when: Vec::new(),
        emit: Emit::Completed,
        text: None,
        status: None,
        delay_ms: None,
        until: None,
        name: None,
        id: None,
        class: None,
        usage: None,
    };
    Manifest {
        provider: Some("simulated".to_owned()),
        stream: StreamForm::Jsonl,
        session: SessionRule { given: true, when: Vec::new(), key: Some("id".to_owned()) },
        resume: vec!["scribe".to_owned(), "{session}".to_owned()],
        events: vec![completed],
        ..Manifest::default()
    }
}

/// Lets the streams of half of all plans' agents tell.
pub(super) fn draw(spec: &mut PlanSpec, dice: &mut Dice) {
    if dice.percent(50) {
        for agent in spec.agents.values_mut() {
            agent.manifest = manifest();
        }
    }
}

/// What the agent of a job told by its end; `None` where nothing but its exit code tells.
pub(super) fn told(run: &Run, id: &JobId, exit: &Exit) -> Option<Told> {
    run.manifest_of(id).filter(|manifest| manifest.judges())?;
    let job = run.jobs.get(id)?;
    let seed = job
        .nonce
        .bytes()
        .fold(7_u64, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3).wrapping_add(u64::from(byte)));
    let mut dice = Dice::new(seed);
    let ended = exit.reason == Reason::Exited;
    let failed = |class| Outcome::Failed(class);
    let outcome = match dice.below(30) {
        _ if !ended => Outcome::Unknown,
        0 | 1 => failed(Class::RateLimit),
        2 => failed(Class::UsageLimit),
        3 => failed(Class::Auth),
        4 => failed(Class::Server),
        5 => failed(Class::TooLong),
        6 => Outcome::Unknown,
        7 => Outcome::Limit,
        _ if exit.is_success() => Outcome::Completed,
        _ => failed(Class::Other),
    };
    let resumed = job.session.as_ref().is_some_and(|session| session.resumed);
    let reset = WallMs(exit.at.0.saturating_add(dice.between(0, 90_000)));
    Some(Told {
        session: job.session.as_ref().and_then(|session| session.id.clone()),
        outcome,
        detail: None,
        reset: dice.percent(70).then_some(reset),
        usage: Usage { input: 10, cached: 0, output: 1, cost_micros: None },
        cumulative: dice.percent(30),
        gone: resumed && outcome == Outcome::Unknown && dice.percent(30),
    })
}
