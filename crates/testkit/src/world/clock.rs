//! The clocks of a simulated host: one true time, and what the kernel tells of it.

use tidegate_core::time::{BootMs, WallMs};

/// Where wall time begins, in milliseconds since the Unix epoch.
const BEGIN: u64 = 1_790_000_000_000;
/// A day in milliseconds: how far the wall clock jumps.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// All clocks of the host.
#[derive(Debug, Clone)]
pub(super) struct Clocks {
    /// True time since the beginning, in milliseconds.
    now: u64,
    /// When the kernel was started.
    booted: u64,
    /// What the wall clock is ahead of true time.
    ahead: i64,
}

impl Clocks {
    pub(super) fn new() -> Self {
        Self { now: 0, booted: 0, ahead: 0 }
    }

    pub(super) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn advance_to(&mut self, at: u64) {
        self.now = self.now.max(at);
    }

    pub(super) fn wall(&self) -> WallMs {
        WallMs((BEGIN + self.now).saturating_add_signed(self.ahead))
    }

    pub(super) fn boot(&self) -> BootMs {
        BootMs(self.now - self.booted)
    }

    pub(super) fn reboot(&mut self) {
        self.booted = self.now;
    }

    /// A day ahead, or a day back; never more than a day off, so that no answer gets too old.
    pub(super) fn jump(&mut self, ahead: bool) {
        let by = if ahead { DAY } else { -DAY };
        self.ahead = (self.ahead + by).clamp(-DAY, DAY);
    }
}
