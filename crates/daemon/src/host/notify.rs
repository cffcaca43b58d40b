//! What the service manager is told, by the protocol of `sd_notify`: the daemon is ready, stops, is
//! alive. It must not know what it is ready for.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use crate::engine::Handle;

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// It answers, and what ran before is taken over.
    Ready,
    /// Another daemon serves the home: this one is done.
    NotNeeded,
    /// It ends in good order.
    Stopping,
    /// Its engine gets through its work.
    Alive,
}

impl Moment {
    fn message(self) -> &'static [u8] {
        match self {
            Self::Ready => b"READY=1\n",
            // A service that ends before it is ready has failed.
            Self::NotNeeded => b"READY=1\nSTATUS=another daemon serves this home\nSTOPPING=1\n",
            Self::Stopping => b"STOPPING=1\n",
            Self::Alive => b"WATCHDOG=1\n",
        }
    }
}

/// The service manager that started this process, if one did.
#[derive(Debug, Clone)]
pub struct Manager {
    socket: Option<Arc<(UnixDatagram, SocketAddr)>>,
    /// How often it wants to hear that we live.
    watchdog: Option<Duration>,
}

impl Manager {
    /// The one that the environment names: `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`.
    pub fn of_environment() -> Self {
        let variable = |name: &str| std::env::var_os(name);
        let text = |name: &str| variable(name)?.into_string().ok();
        let socket = variable("NOTIFY_SOCKET");
        let watchdog = interval(text("WATCHDOG_USEC"), text("WATCHDOG_PID"), std::process::id());
        Self::at(socket.as_deref(), watchdog)
    }

    fn at(socket: Option<&OsStr>, watchdog: Option<Duration>) -> Self {
        let opened = socket.and_then(|name| match open(name) {
            Ok(opened) => Some(Arc::new(opened)),
            Err(error) => {
                tracing::warn!(%error, "the service manager's socket cannot be used");
                None
            }
        });
        Self { socket: opened, watchdog }
    }

    /// Tells it. Nobody there, or nobody who listens: nothing happens.
    pub fn tell(&self, moment: Moment) {
        let Some(socket) = &self.socket else { return };
        let (own, manager) = &**socket;
        if let Err(error) = own.send_to_addr(moment.message(), manager) {
            tracing::debug!(%error, ?moment, "the service manager was not told");
        }
    }

    /// From now on it hears that the engine works, if it wants to. Without that nothing is started,
    /// and an idle daemon sleeps.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn keep_told(&self, handle: &Handle) -> io::Result<()> {
        let Some(every) = self.watchdog.filter(|_| self.socket.is_some()) else { return Ok(()) };
        let (manager, handle) = (self.clone(), handle.clone());
        let watch = move || {
            loop {
                if handle.beats_within(every) {
                    manager.tell(Moment::Alive);
                }
                std::thread::sleep(every);
            }
        };
        std::thread::Builder::new().name("watchdog".into()).spawn(watch)?;
        Ok(())
    }
}

/// A third of the time after which the manager gives us up; none when it means another process.
fn interval(limit: Option<String>, pid: Option<String>, own: u32) -> Option<Duration> {
    if pid.is_some_and(|pid| pid.parse() != Ok(own)) {
        return None;
    }
    let limit: u64 = limit?.parse().ok()?;
    (limit > 0).then(|| Duration::from_micros(limit / 3).max(Duration::from_millis(1)))
}

fn open(name: &OsStr) -> io::Result<(UnixDatagram, SocketAddr)> {
    let address = match name.as_bytes() {
        [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest)?,
        _ => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    // A manager that does not read must not hold up the daemon.
    socket.set_nonblocking(true)?;
    Ok((socket, address))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn manager_at_a_path_or_an_abstract_name_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("tidegate-notify-{}", std::process::id());
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        let at_name = UnixDatagram::bind_addr(&abstract_name).unwrap();
        let at_path = UnixDatagram::bind(&path).unwrap();
        for (socket, name) in
            [(at_path, path.into_os_string()), (at_name, format!("@{name}").into())]
        {
            let manager = Manager::at(Some(&name), None);
            manager.tell(Moment::Ready);
            manager.tell(Moment::Stopping);
            let mut buffer = [0; 64];
            for told in ["READY=1\n", "STOPPING=1\n"] {
                let count = socket.recv(&mut buffer).unwrap();
                assert_eq!(&buffer[..count], told.as_bytes());
            }
        }
    }

    #[test]
    fn watchdog_is_for_the_process_that_it_names() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(interval(some("3000000"), None, 7), Some(Duration::from_secs(1)));
        assert_eq!(interval(some("3000000"), some("7"), 7), Some(Duration::from_secs(1)));
        assert_eq!(interval(some("3000000"), some("8"), 7), None);
        assert_eq!(interval(some("0"), None, 7), None);
        assert_eq!(interval(some("soon"), None, 7), None);
        assert_eq!(interval(None, None, 7), None);
    }

    #[test]
    fn manager_that_is_not_there_is_no_trouble() {
        let manager = Manager::at(Some(OsStr::new("/nowhere/notify")), None);
        manager.tell(Moment::Ready);
        assert!(Manager::at(None, None).socket.is_none());
    }
}
