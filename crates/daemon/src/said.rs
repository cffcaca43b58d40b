//! What an agent says of its own work by the tools that it has: lines of a file in its job directory,
//! which it writes whether a daemon lives or not. They are words for people and prove nothing: no
//! state of a run may follow from them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tidegate_core::ids::JobId;
use tidegate_protocol::{SaidDoc, Timestamp};

/// Name of the file within a job directory.
const FILE: &str = "said";

/// Most that is kept of all that one job says, in bytes; then it has said enough.
const BYTES_MAX: u64 = 64 << 10;

/// Longest text of one line, in bytes.
pub const SAID_BYTES_MAX: usize = 1_000;

/// One thing that an agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// The words, [`SAID_BYTES_MAX`] at most.
    pub text: String,
    /// How far it thinks that it is, from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// Whether it says that it is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
    /// When, by the clock of this host, in milliseconds since 1970.
    pub at_ms: u64,
}

/// Adds a line, durably.
///
/// # Errors
/// When the file cannot be written, or holds as much as is kept (`FileTooLarge`).
pub fn say(home: &Path, job: &JobId, said: &Said) -> io::Result<()> {
    let path = home.join("jobs").join(job.to_string()).join(FILE);
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create(true).mode(0o600).open(path)?;
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    if file.metadata()?.len().saturating_add(line.len() as u64) > BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    file.write_all(&line)?;
    file.sync_data()
}

/// The newest line of a job, if it said anything that reads.
pub(crate) fn newest(dir: &Path) -> Option<SaidDoc> {
    let mut text = String::new();
    File::open(dir.join(FILE)).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    // A line that was cut by a crash is passed over.
    let said: Said = text.lines().rev().find_map(|line| serde_json::from_str(line).ok())?;
    Some(SaidDoc {
        text: said.text,
        percent: said.percent,
        done: said.done,
        at: Timestamp::from_ms(said.at_ms),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn line(text: &str) -> Said {
        Said { text: text.to_owned(), percent: Some(40), done: false, at_ms: 1_000 }
    }

    #[test]
    fn newest_whole_line_counts_and_the_file_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let job = JobId::parse("r0000011111-1").unwrap();
        let dir = home.path().join("jobs").join(job.to_string());
        std::fs::create_dir_all(&dir).unwrap();
        assert_eq!(newest(&dir), None);
        say(home.path(), &job, &line("first")).unwrap();
        say(home.path(), &job, &line("second")).unwrap();
        let torn = OpenOptions::new().append(true).open(dir.join(FILE)).unwrap();
        (&torn).write_all(b"{\"text\":\"tor").unwrap();
        assert_eq!(newest(&dir).unwrap().text, "second");
        let long = line(&"x".repeat(SAID_BYTES_MAX));
        let refused = (0..100).find_map(|_| say(home.path(), &job, &long).err()).unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
        assert!(std::fs::metadata(dir.join(FILE)).unwrap().len() <= BYTES_MAX);
    }
}
