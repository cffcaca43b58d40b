//! The address of the daemon's socket, and the question whether anybody answers there. It speaks
//! just enough HTTP to ask for `/healthz`, without a runtime.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use tidegate_protocol::{API_PREFIX, VERSION, VERSION_HEADER};

use crate::home::Home;

/// Longest path that fits in a socket address, in bytes, without its terminating NUL.
const ADDRESS_BYTES_MAX: usize = 107;

/// The address of a home's socket, short enough for the kernel whatever the home's path.
#[derive(Debug)]
pub(crate) struct Address {
    path: PathBuf,
    /// Keeps a short path through its descriptor valid.
    _directory: Option<File>,
}

impl Address {
    /// The address of the socket of `home`.
    ///
    /// # Errors
    /// When the home's path is long and cannot be opened.
    pub(crate) fn of(home: &Home) -> io::Result<Self> {
        let path = home.socket();
        if path.as_os_str().len() <= ADDRESS_BYTES_MAX {
            return Ok(Self { path, _directory: None });
        }
        let directory = File::open(home.path())?;
        let path = format!("/proc/self/fd/{}/daemon.sock", directory.as_raw_fd()).into();
        Ok(Self { path, _directory: Some(directory) })
    }

    /// The path to connect to.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }
}

/// What is at the other end of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// A daemon that answers.
    Answers,
    /// Nobody listens.
    Absent,
    /// Somebody listens and says nothing within the limit.
    Silent,
}

/// Asks whether a daemon answers, for at most `limit`.
pub(crate) fn presence(home: &Home, limit: Duration) -> Presence {
    match ask(home, limit) {
        Ok(true) => Presence::Answers,
        Ok(false) => Presence::Silent,
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Presence::Silent,
            _ => Presence::Absent,
        },
    }
}

/// Tells the daemon that the files of a launcher changed. It is a hint: nobody waits for more than
/// a moment, and a daemon that is not there reads the files when it starts.
pub(crate) fn nudge(home: &Home, run: &str) {
    // What goes wrong here, the next look at the files makes good.
    let _ = send_nudge(home, run);
}

fn send_nudge(home: &Home, run: &str) -> io::Result<()> {
    const LIMIT: Duration = Duration::from_millis(500);
    let mut stream = UnixStream::connect(Address::of(home)?.path())?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    let request = format!(
        "POST {API_PREFIX}/runs/{run}/nudge HTTP/1.1\r\nhost: tidegate\r\n\
         {VERSION_HEADER}: {VERSION}\r\ncontent-type: application/json\r\n\
         content-length: 2\r\nconnection: close\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes())?;
    // A request whose sender is gone may be dropped: the first bytes of the answer are waited for.
    stream.read_exact(&mut [0; 12])
}

fn ask(home: &Home, limit: Duration) -> io::Result<bool> {
    let mut stream = UnixStream::connect(Address::of(home)?.path())?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: tidegate\r\nconnection: close\r\n\r\n")?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    Ok(head.starts_with(b"HTTP/1.1 200"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    fn home(path: &Path) -> Home {
        Home::resolve(Some(path)).unwrap()
    }

    #[test]
    fn home_with_a_long_path_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let long = dir.path().join("x".repeat(100)).join("y".repeat(100));
        std::fs::create_dir_all(&long).unwrap();
        let address = Address::of(&home(&long)).unwrap();
        let _listener = UnixListener::bind(address.path()).unwrap();
        assert!(long.join("daemon.sock").exists());
        assert!(UnixStream::connect(Address::of(&home(&long)).unwrap().path()).is_ok());
    }

    #[test]
    fn presence_of_nobody_is_absent() {
        let dir = tempfile::tempdir().unwrap();
        let limit = Duration::from_millis(50);
        assert_eq!(presence(&home(dir.path()), limit), Presence::Absent);
        drop(UnixListener::bind(dir.path().join("daemon.sock")).unwrap());
        assert_eq!(presence(&home(dir.path()), limit), Presence::Absent);
    }

    #[test]
    fn presence_that_does_not_answer_is_silent() {
        let dir = tempfile::tempdir().unwrap();
        let _listener = UnixListener::bind(dir.path().join("daemon.sock")).unwrap();
        assert_eq!(presence(&home(dir.path()), Duration::from_millis(50)), Presence::Silent);
    }
}
