//! How long the next attempt of a failed job waits. A function of the policy, the failures so far
//! and names alone: the same after every restart, and spread over the jobs that fail together.

use crate::limits;
use crate::time::{BootMs, WallMs};

/// How retries are spread in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Wait before the second retry, in milliseconds; it doubles from one to the next. The first
    /// retry comes at once.
    pub backoff_ms: u64,
    /// The longest wait, in milliseconds.
    pub backoff_ms_max: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self { backoff_ms: limits::BACKOFF_MS, backoff_ms_max: limits::BACKOFF_MS_MAX }
    }
}

/// A wait before the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Its end, on the boot clock.
    pub until: BootMs,
    /// Its length, in milliseconds.
    pub ms: u64,
    /// Its end as far as the wall clock told, for people.
    pub about: WallMs,
}

impl Wait {
    /// What is left of it, in milliseconds. A clock that is farther from its end than it is long is
    /// the clock of another boot: nothing is left then.
    pub fn left_ms(&self, now: BootMs) -> u64 {
        let left = self.until.0.saturating_sub(now.0);
        if left > self.ms { 0 } else { left }
    }
}

impl Retry {
    /// The wait after the n-th failure of a job that is named by `name`, in milliseconds.
    pub fn wait_ms(&self, failures: u32, name: &str) -> u64 {
        let Some(doublings) = failures.checked_sub(2) else { return 0 };
        let factor = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
        let whole = self.backoff_ms.saturating_mul(factor).min(self.backoff_ms_max);
        let half = whole / 2;
        whole - spread(name, failures) % (half + 1)
    }
}

/// A number that names give, the same for good and evenly spread (FNV-1a).
pub(super) fn spread(name: &str, number: u32) -> u64 {
    let bytes = name.bytes().chain(number.to_le_bytes());
    let mixed = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Its low bits alone are those of the last bytes.
    mixed ^ (mixed >> 32)
}
