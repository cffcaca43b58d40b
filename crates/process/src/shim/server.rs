//! The listening side of `control.sock`: connections and lines, no meaning.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::net::sockopt::socket_peercred;

use crate::control::REQUEST_BYTES_MAX;
use crate::jobdir::{CONTROL, JobDir};

/// Connections at a time; more have to wait.
const CONNECTIONS_MAX: usize = 8;

/// The socket and who is connected.
pub(crate) struct ControlServer {
    listener: UnixListener,
    open: Vec<Connection>,
    accepted: u64,
}

struct Connection {
    number: u64,
    stream: UnixStream,
    received: Vec<u8>,
}

impl ControlServer {
    /// Binds through the directory's descriptor: a socket address has 108 bytes.
    pub(crate) fn bind(dir: &JobDir) -> io::Result<Self> {
        dir.remove(CONTROL)?;
        let listener = UnixListener::bind(dir.short_path(CONTROL))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, open: Vec::new(), accepted: 0 })
    }

    /// The descriptors to wait for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listener = (self.open.len() < CONNECTIONS_MAX).then(|| self.listener.as_fd());
        listener.into_iter().chain(self.open.iter().map(|connection| connection.stream.as_fd()))
    }

    /// Takes in whoever waits and what they sent: whole lines, each with the connection to answer.
    /// Only processes of our own user are listened to.
    pub(crate) fn receive(&mut self) -> Vec<(u64, Vec<u8>)> {
        while self.open.len() < CONNECTIONS_MAX {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_ok() && is_own_user(&stream) {
                self.accepted += 1;
                let number = self.accepted;
                self.open.push(Connection { number, stream, received: Vec::new() });
            }
        }
        self.open.retain_mut(Connection::fill);
        let mut lines = Vec::new();
        for connection in &mut self.open {
            while let Some(end) = connection.received.iter().position(|byte| *byte == b'\n') {
                let rest = connection.received.split_off(end + 1);
                lines.push((connection.number, std::mem::replace(&mut connection.received, rest)));
            }
        }
        lines
    }

    /// Answers one line. Who does not read its answers is cut off at the next turn.
    pub(crate) fn answer(&mut self, number: u64, mut line: Vec<u8>) {
        line.push(b'\n');
        let connection = self.open.iter_mut().find(|connection| connection.number == number);
        let Some(connection) = connection else { return };
        if connection.stream.write_all(&line).is_err() {
            let _ = connection.stream.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Lets go of a connection that is to carry something else than lines. None may have come after
    /// the one that asked for it.
    pub(crate) fn release(&mut self, number: u64) -> Option<UnixStream> {
        let at = self.open.iter().position(|connection| connection.number == number)?;
        let connection = self.open.remove(at);
        connection.received.is_empty().then_some(connection.stream)
    }
}

impl Connection {
    /// Reads what is there; false when the connection is over.
    fn fill(&mut self) -> bool {
        let mut buffer = [0; 2048];
        loop {
            match self.stream.read(&mut buffer) {
                // The last line may still be there to be answered.
                Ok(0) => return self.received.contains(&b'\n'),
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
            if self.received.len() > REQUEST_BYTES_MAX {
                return false;
            }
        }
    }
}

fn is_own_user(stream: &UnixStream) -> bool {
    socket_peercred(stream).is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}
