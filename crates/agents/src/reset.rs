//! When a limit is over, from what an agent says about it.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;
use tidegate_core::time::WallMs;

use crate::classify::pattern_of;
use crate::event::Reset;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MINUTE_MS: u64 = 60 * 1000;

/// Words about a time of day are read this long after it at the most.
const LATE_MS_MAX: u64 = 10 * MINUTE_MS;

/// No wait that is told is longer: what says more is not believed.
const WAIT_MS_MAX: u64 = 40 * DAY_MS;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

type Pattern = LazyLock<Option<Regex>>;

static AFTER: Pattern = LazyLock::new(|| {
    pattern_of(r"retry.{0,3}after[^0-9]{0,12}(?<n>\d{1,9})(\.\d+)?\s*(?<unit>ms|milli|s|m|h|d)?")
        .ok()
});
static IN: Pattern = LazyLock::new(|| {
    pattern_of(r"(again|available|resets?|retry|retrying)\s+(in|after)\s+(about\s+)?(?<list>(\d{1,9}\s*(ms|days?|hours?|h|minutes?|min|m|seconds?|sec|s|d)[\s,]*(and\s+)?)+)").ok()
});
static PART: Pattern =
    LazyLock::new(|| pattern_of(r"(?<n>\d{1,9})\s*(?<unit>ms|d|h|min|m|s)").ok());
static EPOCH: Pattern = LazyLock::new(|| pattern_of(r"\|(?<n>\d{10})\b").ok());
static ISO: Pattern = LazyLock::new(|| {
    pattern_of(r"\b(?<y>\d{4})-(?<mo>\d\d)-(?<d>\d\d)[t ](?<h>\d\d):(?<mi>\d\d)(:(?<s>\d\d))?(\.\d+)?(z|(?<sign>[+-])(?<oh>\d\d):?(?<om>\d\d))").ok()
});
static DATE: Pattern = LazyLock::new(|| {
    pattern_of(r"\bat (?<mon>[a-z]{3}) (?<d>\d{1,2})(st|nd|rd|th)?,? (?<y>\d{4}),? (?<h>\d{1,2}):(?<mi>\d\d)\s*(?<half>am|pm)?").ok()
});
static CLOCK: Pattern = LazyLock::new(|| {
    pattern_of(r"(again|resets?|available) at (?<h>\d{1,2})(:(?<mi>\d\d))?\s*(?<half>am|pm)?").ok()
});

/// What a text says. `offset_s`: how far the clocks there are ahead of UTC, in seconds.
pub(crate) fn of_text(text: &str, offset_s: i32) -> Reset {
    let find = |pattern: &'static Pattern| pattern.as_ref().and_then(|regex| regex.captures(text));
    if let Some(found) = find(&AFTER) {
        return wait(part_ms(&found));
    }
    if let Some(found) = find(&IN) {
        let parts = PART.as_ref().into_iter().flat_map(|part| part.captures_iter(&found["list"]));
        return wait(parts.filter_map(|part| part_ms(&part)).reduce(u64::saturating_add));
    }
    if let Some(found) = find(&EPOCH) {
        return number(&found, "n").map_or(Reset::Untold, |s| Reset::At(WallMs(s * 1000)));
    }
    if let Some(found) = find(&ISO) {
        return iso(&found).map_or(Reset::Untold, Reset::At);
    }
    if let Some(found) = find(&DATE) {
        return date(&found, offset_s).map_or(Reset::Untold, Reset::At);
    }
    let clock = find(&CLOCK).and_then(|found| minutes(&found));
    clock.map_or(Reset::Untold, Reset::Clock)
}

/// What a value says: seconds or milliseconds of the epoch, or a time in ISO 8601.
pub(crate) fn of_value(value: &Value) -> Reset {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(s) if s < 100_000_000_000 => Reset::At(WallMs(s * 1000)),
            Some(ms) => Reset::At(WallMs(ms)),
            None => Reset::Untold,
        },
        Value::String(text) => {
            let found = ISO.as_ref().and_then(|regex| regex.captures(text));
            found.and_then(|found| iso(&found)).map_or(Reset::Untold, Reset::At)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Reset::Untold,
    }
}

/// The moment that is meant, told at `told`. One that has passed, or is too far off, is none.
pub(crate) fn resolve(reset: Reset, told: WallMs, offset_s: i32) -> Option<WallMs> {
    let at = match reset {
        Reset::Untold => return None,
        Reset::In(ms) => told.0.saturating_add(ms),
        Reset::At(at) => at.0,
        Reset::Clock(minutes) => {
            let local = i128::from(told.0) + i128::from(offset_s) * 1000;
            let day = i128::from(DAY_MS);
            let wanted = i128::from(minutes) * i128::from(MINUTE_MS);
            let passed = (local - wanted).rem_euclid(day);
            // Without seconds, the minute that is on is not tomorrow's: its end is meant. Nor is one
            // that was over before the words were read, which may come late.
            let (minute, late) = (i128::from(MINUTE_MS), i128::from(LATE_MS_MAX));
            let ahead = if passed < minute {
                minute - passed
            } else if passed < late {
                minute
            } else {
                day - passed
            };
            told.0.saturating_add(u64::try_from(ahead).ok()?)
        }
    };
    (at > told.0 && at - told.0 <= WAIT_MS_MAX).then_some(WallMs(at))
}

fn wait(ms: Option<u64>) -> Reset {
    ms.map_or(Reset::Untold, Reset::In)
}

fn number(found: &Captures<'_>, name: &str) -> Option<u64> {
    found.name(name)?.as_str().parse().ok()
}

fn part_ms(found: &Captures<'_>) -> Option<u64> {
    let unit = found.name("unit").map_or_else(String::new, |unit| unit.as_str().to_lowercase());
    let factor = match unit.as_str() {
        "ms" | "milli" => 1,
        "m" | "min" => MINUTE_MS,
        "h" => 60 * MINUTE_MS,
        "d" => DAY_MS,
        _ => 1000,
    };
    Some(number(found, "n")?.saturating_mul(factor))
}

fn minutes(found: &Captures<'_>) -> Option<u32> {
    let hour = u32::try_from(number(found, "h")?).ok()?;
    let minute = u32::try_from(number(found, "mi").unwrap_or(0)).ok()?;
    let half = found.name("half").map(|half| half.as_str().to_lowercase());
    let hour = match half.as_deref() {
        Some("am") => hour % 12,
        Some(_) => hour % 12 + 12,
        None => hour,
    };
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn iso(found: &Captures<'_>) -> Option<WallMs> {
    let days = days(number(found, "y")?, number(found, "mo")?, number(found, "d")?)?;
    let (hour, minute) = (number(found, "h")?, number(found, "mi")?);
    let second = number(found, "s").unwrap_or(0);
    let mut at = i64::try_from(days * 86_400 + hour * 3_600 + minute * 60 + second).ok()?;
    if let Some(sign) = found.name("sign") {
        let ahead = number(found, "oh")? * 3_600 + number(found, "om")? * 60;
        let ahead = i64::try_from(ahead).ok()?;
        at -= if sign.as_str() == "-" { -ahead } else { ahead };
    }
    u64::try_from(at).ok().map(|s| WallMs(s * 1000))
}

fn date(found: &Captures<'_>, offset_s: i32) -> Option<WallMs> {
    let named = found["mon"].to_lowercase();
    let month = MONTHS.iter().position(|month| **month == named)? as u64 + 1;
    let days = days(number(found, "y")?, month, number(found, "d")?)?;
    let local = i64::try_from(days * 86_400).ok()? + i64::from(minutes(found)?) * 60;
    u64::try_from(local - i64::from(offset_s)).ok().map(|s| WallMs(s * 1000))
}

/// Days of a date since 1970, by the calendar's own arithmetic.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March have their leap day last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    (of_years + (153 * month + 2) / 5 + day - 1).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 November 2026, 14:46:54 UTC.
    const TOLD: WallMs = WallMs(1_796_050_014_000);

    fn wait_s(text: &str, offset_s: i32) -> Option<u64> {
        resolve(of_text(text, offset_s), TOLD, offset_s).map(|at| (at.0 - TOLD.0) / 1000)
    }

    #[test]
    fn waits_are_read_in_the_words_that_agents_use() {
        for (text, expected) in [
            ("Suggested retry after 90s.", Some(90)),
            ("retry-after: 3600", Some(3_600)),
            ("Retry-After 1500 ms", Some(1)),
            ("try again in 2 hours, 30 minutes", Some(9_000)),
            ("Please try again in 1m30s.", Some(90)),
            ("resets in 5 min", Some(300)),
            ("Claude AI usage limit reached|1796053614", Some(3_600)),
            ("limit resets at 2026-11-30T15:46:54Z", Some(3_600)),
            ("until 2026-11-30T16:46:54.123+01:00", Some(3_600)),
            ("or try again at 3:46 PM.", Some(3_546)),
            ("try again at 2:46 PM.", Some(6)),
            ("try again at 2:45 PM.", Some(60)),
            ("try again at 2:36 PM.", Some(85_746)),
            ("resets at 4pm", Some(4_386)),
            ("try again at Dec 1st, 2026 2:46 PM.", Some(86_346)),
            ("try again later", None),
            ("resets at 2020-01-01T00:00:00Z", None),
            ("retry after 999999999 days", None),
        ] {
            assert_eq!(wait_s(text, 0), expected, "{text}");
        }
    }

    #[test]
    fn a_time_of_day_is_that_of_the_clocks_there() {
        assert_eq!(wait_s("try again at 4:46 PM", 3_600), Some(3_546));
        assert_eq!(wait_s("try again at 12:46 PM", -7_200), Some(6));
        assert_eq!(wait_s("try again at 12:36 PM", -7_200), Some(85_746));
        assert_eq!(wait_s("try again at Nov 30th, 2026 4:46 PM", 3_600), Some(3_546));
    }

    #[test]
    fn values_are_times_in_either_unit() {
        let soon = Some(WallMs(TOLD.0 + 60_000));
        for value in [
            Value::from(1_796_050_074_u64),
            Value::from(1_796_050_074_000_u64),
            "2026-11-30T14:47:54Z".into(),
        ] {
            assert_eq!(resolve(of_value(&value), TOLD, 0), soon, "{value}");
        }
        assert_eq!(of_value(&Value::from(-1)), Reset::Untold);
    }
}
