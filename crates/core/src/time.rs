//! Moments, as plain numbers that are handed in: nothing here reads a clock.

/// Wall time in milliseconds since the Unix epoch. It is shown; it decides nothing but resets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WallMs(pub u64);

/// Milliseconds on `CLOCK_BOOTTIME`; comparable only within one boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BootMs(pub u64);

impl BootMs {
    /// This moment and `ms` milliseconds more.
    #[must_use]
    pub fn after_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// What one turn of the engine knows of time and chance. Read once per turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Wall time, for records.
    pub wall: WallMs,
    /// Boot clock, for timers.
    pub boot: BootMs,
    /// 64 random bits, fresh for every input.
    pub entropy: u64,
}
