//! The clocks and the boot id, read at each call: nothing here is cached.

use std::io;

use rustix::time::{ClockId, clock_gettime};

/// Wall time in milliseconds since the Unix epoch; before it, 0.
pub(crate) fn wall_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// `CLOCK_MONOTONIC` in milliseconds: stands still while the machine sleeps.
pub(crate) fn mono_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1000 + now.tv_nsec.cast_unsigned() / 1_000_000
}

/// Id of the running kernel's boot.
pub(crate) fn boot_id() -> io::Result<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim().to_owned())
}
