//! What the program of a provider says of itself when it is asked: its version, and whether it has
//! a login. It is the provider's own program that looks at its login, never Tidegate.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use tidegate_daemon::helper::{Helper, run};

/// How long a program may take for an answer. Some load an interpreter and all their modules first.
const PATIENCE: Duration = Duration::from_secs(20);

/// What an answer says of a login.
type Answer = fn(&str) -> Option<bool>;

/// A program to ask, with what its manifest adds to the environment.
pub(super) struct Program<'a> {
    pub(super) path: &'a Path,
    pub(super) env: Vec<(OsString, OsString)>,
}

impl Program<'_> {
    /// Its version, if it says something that looks like one.
    pub(super) fn version(&self) -> Option<String> {
        let (said, _) = self.says(&["--version"])?;
        version_in(&said)
    }

    /// Whether it has a login, if it is a program that can tell.
    pub(super) fn logged_in(&self, program: &str) -> Option<bool> {
        let (words, read): (&[&str], Answer) = match program {
            "claude" => (&["auth", "status"], login_in_json),
            "codex" => (&["login", "status"], login_in_words),
            _ => return None,
        };
        let (said, told) = self.says(words)?;
        read(&said).or_else(|| read(&told))
    }

    /// What it writes to standard output and to standard error.
    fn says(&self, words: &[&str]) -> Option<(String, String)> {
        let argv = std::iter::once(self.path.into()).chain(words.iter().map(OsString::from));
        let output = run(&Helper {
            argv: argv.collect(),
            cwd: "/".into(),
            env: self.env.clone(),
            stdin: Vec::new(),
            source: None,
            sink: None,
            timeout: PATIENCE,
        });
        let output = output.ok().filter(|output| !output.timed_out)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some((text(&output.stdout), text(&output.stderr)))
    }
}

/// The first word of numbers and dots.
fn version_in(said: &str) -> Option<String> {
    const CHARS_MAX: usize = 40;
    let mut words = said.split_whitespace().map(|word| word.trim_start_matches('v'));
    let is_version = |word: &&str| {
        let begins = word.split('.').next().is_some_and(|number| number.parse::<u32>().is_ok());
        let plain = |char: char| char.is_ascii_alphanumeric() || ".-+_".contains(char);
        begins && word.contains('.') && word.len() <= CHARS_MAX && word.chars().all(plain)
    };
    words.find(is_version).map(str::to_owned)
}

fn login_in_json(said: &str) -> Option<bool> {
    serde_json::from_str::<Value>(said).ok()?["loggedIn"].as_bool()
}

fn login_in_words(said: &str) -> Option<bool> {
    let said = said.to_lowercase();
    if said.contains("not logged in") {
        return Some(false);
    }
    said.contains("logged in").then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_first_word_that_looks_like_one() {
        let version = |said| version_in(said);
        assert_eq!(version("2.1.332 (Claude Code)\n"), Some("2.1.332".to_owned()));
        assert_eq!(version("codex-cli 0.171.0"), Some("0.171.0".to_owned()));
        assert_eq!(version("v1.6.0-rc.1"), Some("1.6.0-rc.1".to_owned()));
        assert_eq!(version("error: unknown option"), None);
        assert_eq!(version("3 files. Read them."), None);
        assert_eq!(version("1.\u{1b}[31m"), None);
    }

    #[test]
    fn login_is_told_only_by_an_answer_that_is_one() {
        assert_eq!(login_in_json(r#"{"loggedIn":true}"#), Some(true));
        assert_eq!(login_in_json(r#"{"loggedIn":false}"#), Some(false));
        assert_eq!(login_in_json("unknown command"), None);
        assert_eq!(login_in_words("Not logged in\n"), Some(false));
        assert_eq!(login_in_words("Logged in using ChatGPT"), Some(true));
        assert_eq!(login_in_words("usage: codex"), None);
    }
}
