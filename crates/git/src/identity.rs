//! Whose name is on a commit. It must not know what is committed.

use crate::error::{GitError, Result};
use crate::repo::Repo;

/// Name and address of an author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name.
    pub name: String,
    /// Address, without angle brackets.
    pub email: String,
    /// Whether the user configured it.
    pub source: IdentitySource,
}

/// Where an [`Identity`] comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentitySource {
    /// From git's configuration or environment.
    Configured,
    /// Nothing is configured, and git's guess from the host name is not taken; [`Identity::fallback`].
    Fallback,
}

impl Identity {
    /// What is used when the user configured nothing: `Tidegate <tidegate@localhost>`. A container without any
    /// configuration can so still land work, and the commits say plainly that nobody put a name to them.
    pub fn fallback() -> Self {
        Self {
            name: "Tidegate".to_owned(),
            email: "tidegate@localhost".to_owned(),
            source: IdentitySource::Fallback,
        }
    }

    /// Variables that put it, and a fixed time in Unix seconds, on a commit.
    pub(crate) fn variables(&self, when_unix_s: i64) -> [(&'static str, String); 6] {
        let date = format!("@{when_unix_s} +0000");
        [
            ("GIT_AUTHOR_NAME", self.name.clone()),
            ("GIT_AUTHOR_EMAIL", self.email.clone()),
            ("GIT_AUTHOR_DATE", date.clone()),
            ("GIT_COMMITTER_NAME", self.name.clone()),
            ("GIT_COMMITTER_EMAIL", self.email.clone()),
            ("GIT_COMMITTER_DATE", date),
        ]
    }
}

impl Repo {
    /// The user's identity as git would use it here, or the fallback when none is configured.
    ///
    /// # Errors
    /// What a call can give.
    pub fn identity(&self) -> Result<Identity> {
        let doing = "asking for the user's identity";
        let done = self
            .read(doing)
            .global("-c")
            .global("user.useConfigOnly=true")
            .args(["var", "GIT_AUTHOR_IDENT"])
            .done()?;
        if !done.success() {
            return Ok(Identity::fallback());
        }
        // `Name <address> seconds zone`
        let text = String::from_utf8_lossy(&done.stdout);
        let (name, rest) = text.split_once(" <").ok_or(GitError::Unparsable { doing })?;
        let (email, _) = rest.split_once('>').ok_or(GitError::Unparsable { doing })?;
        Ok(Identity {
            name: name.to_owned(),
            email: email.to_owned(),
            source: IdentitySource::Configured,
        })
    }
}
