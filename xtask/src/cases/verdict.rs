//! What a case came to, read from what its scenario left: its exit code, its files, its last words.

use std::fmt;
use std::path::Path;

/// Exit code of a scenario about something that the product does not have.
const UNSUPPORTED: i32 = 77;

/// What a case came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// What has to hold does.
    Holds,
    /// The product refuses what the case asks for, with this error code, and nothing has happened.
    Refused(String),
    /// The product has no such thing: why.
    Unsupported(String),
    /// It does not hold: what was seen.
    Fails(String),
}

impl Verdict {
    /// Of a scenario that ended with `code` and left files in `folder`.
    pub(super) fn read(folder: &Path, code: Option<i32>) -> Self {
        let file = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let said = file("err").unwrap_or_default();
        match code {
            Some(UNSUPPORTED) => match file("unsupported") {
                Some(why) => Self::Unsupported(why.trim().to_owned()),
                None => Self::Fails("it says that it is not supported, and not why".to_owned()),
            },
            Some(0) if file("facts").is_none() => {
                Self::Fails("the scenario asserted nothing".to_owned())
            }
            Some(0) => match file("refused") {
                Some(error) => Self::Refused(error.trim().to_owned()),
                None => Self::Holds,
            },
            Some(code) => Self::Fails(complaint(&said).unwrap_or_else(|| format!("exit {code}"))),
            None => Self::Fails(format!("ended by a signal: {}", said.trim())),
        }
    }
}

/// The first complaint: later ones are those of the shells around it.
fn complaint(said: &str) -> Option<String> {
    said.lines().find_map(|line| line.strip_prefix("FAILS: ")).map(str::to_owned)
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::Refused(code) => write!(f, "refused loudly: `{code}`"),
            Self::Unsupported(why) => write!(f, "not supported: {why}"),
            Self::Fails(what) => write!(f, "FAILS: {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    fn verdict(code: Option<i32>, files: &[(&str, &str)]) -> anyhow::Result<Verdict> {
        let folder = tempfile::tempdir()?;
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text)?;
        }
        Ok(Verdict::read(folder.path(), code))
    }

    #[test]
    fn scenario_that_asserted_nothing_does_not_hold() -> anyhow::Result<()> {
        assert!(matches!(verdict(Some(0), &[])?, Verdict::Fails(_)));
        assert_eq!(verdict(Some(0), &[("facts", "gone\n")])?, Verdict::Holds);
        Ok(())
    }

    #[test]
    fn first_complaint_is_what_failed() -> anyhow::Result<()> {
        let said = "noise\nFAILS: state: got 'a'\nFAILS: line 7: x\n";
        let found = verdict(Some(1), &[("facts", "one\n"), ("err", said)])?;
        assert_eq!(found, Verdict::Fails("state: got 'a'".to_owned()));
        assert!(matches!(verdict(None, &[("facts", "one\n")])?, Verdict::Fails(_)));
        Ok(())
    }

    #[test]
    fn refusal_and_what_is_not_supported_carry_their_words() -> anyhow::Result<()> {
        let refused = verdict(Some(0), &[("facts", "f\n"), ("refused", "invalid_plan\n")])?;
        assert_eq!(refused, Verdict::Refused("invalid_plan".to_owned()));
        let missing = verdict(Some(77), &[("unsupported", "no dashboard yet\n")])?;
        assert_eq!(missing, Verdict::Unsupported("no dashboard yet".to_owned()));
        assert!(matches!(verdict(Some(77), &[])?, Verdict::Fails(_)));
        Ok(())
    }
}
