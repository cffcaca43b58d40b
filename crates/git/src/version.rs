//! The version of the git program. It must not know which feature needs which version, but for the minimum.

use std::fmt;

/// Major, minor and patch number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The oldest that this crate works with: `merge-tree --write-tree` came with it.
    pub const MINIMUM: Self = Self(2, 38, 0);
    /// The first one with `--attr-source`.
    pub(crate) const ATTR_SOURCE: Self = Self(2, 41, 0);

    /// Reads the line that `git version` prints, with any suffix of a vendor.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let word = line.trim().strip_prefix("git version ")?.split_whitespace().next()?;
        let mut parts = word.split('.').map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().ok()
        });
        let major = parts.next()??;
        let minor = parts.next()??;
        let patch = parts.next().flatten().unwrap_or(0);
        Some(Self(major, minor, patch))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_with_suffixes_is_read() {
        for (line, version) in [
            ("git version 2.47.3\n", Some(Version(2, 47, 3))),
            ("git version 2.39.5 (Apple Git-154)", Some(Version(2, 39, 5))),
            ("git version 2.38.0.windows.1", Some(Version(2, 38, 0))),
            ("git version 2.50.0-rc1", Some(Version(2, 50, 0))),
            ("git version 3.0", Some(Version(3, 0, 0))),
            ("hub version 2", None),
        ] {
            assert_eq!(Version::parse(line), version, "{line}");
        }
    }
}
