//! Whether this process runs inside a job of a home. Then it starts no daemon: one that is born
//! below a shim would be swept with the job.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::home::Home;

/// Longest chain of ancestors that is followed.
const DEPTH_MAX: usize = 4096;

/// Whether a shim of `home` is among the ancestors, or the environment names a job of `home`.
pub(crate) fn is_inside_job(home: &Home) -> bool {
    let jobs = real(&home.path().join("jobs"));
    let named = std::env::var_os("TIDEGATE_JOB_DIR").map(PathBuf::from);
    named.is_some_and(|job| is_below(&job, &jobs)) || has_shim_above(&jobs)
}

fn has_shim_above(jobs: &Path) -> bool {
    let mut pid = std::process::id();
    for _ in 0..DEPTH_MAX {
        if is_shim(pid, jobs) {
            return true;
        }
        match parent(pid) {
            Some(above) if above > 1 => pid = above,
            Some(_) | None => return false,
        }
    }
    false
}

/// Whether a process was started as `<program> shim <jobs>/<job>`.
fn is_shim(pid: u32, jobs: &Path) -> bool {
    let Ok(line) = std::fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [_, b"shim", job] => is_below(Path::new(OsStr::from_bytes(job)), jobs),
        _ => false,
    }
}

fn is_below(job: &Path, jobs: &Path) -> bool {
    job.parent().is_some_and(|folder| real(folder) == jobs)
}

/// Without links where it exists.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold spaces and parentheses; what follows the last one does not.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn process_of_a_test_is_inside_no_job_of_a_new_home() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_inside_job(&Home::resolve(Some(dir.path())).unwrap()));
    }

    #[test]
    fn parent_is_read_from_proc() {
        let above = parent(std::process::id()).unwrap();
        assert_eq!(i32::try_from(above).unwrap(), rustix::process::getppid().unwrap().as_raw_pid());
    }

    #[test]
    fn job_of_another_home_is_not_below() {
        let dir = tempfile::tempdir().unwrap();
        let jobs = dir.path().join("jobs");
        std::fs::create_dir_all(jobs.join("r1-1")).unwrap();
        let jobs = real(&jobs);
        assert!(is_below(&jobs.join("r1-1"), &jobs));
        assert!(!is_below(Path::new("/other/jobs/r1-1"), &jobs));
    }
}
