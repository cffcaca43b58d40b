//! Whose process is at the other end of the API socket: one of a job of this home, or not.
//!
//! Agents run as the user, so neither the socket's mode nor a token tells them from the user; the
//! process tree and the run tag do.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::net::sockopt::socket_peercred;
use tidegate_core::exit::Identity;

use crate::sys::socket;
use crate::tree::RUN_TAG;
use crate::{identity, procfs};

/// How often a walk is begun anew because a process on the way ended.
const WALKS: u32 = 4;

/// Longest chain of ancestors that is followed.
const DEPTH_MAX: u32 = 4_096;

/// Where a process comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// From this job of this home, which it may be more than one level below.
    Job(String),
    /// From no job of this home.
    Outside,
    /// Not to be found out, for example because it is gone: grant nothing.
    Unknown,
}

/// A job that is known to run, for [`origin`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownShim {
    /// Its shim.
    pub shim: Identity,
    /// Its job id.
    pub job: String,
}

/// Who connected to a unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Its pid when it connected.
    pub pid: u32,
    /// Its user.
    pub uid: u32,
    /// Its identity, if it still lives (proved by pidfd on kernel 6.5 and newer).
    pub identity: Option<Identity>,
}

/// Asks the kernel who connected.
///
/// # Errors
/// When the socket is not a connected unix socket.
pub fn peer(socket: BorrowedFd<'_>) -> io::Result<Peer> {
    let credentials = socket_peercred(socket)?;
    let pid = credentials.pid.as_raw_nonzero().get().cast_unsigned();
    let identity = match socket::peer_pidfd(socket) {
        Some(pidfd) => identity::of_peer(pid, std::os::fd::AsFd::as_fd(&pidfd))?,
        None => identity::of(pid)?,
    };
    Ok(Peer { pid, uid: credentials.uid.as_raw(), identity })
}

/// Finds out whether `process` comes from a job of the home with `home_id`: an ancestor is a known
/// shim, or it or an ancestor was started with a run tag of this home.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn origin(process: &Identity, home_id: &str, shims: &[KnownShim]) -> io::Result<Origin> {
    for _ in 0..WALKS {
        let found = walk(process.pid, home_id, shims)?;
        if !identity::is_alive(process)? {
            return Ok(Origin::Unknown);
        }
        if let Some(origin) = found {
            return Ok(origin);
        }
    }
    Ok(Origin::Unknown)
}

/// The job of this home that this very process runs in, if any: by its ancestors and their tags.
///
/// # Errors
/// As [`origin`].
pub fn own_origin(home_id: &str) -> io::Result<Origin> {
    origin(&identity::own()?, home_id, &[])
}

/// One walk up; `None` when the chain broke on the way.
fn walk(pid: u32, home_id: &str, shims: &[KnownShim]) -> io::Result<Option<Origin>> {
    let mut pid = pid;
    for _ in 0..DEPTH_MAX {
        let Some(proc) = procfs::stat(pid)? else { return Ok(None) };
        let is_shim = |known: &&KnownShim| {
            known.shim.pid == pid && known.shim.start_ticks == proc.start_ticks
        };
        if let Some(known) = shims.iter().find(is_shim) {
            return Ok(Some(Origin::Job(known.job.clone())));
        }
        let tag = procfs::env_value(pid, RUN_TAG);
        if let Some(job) = tag.and_then(|tag| job_of_tag(&tag, home_id)) {
            return Ok(Some(Origin::Job(job)));
        }
        if proc.parent <= 1 {
            return Ok(Some(Origin::Outside));
        }
        pid = proc.parent;
    }
    Ok(Some(Origin::Unknown))
}

/// The job of `<home id>:<run id>:<job id>` if it is of this home.
fn job_of_tag(tag: &[u8], home_id: &str) -> Option<String> {
    let tag = std::str::from_utf8(tag).ok()?;
    let rest = tag.strip_prefix(home_id)?.strip_prefix(':')?;
    let (_, job) = rest.split_once(':')?;
    Some(job.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_of_another_home_is_not_ours() {
        assert_eq!(job_of_tag(b"h1:r1:r1-2", "h1"), Some("r1-2".to_owned()));
        assert_eq!(job_of_tag(b"h1:r1:r1-2", "h"), None);
        assert_eq!(job_of_tag(b"h2:r1:r1-2", "h1"), None);
        assert_eq!(job_of_tag(b"h1:r1", "h1"), None);
    }
}
