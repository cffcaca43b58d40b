//! Durations as users write them: `500ms`, `30s`, `5m`, `2h`; a bare number is seconds.

/// Why a text is not a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDuration {
    /// Neither a number nor a number with a unit.
    #[error("a duration is a whole number with ms, s, m or h, such as 500ms, 30s, 5m or 2h")]
    Form,
    /// More milliseconds than fit.
    #[error("the duration is too long")]
    TooLong,
}

/// Reads a duration, in milliseconds.
///
/// # Errors
/// [`InvalidDuration`] when the text has another form or the value does not fit.
pub fn parse_duration(text: &str) -> Result<u64, InvalidDuration> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim_start() {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err(InvalidDuration::Form),
    };
    if number.is_empty() {
        return Err(InvalidDuration::Form);
    }
    let number: u64 = number.parse().map_err(|_| InvalidDuration::TooLong)?;
    number.checked_mul(factor).ok_or(InvalidDuration::TooLong)
}

/// Writes milliseconds in the largest unit that is exact.
pub fn format_duration(ms: u64) -> String {
    match ms {
        0 => "0s".to_owned(),
        _ if ms.is_multiple_of(3_600_000) => format!("{}h", ms / 3_600_000),
        _ if ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        _ if ms.is_multiple_of(1_000) => format!("{}s", ms / 1_000),
        _ => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::{InvalidDuration, format_duration, parse_duration};

    #[test]
    fn duration_of_each_unit_is_read() {
        for (text, ms) in [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000)] {
            assert_eq!(parse_duration(text), Ok(ms), "{text}");
            assert_eq!(format_duration(ms), text);
        }
        assert_eq!(parse_duration("7"), Ok(7_000));
    }

    #[test]
    fn duration_of_another_form_is_refused() {
        for text in ["", "s", "1.5h", "-1s", "1d", "5 minutes", "1h30m", "٣s"] {
            assert_eq!(parse_duration(text), Err(InvalidDuration::Form), "{text}");
        }
        assert_eq!(parse_duration("99999999999999999999h"), Err(InvalidDuration::TooLong));
        assert_eq!(parse_duration("9999999999999999999h"), Err(InvalidDuration::TooLong));
    }
}
