//! The daemon's reading of the clocks: once per turn of the engine, and for ages shown to people.

use tidegate_core::time::{BootMs, Now, WallMs};

/// Wall time now.
pub(crate) fn wall() -> WallMs {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // A clock before 1970 reads as 1970: it is shown, and decides nothing.
    WallMs(since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
}

/// The boot clock now.
pub(crate) fn boot() -> BootMs {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let ms = now.tv_sec.saturating_mul(1000).saturating_add(now.tv_nsec / 1_000_000);
    BootMs(u64::try_from(ms).unwrap_or(0))
}

/// Both clocks and fresh random bits.
///
/// # Errors
/// When the kernel gives no random bytes.
pub(crate) fn now() -> std::io::Result<Now> {
    Ok(Now { wall: wall(), boot: boot(), entropy: entropy()? })
}

/// 64 fresh random bits.
///
/// # Errors
/// When the kernel gives no random bytes.
pub(crate) fn entropy() -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(u64::from_ne_bytes(bytes))
}
