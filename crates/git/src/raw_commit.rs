//! A commit object as git stores it, taken apart and put together byte for byte. It must not know why one is made again.

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::identity::Identity;
use crate::repo::Repo;

const DOING: &str = "reading a commit";

/// What a commit says, apart from its place in the history. Signatures are not kept: they would be void.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawCommit {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    /// Name, address, seconds and zone, in the commit's own encoding.
    author: Vec<u8>,
    encoding: Option<Vec<u8>>,
    message: Vec<u8>,
}

impl RawCommit {
    /// Its first line, for people.
    pub(crate) fn subject(&self) -> String {
        let line = self.message.split(|b| *b == b'\n').find(|line| !line.is_empty());
        String::from_utf8_lossy(line.unwrap_or_default()).into_owned()
    }

    /// The object of the same author and message on other parents, with another tree and committer.
    fn rewritten(&self, tree: &Oid, parent: &Oid, committer: &[u8]) -> Vec<u8> {
        let mut bytes = format!("tree {tree}\nparent {parent}\nauthor ").into_bytes();
        bytes.extend_from_slice(&self.author);
        bytes.extend_from_slice(b"\ncommitter ");
        bytes.extend_from_slice(committer);
        bytes.push(b'\n');
        if let Some(encoding) = &self.encoding {
            bytes.extend_from_slice(b"encoding ");
            bytes.extend_from_slice(encoding);
            bytes.push(b'\n');
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.message);
        bytes
    }
}

impl Repo {
    /// Reads a commit.
    pub(crate) fn raw_commit(&self, commit: &Oid) -> Result<RawCommit> {
        let bytes = self.read(DOING).args(["cat-file", "commit", commit.as_str()]).bytes()?;
        parse(&bytes).ok_or(GitError::Unparsable { doing: DOING })
    }

    /// Writes a commit again: same author, time and message, other tree and parent, this committer.
    pub(crate) fn rewrite_commit(
        &self,
        original: &RawCommit,
        tree: &Oid,
        parent: &Oid,
        committer: (&Identity, i64),
    ) -> Result<Oid> {
        let committer = committer_line(committer.0, committer.1);
        fail::fail_point!("git.replay.before_commit");
        let commit = self
            .write("writing a commit again")
            .args(["hash-object", "-t", "commit", "-w", "--stdin"])
            .stdin(original.rewritten(tree, parent, &committer))
            .oid()?;
        fail::fail_point!("git.replay.after_commit");
        Ok(commit)
    }
}

/// `Name <address> seconds +0000`, without what would end the name or the line early.
fn committer_line(identity: &Identity, when_unix_s: i64) -> Vec<u8> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\r' | '\0')).collect()
    };
    let (name, email) = (plain(&identity.name), plain(&identity.email));
    format!("{} <{}> {when_unix_s} +0000", name.trim(), email.trim()).into_bytes()
}

fn parse(bytes: &[u8]) -> Option<RawCommit> {
    let (mut tree, mut parents, mut author, mut encoding) = (None, Vec::new(), None, None);
    let mut rest = bytes;
    loop {
        let end = rest.iter().position(|b| *b == b'\n')?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        if line.is_empty() {
            break;
        }
        let oid = |text: &[u8]| Oid::new(String::from_utf8_lossy(text));
        if let Some(text) = line.strip_prefix(b"tree ") {
            tree = Some(oid(text)?);
        } else if let Some(text) = line.strip_prefix(b"parent ") {
            parents.push(oid(text)?);
        } else if let Some(text) = line.strip_prefix(b"author ") {
            author = Some(text.to_vec());
        } else if let Some(text) = line.strip_prefix(b"encoding ") {
            encoding = Some(text.to_vec());
        }
    }
    Some(RawCommit { tree: tree?, parents, author: author?, encoding, message: rest.to_vec() })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::identity::IdentitySource;

    #[test]
    fn signed_commit_in_another_encoding_keeps_author_and_message_only() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let mut bytes = format!(
            "tree {a}\nparent {b}\nauthor A < B <a@x> 1 +0530\ncommitter C <c@x> 2 +0000\n\
             encoding ISO-8859-1\ngpgsig -----BEGIN\n line\n -----END\n\nSubject caf"
        )
        .into_bytes();
        bytes.extend_from_slice(b"\xe9\n\nBody\n");
        let raw = parse(&bytes).unwrap();
        assert_eq!(raw.parents, [Oid::new(b.clone()).unwrap()]);
        let again = raw.rewritten(&raw.tree, &Oid::new(a.clone()).unwrap(), b"D <d@x> 3 +0000");
        let mut expected = format!(
            "tree {a}\nparent {a}\nauthor A < B <a@x> 1 +0530\ncommitter D <d@x> 3 +0000\n\
             encoding ISO-8859-1\n\nSubject caf"
        )
        .into_bytes();
        expected.extend_from_slice(b"\xe9\n\nBody\n");
        assert_eq!(again, expected);
        assert!(parse(b"tree x\n").is_none());
    }

    #[test]
    fn committer_cannot_break_out_of_its_line() {
        let identity = Identity {
            name: "Eve <x>\nauthor".into(),
            email: "e>@x".into(),
            source: IdentitySource::Configured,
        };
        assert_eq!(committer_line(&identity, 5), b"Eve xauthor <e@x> 5 +0000");
    }
}
