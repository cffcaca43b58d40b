//! Values of flags: durations, names and run ids, checked before anything else happens.

use std::time::Duration;

use crate::grammar::check_name;

/// The farthest that a priority is from the usual one.
const PRIORITY_MAX: i32 = 1_000;

/// Reads a duration: `500ms`, `30s`, `5m`, `2h`; a bare number is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match tidegate_config::parse_duration(text) {
        Ok(ms) => Ok(Duration::from_millis(ms)),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads an age: `7d` and `2w` beside what a duration says.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 24 * 60 * 60;
    let days = [('d', 1), ('w', 7)].into_iter().find_map(|(unit, days)| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        count.checked_mul(days * DAY)
    });
    days.map(Duration::from_secs).map_or_else(|| duration(text), Ok)
}

/// Reads the id of a project.
pub(crate) fn project(text: &str) -> Result<String, String> {
    named("project", text)
}

/// Reads the name of a lane.
pub(crate) fn lane(text: &str) -> Result<String, String> {
    named("lane", text)
}

/// Reads the name of a launcher.
pub(crate) fn launcher(text: &str) -> Result<String, String> {
    named("launcher", text)
}

/// Reads the id of an ad-hoc run.
pub(crate) fn adhoc(text: &str) -> Result<String, String> {
    named("ad-hoc run id", text)
}

/// Reads the id of an agent.
pub(crate) fn agent(text: &str) -> Result<String, String> {
    named("agent id", text)
}

/// Reads the name of a role.
pub(crate) fn role(text: &str) -> Result<String, String> {
    named("role", text)
}

/// Reads a feature and the path of its spec: `ID=SPEC`.
pub(crate) fn launched(text: &str) -> Result<(String, std::path::PathBuf), String> {
    let (id, path) = text.split_once('=').ok_or("it has the form ID=SPEC")?;
    if path.is_empty() {
        return Err("it names no spec: ID=SPEC".to_owned());
    }
    Ok((feature(id)?, path.into()))
}

/// Reads the id of a feature.
pub(crate) fn feature(text: &str) -> Result<String, String> {
    named("feature id", text)
}

/// Reads the kind of an event.
pub(crate) fn kind(text: &str) -> Result<String, String> {
    named("event kind", text)
}

/// Reads a run id or the beginning of one. Whether such a run exists is asked later.
pub(crate) fn run(text: &str) -> Result<String, String> {
    named("run id", text)
}

/// A text that becomes one part of a path of the API.
///
/// # Errors
/// When it would become more than that.
pub(crate) fn path_part(text: &str) -> Result<&str, crate::error::CliError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !text.is_empty() && text.bytes().all(plain) {
        return Ok(text);
    }
    let message = format!("`{}` is no id", text.escape_debug());
    Err(crate::error::CliError::usage(message))
}

/// Reads a priority.
pub(crate) fn priority(text: &str) -> Result<i32, String> {
    let bad = || format!("it is a whole number from -{PRIORITY_MAX} to {PRIORITY_MAX}");
    let number: i32 = text.parse().map_err(|_| bad())?;
    if number.abs() > PRIORITY_MAX { Err(bad()) } else { Ok(number) }
}

/// Reads the id of a job.
pub(crate) fn job(text: &str) -> Result<String, String> {
    named("job id", text)
}

/// Reads a text that goes into a record: not empty, no control characters, bounded.
pub(crate) fn label(text: &str) -> Result<String, String> {
    const BYTES_MAX: usize = 200;
    if text.is_empty() {
        return Err("it must not be empty".to_owned());
    }
    if text.len() > BYTES_MAX {
        return Err(format!("it has at most {BYTES_MAX} bytes, this one has {}", text.len()));
    }
    if text.chars().any(char::is_control) {
        return Err("control characters are not allowed".to_owned());
    }
    Ok(text.to_owned())
}

fn named(what: &'static str, text: &str) -> Result<String, String> {
    check_name(what, text)?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_of_each_unit_is_read() {
        for (text, ms) in
            [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000), ("0", 0)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
    }

    #[test]
    fn duration_of_another_form_is_refused() {
        for text in ["5abc", "", "-1", "1.5s", "s", "1d", "99999999999999999999"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn name_that_could_leave_its_directory_is_refused() {
        for text in ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "a\nb", "-x", " x", "x.lock"] {
            assert!(lane(text).is_err(), "{text:?}");
            assert!(run(text).is_err(), "{text:?}");
        }
        assert!(lane(&"x".repeat(65)).is_err());
        assert_eq!(lane("main"), Ok("main".to_owned()));
        assert_eq!(run("r000001"), Ok("r000001".to_owned()));
    }

    #[test]
    fn label_with_control_characters_is_refused() {
        assert!(label("two\nlines").is_err());
        assert!(label("").is_err());
        assert!(label("building berths").is_ok());
    }
}
