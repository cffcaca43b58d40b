//! The polite end of a job: everything below it is asked, and has the whole grace.

use std::io;

use fail::fail_point;

use super::state::Shim;
use crate::{procfs, tree};

impl Shim {
    /// TERM to the main process' group; CONT as well, for a stopped process cannot act on TERM.
    pub(super) fn terminate_group(&self) {
        fail_point!("shim.before_terminate");
        // Shells in a terminal heed no TERM, but what a terminal sends when it is closed.
        let hangup = self.terminal.as_ref().map(|_| libc::SIGHUP);
        for signal in [libc::SIGTERM].into_iter().chain(hangup).chain([libc::SIGCONT]) {
            if self.signal_group(signal).is_err() {
                let _ = self.child.pidfd.send(signal);
            }
        }
    }

    /// TERM to what left the group: who leads a session of its own may have a state to save, too.
    pub(super) fn terminate_others(&self) {
        // A table that cannot be read ends nobody politely; the sweep proves its end anyway.
        let Ok(members) = self.claim.members() else { return };
        for proc in members.iter().filter(|proc| proc.group != self.child.identity.pid) {
            for signal in [libc::SIGTERM, libc::SIGCONT] {
                let _ = tree::signal(proc, signal);
            }
        }
    }

    /// TERM once more to those that live on after the main process and would end by it: a child that was
    /// between fork and exec has lost the first one. Who handles it is at work on that, and is let be.
    pub(super) fn terminate_heedless(&self) {
        let Ok(members) = self.claim.members() else { return };
        for proc in members.iter().filter(|proc| procfs::ends_by(proc.pid, libc::SIGTERM)) {
            let _ = tree::signal(proc, libc::SIGTERM);
        }
    }

    fn signal_group(&self, signal: i32) -> io::Result<()> {
        match self.child.pidfd.send_group(signal) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            other => return other,
        }
        // A kernel before 6.9. The group's number is pinned by the child that was not reaped yet.
        for proc in procfs::all()? {
            if proc.group == self.child.identity.pid && !proc.is_gone() {
                tree::signal(&proc, signal)?;
            }
        }
        Ok(())
    }
}
