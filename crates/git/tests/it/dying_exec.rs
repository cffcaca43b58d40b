//! Runs programs until a chosen one, at which the caller "dies": nothing works any more.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate_git::{Call, Done, Ending, Exec, StdExec};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    BeforeCall,
    AfterCall,
}

pub(crate) struct DyingExec {
    at: usize,
    moment: Moment,
    calls: AtomicUsize,
}

impl DyingExec {
    pub(crate) fn new(at: usize, moment: Moment) -> Self {
        Self { at, moment, calls: AtomicUsize::new(0) }
    }

    pub(crate) fn died(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > self.at
    }
}

impl Exec for DyingExec {
    fn exec(&self, call: &Call) -> io::Result<Done> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        if number == self.at && self.moment == Moment::AfterCall {
            StdExec.exec(call)?;
        }
        if number >= self.at {
            return Err(io::Error::other("the caller is dead"));
        }
        StdExec.exec(call)
    }
}

/// Does something else in the place of each fast-forward, which then looks killed.
pub(crate) struct KilledForward<F>(pub(crate) F);

impl<F: Fn() + Send + Sync> Exec for KilledForward<F> {
    fn exec(&self, call: &Call) -> io::Result<Done> {
        if call.argv.iter().any(|argument| argument == "--ff-only") {
            self.0();
            return Ok(Done {
                ending: Ending::Signalled(9),
                stdout: Vec::new(),
                stderr: Vec::new(),
            });
        }
        StdExec.exec(call)
    }
}

/// Does something just before the target's ref is moved.
pub(crate) struct BeforeSwap<F>(pub(crate) F);

impl<F: Fn() + Send + Sync> Exec for BeforeSwap<F> {
    fn exec(&self, call: &Call) -> io::Result<Done> {
        if call.argv.iter().any(|argument| argument == "update-ref") {
            self.0();
        }
        StdExec.exec(call)
    }
}

/// Answers every call in the same way.
pub(crate) struct Canned(pub(crate) fn() -> io::Result<Done>);

impl Exec for Canned {
    fn exec(&self, _call: &Call) -> io::Result<Done> {
        (self.0)()
    }
}
