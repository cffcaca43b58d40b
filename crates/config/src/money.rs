//! Amounts of money in text. It must not know what is paid for.

/// Millionths of what `text` says in whole ones: digits, then at most six more after a point.
pub(crate) fn micros_of(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::micros_of;

    #[test]
    fn amount_is_read_to_the_millionth_and_not_rounded() {
        assert_eq!(micros_of("50"), Some(50_000_000));
        assert_eq!(micros_of("2.50"), Some(2_500_000));
        assert_eq!(micros_of("0.000001"), Some(1));
        for wrong in ["", ".5", "-1", "1e3", "1.0000001", "5 USD", "99999999999999999999"] {
            assert_eq!(micros_of(wrong), None, "{wrong}");
        }
    }
}
