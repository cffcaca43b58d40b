//! Waiting for conditions: polled until a deadline that only a fault reaches.

use std::time::{Duration, Instant};

/// Longest time that anything is waited for. A loaded machine of two cores is slow, not wrong.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// Lets chance time pass: for faults whose moment is what is random, never for a condition.
pub(crate) fn let_pass(time: Duration) {
    let deadline = Instant::now() + time;
    while Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1).min(time));
    }
}

/// Polls until `look` finds something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LIMIT;
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: not within {} s", LIMIT.as_secs());
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
