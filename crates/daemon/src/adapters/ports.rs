//! TCP ports that are leased to features: one file for each in the home, named by the port, with its holder in it.
//!
//! The file makes a lease unique among all features of the home and lets it survive a restart; what the log says of it
//! makes it survive the loss of the file.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The leases of one home.
#[derive(Debug)]
pub(super) struct Ports {
    folder: PathBuf,
    serial: Mutex<()>,
}

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Names the feature: `<run>/<feature>`.
    pub(super) holder: &'a str,
    /// How many.
    pub(super) count: usize,
    /// Ports that the log says it has.
    pub(super) known: &'a [u32],
    /// First and last port of the range.
    pub(super) range: (u32, u32),
}

impl Ports {
    /// The leases of the home in this directory.
    pub(super) fn new(home: &Path) -> Self {
        Self { folder: home.join("ports"), serial: Mutex::default() }
    }

    /// Leases ports to a feature; those that it has already stay its own. `None` when the range has not enough.
    ///
    /// `is_over` says whether a holder has ended, so that its leases can be taken.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub(super) fn lease(
        &self,
        wanted: Wanted<'_>,
        is_over: impl Fn(&str) -> bool,
    ) -> io::Result<Option<Vec<u32>>> {
        if wanted.count == 0 {
            return Ok(Some(Vec::new()));
        }
        let _serial = self.serial.lock().unwrap_or_else(PoisonError::into_inner);
        std::fs::create_dir_all(&self.folder)?;
        let leased = self.leased()?;
        let is_own = |port: &u32| leased.get(port).is_some_and(|holder| holder == wanted.holder);
        let is_free = |port: &u32| leased.get(port).is_none_or(|holder| is_over(holder));
        let known = wanted.known.iter().copied().filter(|port| is_own(port) || is_free(port));
        let mut mine: Vec<u32> = known.collect();
        mine.extend(
            leased.keys().copied().filter(is_own).filter(|port| !wanted.known.contains(port)),
        );
        mine.truncate(wanted.count);
        let (first, last) = wanted.range;
        for port in first..=last {
            if mine.len() == wanted.count {
                break;
            }
            if !mine.contains(&port) && is_free(&port) && nobody_listens(port) {
                mine.push(port);
            }
        }
        if mine.len() < wanted.count {
            return Ok(None);
        }
        for port in &mine {
            let (path, new) = (self.folder.join(port.to_string()), self.folder.join("new"));
            std::fs::write(&new, wanted.holder)?;
            fail::fail_point!("daemon.port.before_lease");
            std::fs::rename(&new, &path)?;
            fail::fail_point!("daemon.port.after_lease");
        }
        Ok(Some(mine))
    }

    /// Gives back what the features of a run have.
    pub(super) fn release(&self, run: &str) {
        let _serial = self.serial.lock().unwrap_or_else(PoisonError::into_inner);
        for (port, holder) in self.leased().unwrap_or_default() {
            if holder.split('/').next() == Some(run) {
                // One that stays is taken once its holder is seen to have ended.
                let _ = std::fs::remove_file(self.folder.join(port.to_string()));
            }
        }
    }

    fn leased(&self) -> io::Result<BTreeMap<u32, String>> {
        let mut leased = BTreeMap::new();
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(leased),
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            let port = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if let (Some(port), Ok(holder)) = (port, std::fs::read_to_string(entry.path())) {
                leased.insert(port, holder);
            }
        }
        Ok(leased)
    }
}

/// Whether a port can be listened at on this host now, on either family.
fn nobody_listens(port: u32) -> bool {
    let Ok(port) = u16::try_from(port) else { return false };
    let is_free = |bound: io::Result<TcpListener>| match bound {
        Ok(_) => true,
        // A host may lack a family.
        Err(error) => {
            !matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied)
        }
    };
    is_free(TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
        && is_free(TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn lease(ports: &Ports, holder: &str, range: (u32, u32), over: &[&str]) -> Option<Vec<u32>> {
        let wanted = Wanted { holder, count: 2, known: &[], range };
        ports.lease(wanted, |holder| over.contains(&holder)).unwrap()
    }

    /// Four ports in a row that are free now.
    fn range() -> (u32, u32) {
        let free = |first: &u32| (*first..first + 4).all(nobody_listens);
        let first = (20_000..29_000).step_by(97).find(free).unwrap();
        (first, first + 3)
    }

    #[test]
    fn ports_are_of_one_holder_alone_until_it_is_over() {
        let home = tempfile::tempdir().unwrap();
        let (ports, range) = (Ports::new(home.path()), range());
        let first = lease(&ports, "r1/a", range, &[]).unwrap();
        let second = lease(&ports, "r1/b", range, &[]).unwrap();
        assert!(first.iter().all(|port| !second.contains(port)));
        assert_eq!(lease(&ports, "r2/c", range, &[]), None);
        // After a restart, a feature has the ports that it had.
        let again = Ports::new(home.path());
        assert_eq!(lease(&again, "r1/a", range, &[]).unwrap(), first);
        assert_eq!(lease(&again, "r2/c", range, &["r1/b"]).unwrap(), second);
        again.release("r1");
        assert_eq!(lease(&again, "r3/d", range, &[]).unwrap(), first);
    }

    #[test]
    fn port_of_a_stranger_is_passed_over() {
        let home = tempfile::tempdir().unwrap();
        let (ports, (first, last)) = (Ports::new(home.path()), range());
        let address = (Ipv4Addr::LOCALHOST, u16::try_from(first).unwrap());
        let _stranger = TcpListener::bind(address).unwrap();
        assert_eq!(lease(&ports, "r1/a", (first, last), &[]).unwrap(), [first + 1, first + 2]);
    }

    #[test]
    fn ports_that_the_log_knows_are_kept_although_their_file_was_lost() {
        let home = tempfile::tempdir().unwrap();
        let (ports, (first, last)) = (Ports::new(home.path()), range());
        let known = [first + 2, first + 3];
        let wanted = Wanted { holder: "r1/a", count: 2, known: &known, range: (first, last) };
        assert_eq!(ports.lease(wanted, |_| false).unwrap().unwrap(), known);
    }
}
