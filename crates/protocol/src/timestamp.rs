//! Moments on the wire: RFC 3339 in UTC with milliseconds.

use serde::{Deserialize, Serialize};

/// A moment, such as `2026-01-31T09:15:00.250Z`. Texts sort like the moments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(String);

const DAY_MS: u64 = 86_400_000;

impl Timestamp {
    /// The moment `ms` milliseconds after the Unix epoch. Years beyond 9999 are shown as 9999.
    pub fn from_ms(ms: u64) -> Self {
        let ms = ms.min(253_402_300_799_999);
        let (year, month, day) = civil(ms / DAY_MS);
        let rest = ms % DAY_MS;
        let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
        let (second, milli) = (rest / 1000 % 60, rest % 1000);
        Self(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"))
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Year, month and day of the `days`-th day after 1970-01-01.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamp_of_known_moments_reads_right() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp::from_ms(ms).as_str(), text);
        }
    }
}
