//! A job whose directory is removed: nobody could ever stop it, so it ends, and its shim with it.

use std::io::ErrorKind;
use std::path::Path;

use crate::fixture::{Job, PATIENCE, is_gone, until};

/// Removes a folder that its shim may still write into.
fn remove(dir: &Path) {
    until(|| match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => None,
        removed => {
            removed.unwrap();
            Some(())
        }
    });
}

#[test]
fn shim_whose_directory_was_removed_ends_its_tree_and_goes() {
    let job =
        Job::sh("trap '' TERM; sleep 1000 & setsid sleep 1000 & echo $! $$ > pids; wait; wait");
    job.start();
    let shim = job.wait_started().shim;
    let pids: Vec<u32> =
        job.wait_file("pids").split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    remove(job.dir.path());
    let ended = job.wait_shim();
    assert_eq!((ended.pid, ended.code), (shim.pid, Some(0)));
    for pid in pids {
        assert!(is_gone(pid), "{pid}");
    }
}

#[test]
fn shim_that_could_not_record_goes_when_its_directory_is_removed() {
    let job = Job::sh("while ! test -e go; do sleep 0.02; done");
    job.start();
    job.wait_started();
    let exit = job.dir.file("exit");
    // A directory in the place of the record: it cannot be renamed over.
    std::fs::create_dir(&exit).unwrap();
    std::fs::write(exit.join("x"), "").unwrap();
    std::fs::write(job.home.path().join("go"), "").unwrap();
    until(|| {
        let status = job.control((1, 5)).status().unwrap().status;
        (!status.requires_human.is_empty()).then_some(())
    });
    remove(job.dir.path());
    let ended = job.ended.recv_timeout(PATIENCE).unwrap();
    assert_eq!(ended.code, Some(0));
}
