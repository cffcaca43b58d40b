//! Moments in documents: stamps and ages. It looks at no clock.

use tidegate_core::time::{BootMs, Now, WallMs};
use tidegate_protocol::Timestamp;

/// For deriving: no timer and no chance of what is derived is ever kept.
pub(super) fn derived(at: WallMs) -> Now {
    Now { wall: at, boot: BootMs(0), entropy: 0 }
}

/// On the wire.
pub(super) fn stamp(at: WallMs) -> Timestamp {
    Timestamp::from_ms(at.0)
}

/// Time from `at` to `now`, in milliseconds; 0 when the clock was set back in between.
pub(super) fn age(now: WallMs, at: WallMs) -> u64 {
    now.0.saturating_sub(at.0)
}
