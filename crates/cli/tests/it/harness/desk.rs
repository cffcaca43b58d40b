//! A user's terminal: a real one, with the product at its other end, and a picture of what is on it.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::{Home, until};

/// What a terminal has been sent.
struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

/// A terminal on which a verb runs.
pub(crate) struct Desk {
    master: File,
    slave: OwnedFd,
    seen: Arc<Mutex<Seen>>,
    verb: Child,
}

impl Desk {
    /// Opens a terminal of 24 rows and 80 columns and runs a verb of `home` on it.
    pub(crate) fn new(home: &Home, words: &[&str]) -> Self {
        Self::of_size(home, words, 24, 80)
    }

    /// As [`Desk::new`], of another size.
    pub(crate) fn of_size(home: &Home, words: &[&str], rows: u16, cols: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        tcsetwinsize(&master, size(rows, cols)).unwrap();
        let mut verb = Command::new("setsid");
        verb.arg("-c").arg(env!("CARGO_BIN_EXE_tidegate")).args(words);
        home.place(&mut verb);
        verb.env("TERM", "xterm-256color");
        let end = || slave.try_clone().unwrap();
        let verb = verb.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let (rows, cols) = (NonZeroU16::new(rows).unwrap(), NonZeroU16::new(cols).unwrap());
        let parser = vt100::Parser::new(rows, cols, 2_000);
        let seen = Arc::new(Mutex::new(Seen { parser, bytes: Vec::new() }));
        let (shown, mut reader) = (Arc::clone(&seen), File::from(master.try_clone().unwrap()));
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let mut seen = shown.lock().unwrap();
                seen.parser.process(&buffer[..count]);
                seen.bytes.extend_from_slice(&buffer[..count]);
            }
        });
        Self { master: File::from(master), slave, seen, verb }
    }

    /// Types.
    pub(crate) fn types(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Gives the window another size.
    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        let (r, c) = (NonZeroU16::new(rows).unwrap(), NonZeroU16::new(cols).unwrap());
        self.seen.lock().unwrap().parser.set_size(r, c);
        tcsetwinsize(&self.master, size(rows, cols)).unwrap();
    }

    /// What stands on the screen now.
    pub(crate) fn screen(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// All that was ever sent to the terminal.
    pub(crate) fn sent(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap().bytes).into_owned()
    }

    /// Waits until a text stands on the screen.
    pub(crate) fn shows(&self, text: &str) {
        let mut last = String::new();
        let shown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(text, || {
                last = self.screen();
                last.contains(text).then_some(())
            });
        }));
        assert!(shown.is_ok(), "no {text:?} on the screen:\n{last}");
    }

    /// Whether the terminal is as a shell leaves it: lines, echo, signals.
    pub(crate) fn is_plain(&self) -> bool {
        let modes = tcgetattr(&self.slave).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// The verb's process.
    pub(crate) fn pid(&self) -> u32 {
        self.verb.id()
    }

    /// Waits for the verb's end; its exit code, -1 for a signal.
    pub(crate) fn code(&mut self) -> i32 {
        let status = until("the end of a verb", || self.verb.try_wait().unwrap());
        status.code().unwrap_or(-1)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.verb.kill();
        let _ = self.verb.wait();
    }
}

fn size(rows: u16, cols: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 }
}
