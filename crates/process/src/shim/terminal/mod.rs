//! The terminal of a job: its picture, its answers, and those who are attached.
//!
//! It never waits: not for a client that does not read, and not for a job that does not read. It is
//! made for jobs with a terminal only, so that the others stay small.

mod client;
mod modes;
mod pty;
mod queries;
mod scanner;
mod screen;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;

use client::Client;
pub(crate) use pty::{Pty, give_to, open};
pub(crate) use screen::Size;
use screen::{Screen, Shown};

use crate::control::{FrameKind, TerminalStatus};

/// Clients at a time.
const CLIENTS_MAX: usize = 16;

/// How long a client that is behind may take to read the end.
const LINGER: Duration = Duration::from_millis(100);

/// Bytes of input that wait for the job to read them, at most; what is typed beyond is dropped, as a
/// terminal does.
const INPUT_BYTES_MAX: usize = 256 << 10;

/// Who wants to attach, and how.
pub(crate) struct Attachment {
    pub(crate) stream: UnixStream,
    pub(crate) size: Size,
    pub(crate) reads_only: bool,
    pub(crate) history: bool,
    pub(crate) token: (u64, u64),
}

/// A job's terminal.
pub(crate) struct Terminal {
    master: OwnedFd,
    /// Kept open: a terminal that nobody has open reads as ended, although it may be opened again.
    _slave: OwnedFd,
    screen: Screen,
    clients: Vec<Client>,
    /// Typed, and not taken by the job yet.
    input: Vec<u8>,
    shown: Shown,
}

impl Terminal {
    pub(crate) fn new(pty: Pty, size: Size) -> Self {
        let Pty { master, slave } = pty;
        Self {
            master,
            _slave: slave,
            screen: Screen::new(size),
            clients: Vec::new(),
            input: Vec::new(),
            shown: Shown::default(),
        }
    }

    /// The descriptors to wait for, but for the job's output.
    pub(crate) fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let typed = (!self.input.is_empty()).then(|| (self.master.as_fd(), PollFlags::OUT));
        let clients = self.clients.iter().map(|client| {
            let out = if client.is_behind() { PollFlags::OUT } else { PollFlags::empty() };
            (client.fd(), PollFlags::IN | out)
        });
        typed.into_iter().chain(clients)
    }

    /// Takes what one read of the job's output gave.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let mut shown = std::mem::take(&mut self.shown);
        shown.output.clear();
        shown.answers.clear();
        self.screen.take(bytes, &mut shown);
        self.type_in(&shown.answers);
        if !shown.output.is_empty() {
            for client in self.clients.iter_mut().filter(|client| !client.needs_snapshot) {
                client.send(FrameKind::Output, &shown.output);
            }
        }
        self.shown = shown;
    }

    /// Puts bytes where the job reads them.
    fn type_in(&mut self, bytes: &[u8]) {
        let room = INPUT_BYTES_MAX.saturating_sub(self.input.len());
        self.input.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.pass_input();
    }

    fn pass_input(&mut self) {
        let mut done = 0;
        while done < self.input.len() {
            match rustix::io::write(&self.master, &self.input[done..]) {
                Ok(count) => done += count,
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        self.input.drain(..done);
        self.input.shrink_to(4 << 10);
    }

    /// Whether nobody more may attach.
    pub(crate) fn is_full(&self) -> bool {
        self.clients.len() >= CLIENTS_MAX
    }

    /// Lets somebody attach; who comes when it is full is let go.
    pub(crate) fn attach(&mut self, attachment: Attachment) {
        if self.is_full() {
            return;
        }
        let Attachment { stream, size, reads_only, history, token } = attachment;
        self.clients.push(Client::new(stream, size, reads_only, history, token));
        self.fit();
    }

    /// Hears and serves those who are attached. Those who came with an older fencing token than
    /// `token` are let go: a newer daemon has taken over.
    pub(crate) fn turn(&mut self, token: (u64, u64)) {
        let mut typed = Vec::new();
        let mut refit = false;
        self.clients.retain_mut(|client| {
            let sent = if client.token < token { None } else { client.receive() };
            let Some(sent) = sent else {
                refit = true;
                return false;
            };
            typed.extend_from_slice(&sent.input);
            refit |= sent.resized;
            true
        });
        if refit {
            self.fit();
        }
        self.type_in(&typed);
        self.serve();
    }

    fn serve(&mut self) {
        let Self { clients, screen, .. } = self;
        let before = clients.len();
        clients.retain_mut(|client| {
            if !client.flush() {
                return false;
            }
            if client.needs_snapshot && !client.is_behind() {
                let history = std::mem::take(&mut client.wants_history);
                client.needs_snapshot = false;
                let size = screen.size();
                let bytes = [size.rows.get().to_le_bytes(), size.cols.get().to_le_bytes()].concat();
                client.send(FrameKind::Size, &bytes);
                client.send(FrameKind::Snapshot, &screen.snapshot(history));
                return client.flush();
            }
            true
        });
        if self.clients.len() < before {
            self.fit();
        }
    }

    /// Gives the terminal the smallest size of those who can type: each sees all of it. With nobody
    /// there it stays as it is.
    fn fit(&mut self) {
        let typing = || self.clients.iter().filter(|client| !client.reads_only);
        let rows = typing().map(|client| client.size.rows).min();
        let cols = typing().map(|client| client.size.cols).min();
        let (Some(rows), Some(cols)) = (rows, cols) else { return };
        let size = Size { rows, cols };
        if size == self.screen.size() || pty::set_size(&self.master, size).is_err() {
            return;
        }
        self.screen.resize(size);
        let bytes = [rows.get().to_le_bytes(), cols.get().to_le_bytes()].concat();
        for client in self.clients.iter_mut().filter(|client| !client.needs_snapshot) {
            client.send(FrameKind::Size, &bytes);
        }
    }

    /// Tells everybody that nothing follows, and lets go of them. It waits a moment for those who are
    /// behind: nothing depends on the shim any more.
    pub(crate) fn end(&mut self) {
        self.serve();
        for mut client in self.clients.drain(..) {
            client.send(FrameKind::End, &[]);
            client.finish(LINGER);
        }
    }

    /// For those who ask.
    pub(crate) fn status(&self) -> TerminalStatus {
        let size = self.screen.size();
        let clients = u32::try_from(self.clients.len()).unwrap_or(u32::MAX);
        TerminalStatus { rows: size.rows.get(), cols: size.cols.get(), clients }
    }
}
