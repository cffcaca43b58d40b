//! The user's own terminal while it shows another one: raw, and given back as it was on every way out.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Puts a terminal back into its initial state, whatever the job's programs have set: the first
/// screen, no mouse, no pasting marks, a visible cursor.
const RESET: &str = "\x1b[0m\x1b[r\x1b[?6l\x1b[?7h\x1b[?1l\x1b>\x1b[?1000l\x1b[?1002l\x1b[?1003l\
    \x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[?2026l\x1b[<16u\
    \x1b[?1049l\x1b[?25h\x1b[0 q\x1b(B\x0f";

/// The terminal, raw until this is dropped.
pub(crate) struct Screen {
    out: File,
    before: Termios,
    /// Something was painted: it must be undone.
    painted: bool,
}

/// A window's size in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) rows: u16,
    pub(crate) cols: u16,
}

impl Screen {
    /// Whether standard input and output are a terminal.
    pub(crate) fn is_there() -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Takes the terminal over.
    ///
    /// # Errors
    /// When it is none, or refuses.
    pub(crate) fn take() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        let out = File::from(rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?);
        // From here on it is given back.
        let screen = Self { out, before, painted: false };
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(screen)
    }

    /// The size of the window.
    pub(crate) fn window() -> Window {
        let size =
            tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_row > 0 && size.ws_col > 0);
        size.map_or(Window { rows: 24, cols: 80 }, |size| Window {
            rows: size.ws_row,
            cols: size.ws_col,
        })
    }

    /// Paints the terminal anew.
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn repaint(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.painted = true;
        self.out.write_all(RESET.as_bytes())?;
        self.out.write_all(b"\x1b[H\x1b[2J")?;
        self.out.write_all(bytes)
    }

    /// Shows what the job wrote.
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn show(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.painted = true;
        self.out.write_all(bytes)
    }

    /// Says something in the last line, over what is there; the next painting takes it away.
    pub(crate) fn say(&mut self, text: &str) {
        let rows = Self::window().rows;
        let line = format!("\x1b7\x1b[{rows};1H\x1b[0;7m {text} \x1b[0m\x1b[K\x1b8");
        // Who does not see it misses no more than that.
        let _ = self.out.write_all(line.as_bytes());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.painted {
            let rows = Self::window().rows;
            let _ = self.out.write_all(RESET.as_bytes());
            let _ = self.out.write_all(format!("\x1b[{rows};1H\r\n").as_bytes());
        }
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.before);
    }
}
