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
    named.is_some_and(|job| is_below(&job, &jobs)) || job_above(home).is_some()
}

/// The job of `home` whose shim is the nearest among the ancestors.
pub(crate) fn job_above(home: &Home) -> Option<String> {
    let jobs = real(&home.path().join("jobs"));
    let mut pid = std::process::id();
    for _ in 0..DEPTH_MAX {
        if let Some(job) = job_of_shim(pid, &jobs) {
            return Some(job);
        }
        pid = parent(pid).filter(|above| *above > 1)?;
    }
    None
}

/// Whether a process is the shim of a job of `home`.
pub(crate) fn is_shim(pid: u32, home: &Home) -> bool {
    job_of_shim(pid, &real(&home.path().join("jobs"))).is_some()
}

/// The job of a process that was started as `<program> shim <jobs>/<job>`.
fn job_of_shim(pid: u32, jobs: &Path) -> Option<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    let [_, b"shim", job] = words.as_slice() else { return None };
    let job = Path::new(OsStr::from_bytes(job));
    let name = job.file_name()?.to_str()?;
    is_below(job, jobs).then(|| name.to_owned())
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
