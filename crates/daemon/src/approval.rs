//! Tokens of consent. A token names one review of one commit of one feature for one target: a keyed
//! hash over them, so that reading one writes nothing. It must not know who may use it.
//!
//! It is bound to the target's branch and not to the commit that the branch is at: the target moves
//! with every landing, and what the merge makes of both is what the merge gates judge.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tidegate_core::ids::{FeatureId, Oid, RunId};

/// Bytes of the home's secret: a block of the hash.
const KEY_BYTES: usize = 64;
/// Bytes of the hash that stand in a token.
const MAC_BYTES: usize = 16;
/// Sets these hashes apart from others of the same key.
const DOMAIN: &str = "tidegate approval 1";

/// What a token is about.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    /// The generation of the home's store.
    pub generation: u64,
    /// The run.
    pub run: &'a RunId,
    /// The feature.
    pub feature: &'a FeatureId,
    /// Full name of the target ref.
    pub target: &'a str,
    /// Which review of the feature.
    pub number: u32,
    /// The commit.
    pub commit: &'a Oid,
}

/// The secret of a home.
#[derive(Clone)]
pub struct Key([u8; KEY_BYTES]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// Reads the secret of `home`; `None` when no daemon has made one yet, or it is damaged.
    ///
    /// # Errors
    /// What the operating system gives.
    pub fn read(home: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(path(home)) {
            Ok(bytes) => Ok(<[u8; KEY_BYTES]>::try_from(bytes.as_slice()).ok().map(Self)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes the secret of `home` where there is none. Tokens of a lost one are void.
    ///
    /// # Errors
    /// What the operating system gives.
    pub fn ensure(home: &Path) -> io::Result<()> {
        if Self::read(home)?.is_some() {
            return Ok(());
        }
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let temporary = home.join("approval.key.tmp");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&temporary)?;
        file.write_all(&bytes)?;
        fail::fail_point!("approval.before_fsync");
        file.sync_all()?;
        fail::fail_point!("approval.before_rename");
        std::fs::rename(&temporary, path(home))?;
        fail::fail_point!("approval.after_rename");
        std::fs::File::open(home)?.sync_all()
    }

    /// The token of a review.
    pub fn token(&self, review: Review<'_>) -> String {
        let mac = self.mac(review).finalize().into_bytes();
        format!("{}-{}-{}", review.commit, review.number, hex(&mac[..MAC_BYTES]))
    }

    /// Whether `mac`, in hex, is that of the review. It takes the same time for every wrong one.
    pub fn proves(&self, review: Review<'_>, mac: &str) -> bool {
        unhex(mac).is_some_and(|bytes| {
            bytes.len() == MAC_BYTES && self.mac(review).verify_truncated_left(&bytes).is_ok()
        })
    }

    fn mac(&self, review: Review<'_>) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.0.into());
        let generation = review.generation.to_string();
        let number = review.number.to_string();
        let parts = [
            DOMAIN,
            &generation,
            review.run.as_str(),
            review.feature.as_str(),
            review.target,
            &number,
            review.commit.as_str(),
        ];
        for part in parts {
            // The length first: no two lists of parts are the same bytes.
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

/// A token, taken apart and not yet believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The commit that it names.
    pub commit: Oid,
    /// The review that it names.
    pub number: u32,
    /// Its hash, in hex.
    pub mac: String,
}

impl Claimed {
    /// Reads a token; `None` when it has another form.
    pub fn parse(token: &str) -> Option<Self> {
        let mut parts = token.trim().split('-');
        let (commit, number, mac) = (parts.next()?, parts.next()?, parts.next()?);
        let whole = parts.next().is_none();
        let claimed =
            Self { commit: Oid::new(commit)?, number: number.parse().ok()?, mac: mac.to_owned() };
        whole.then_some(claimed)
    }
}

fn path(home: &Path) -> PathBuf {
    home.join("approval.key")
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn token_proves_its_own_review_and_no_other() {
        let home = tempfile::tempdir().unwrap();
        assert!(Key::read(home.path()).unwrap().is_none());
        Key::ensure(home.path()).unwrap();
        let key = Key::read(home.path()).unwrap().unwrap();
        Key::ensure(home.path()).unwrap();
        assert_eq!(key.0, Key::read(home.path()).unwrap().unwrap().0, "made once");
        let (run, other) = (RunId::from_parts(1, 1), RunId::from_parts(2, 1));
        let (feature, berths) = (FeatureId::new("a").unwrap(), FeatureId::new("b").unwrap());
        let commit = Oid::new("a".repeat(40)).unwrap();
        let changed = Oid::new("b".repeat(40)).unwrap();
        let review = Review {
            generation: 1,
            run: &run,
            feature: &feature,
            target: "refs/heads/main",
            number: 2,
            commit: &commit,
        };
        let claimed = Claimed::parse(&key.token(review)).unwrap();
        assert_eq!((&claimed.commit, claimed.number), (&commit, 2));
        assert!(key.proves(review, &claimed.mac));
        let others = [
            Review { generation: 2, ..review },
            Review { run: &other, ..review },
            Review { feature: &berths, ..review },
            Review { target: "refs/heads/next", ..review },
            Review { number: 3, ..review },
            Review { commit: &changed, ..review },
        ];
        assert!(others.iter().all(|other| !key.proves(*other, &claimed.mac)));
        assert!(!key.proves(review, "") && !key.proves(review, &claimed.mac[..4]));
        for wrong in ["", "x", "a-b-c-d", &format!("{commit}-2"), &format!("{commit}-2-aa-b")] {
            assert_eq!(Claimed::parse(wrong), None, "{wrong}");
        }
    }
}
