//! Ages and durations in one or two units.

/// A span of time, coarse: `0.4s`, `12s`, `3m05s`, `2h10m`, `4d3h`.
pub(crate) fn age(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{}.{}s", seconds, ms % 1000 / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_of_each_size_is_short() {
        for (ms, text) in [
            (0, "0.0s"),
            (999, "0.9s"),
            (9_999, "9.9s"),
            (10_000, "10s"),
            (59_999, "59s"),
            (185_000, "3m05s"),
            (7_800_000, "2h10m"),
            (356_400_000, "4d3h"),
        ] {
            assert_eq!(age(ms), text);
        }
    }
}
