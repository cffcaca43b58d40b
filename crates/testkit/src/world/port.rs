//! What the engine hands on: put into a basket, for the world to take after the turn. A basket may
//! be told to break, as a daemon does that is killed while it hands effects on.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::ids::RunId;
use tidegate_core::run::{Effect, EffectKey, Run};
use tidegate_core::time::Now;
use tidegate_daemon::engine::{Chance, Dispatch, Target};

use super::clock::Clocks;
use super::dice::Dice;

/// Unwinds through the engine in place of a SIGKILL.
#[derive(Debug)]
pub(super) struct Killed;

/// One thing that was handed on.
#[derive(Debug)]
pub(super) enum Deed {
    Open(Target, EffectKey, Effect),
    Close(RunId, EffectKey),
    Nudge(RunId),
    Ended(Box<Run>),
}

/// What was handed on and not yet taken.
#[derive(Debug, Default)]
pub(super) struct Basket {
    pub(super) deeds: Vec<Deed>,
    /// The daemon is killed before it hands on one more than these.
    pub(super) breaks_after: Option<u32>,
}

/// The engine's way out.
#[derive(Debug, Clone, Default)]
pub(super) struct Port(pub(super) Rc<RefCell<Basket>>);

impl Port {
    fn put(&self, deed: Deed) {
        let mut basket = self.0.borrow_mut();
        match &mut basket.breaks_after {
            Some(0) => {
                drop(basket);
                std::panic::resume_unwind(Box::new(Killed));
            }
            Some(left) => *left -= 1,
            None => {}
        }
        basket.deeds.push(deed);
    }
}

impl Dispatch for Port {
    fn open(&mut self, target: &Target, key: &EffectKey, effect: Effect) {
        self.put(Deed::Open(target.clone(), key.clone(), effect));
    }

    fn close(&mut self, run: &RunId, key: &EffectKey) {
        self.put(Deed::Close(run.clone(), key.clone()));
    }

    fn nudge(&mut self, run: &RunId) {
        self.put(Deed::Nudge(run.clone()));
    }

    fn ended(&mut self, run: &Run) {
        self.put(Deed::Ended(Box::new(run.clone())));
    }
}

/// The clocks of the world, and a daemon's own chance; may be told to break within a turn, before
/// its commit.
#[derive(Debug)]
pub(super) struct Chances {
    pub(super) clock: Clocks,
    pub(super) dice: Dice,
    pub(super) breaks_after: Option<u32>,
}

impl Chance for Chances {
    fn now(&mut self) -> Now {
        match &mut self.breaks_after {
            Some(0) => std::panic::resume_unwind(Box::new(Killed)),
            Some(left) => *left -= 1,
            None => {}
        }
        Now { wall: self.clock.wall(), boot: self.clock.boot(), entropy: self.dice.bits() }
    }
}
