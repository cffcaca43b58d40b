//! The environment that git gets. It must not know which operation it is for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Variables of git itself that pass: they say who the user is and where the user's configuration lies, nothing else.
const KEPT: [&str; 7] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// Set for every call: no question can ever be asked, and messages are in the one language that is parsed.
const FIXED: [(&str, &str); 7] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GIT_EDITOR", ":"),
    ("GIT_SEQUENCE_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// A user's environment without what could lead git astray.
///
/// Dropped are all variables `GIT_*` (but identity and the place of the configuration), `LC_*`, `LANGUAGE`, and
/// everything of ours (`TIDEGATE_*`: hooks have no business with a job's token), and what a service manager told the
/// daemon alone (`NOTIFY_SOCKET`, `WATCHDOG_*`). The rest passes, because hooks and
/// ssh need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The environment of this process.
    pub fn inherited() -> Self {
        Self::of(std::env::vars_os())
    }

    /// An environment that was recorded elsewhere, for instance the client's at submit.
    pub fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut variables: BTreeMap<_, _> =
            variables.into_iter().filter(|(name, _)| passes(name)).collect();
        for (name, value) in FIXED {
            variables.insert(name.into(), value.into());
        }
        Self { variables }
    }

    /// The whole, with `extra` on top.
    pub(crate) fn with(&self, extra: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let mut all = self.variables.clone();
        all.extend(extra.iter().cloned());
        all.into_iter().collect()
    }
}

fn passes(name: &OsStr) -> bool {
    if KEPT.iter().any(|kept| name == OsStr::new(kept)) {
        return true;
    }
    let name = name.as_bytes();
    !(name.starts_with(b"GIT_")
        || name.starts_with(b"LC_")
        || name.starts_with(b"TIDEGATE_")
        || name.starts_with(b"WATCHDOG_")
        || name == b"NOTIFY_SOCKET"
        || name == b"LANGUAGE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_drops_what_redirects_git_and_keeps_the_user() {
        let given = [
            ("HOME", "/h"),
            ("SSH_AUTH_SOCK", "/s"),
            ("GIT_DIR", "/evil"),
            ("GIT_INDEX_FILE", "/evil"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_AUTHOR_NAME", "Ada"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("TIDEGATE_TOKEN", "t"),
        ];
        let environment =
            Environment::of(given.iter().map(|(name, value)| (name.into(), value.into())));
        let all = environment.with(&[]);
        let get = |name: &str| all.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        assert_eq!(get("HOME"), Some("/h".into()));
        assert_eq!(get("SSH_AUTH_SOCK"), Some("/s".into()));
        assert_eq!(get("GIT_AUTHOR_NAME"), Some("Ada".into()));
        assert_eq!(get("LC_ALL"), Some("C".into()));
        assert_eq!(get("GIT_TERMINAL_PROMPT"), Some("0".into()));
        for gone in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT", "TIDEGATE_TOKEN"] {
            assert_eq!(get(gone), None, "{gone}");
        }
    }
}
