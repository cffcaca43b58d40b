//! Living processes of a home, found by the tag that every process of a job starts with. Signals
//! nobody.

use std::io;

use crate::procfs;
use crate::tree::RUN_TAG;

/// A living process that carries the tag of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tagged {
    /// Its pid.
    pub pid: u32,
    /// The run of its tag.
    pub run: String,
    /// The job of its tag.
    pub job: String,
    /// State letter.
    pub state: char,
}

/// The living processes that carry a tag of the home with this id. Processes whose environment
/// cannot be read are not among them.
///
/// # Errors
/// When the process table cannot be read.
pub fn tagged(home_id: &str) -> io::Result<Vec<Tagged>> {
    let living = procfs::all()?.into_iter().filter(|proc| !proc.is_gone());
    let found = living.filter_map(|proc| {
        let tag = procfs::env_value(proc.pid, RUN_TAG)?;
        let (run, job) = parts(&tag, home_id)?;
        // The environment of a process that ended meanwhile is empty, not its own.
        Some(Tagged { pid: proc.pid, run, job, state: char::from(proc.state) })
    });
    Ok(found.collect())
}

/// Run and job of `<home id>:<run id>:<job id>`, if it is of this home.
fn parts(tag: &[u8], home_id: &str) -> Option<(String, String)> {
    let rest = std::str::from_utf8(tag).ok()?.strip_prefix(home_id)?.strip_prefix(':')?;
    let (run, job) = rest.split_once(':')?;
    Some((run.to_owned(), job.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn tag_is_taken_apart_for_its_own_home_only() {
        assert_eq!(parts(b"h1:r1:r1-2", "h1"), Some(("r1".into(), "r1-2".into())));
        assert_eq!(parts(b"h1:r1:r1-2", "h"), None);
        assert_eq!(parts(b"h1:r1", "h1"), None);
    }
}
