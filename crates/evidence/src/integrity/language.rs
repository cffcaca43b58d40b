//! The language of a file by its name, and how its text is lexed.

/// A family of languages that write tests alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Script,
    Python,
    Go,
    Java,
    Ruby,
    Shell,
}

impl Language {
    /// By the name of a file and, without an extension, its first line.
    pub(super) fn of(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("rs") => Some(Self::Rust),
            Some("js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue") => {
                Some(Self::Script)
            }
            Some("py" | "pyi") => Some(Self::Python),
            Some("go") => Some(Self::Go),
            Some("java" | "kt" | "kts" | "cs" | "scala" | "groovy") => Some(Self::Java),
            Some("rb") => Some(Self::Ruby),
            Some("sh" | "bash" | "bats" | "zsh" | "ksh") => Some(Self::Shell),
            Some(_) | None => Self::of_shebang(text),
        }
    }

    fn of_shebang(text: &str) -> Option<Self> {
        let first = text.lines().next()?.strip_prefix("#!")?;
        if first.contains("python") {
            Some(Self::Python)
        } else if first.contains("node") || first.contains("deno") || first.contains("bun") {
            Some(Self::Script)
        } else if first.contains("ruby") {
            Some(Self::Ruby)
        } else {
            first.contains("sh").then_some(Self::Shell)
        }
    }

    /// Whether blocks are written in braces.
    pub(super) fn has_braces(self) -> bool {
        match self {
            Self::Rust | Self::Script | Self::Go | Self::Java | Self::Shell => true,
            Self::Python | Self::Ruby => false,
        }
    }

    /// Whether `#` begins a comment.
    pub(super) fn has_hash_comments(self) -> bool {
        match self {
            Self::Python | Self::Ruby | Self::Shell => true,
            Self::Rust | Self::Script | Self::Go | Self::Java => false,
        }
    }
}
