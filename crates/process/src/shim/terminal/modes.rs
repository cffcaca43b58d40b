//! What a terminal remembers beside its picture and the screen model does not: scroll margins, the
//! keyboard protocol, some private modes, the title.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Private modes that are set again for whoever attaches: focus reports, alternate scroll, pixel mouse.
const KEPT: [u16; 3] = [1004, 1007, 1016];

/// Levels of the keyboard protocol's stack, at most.
const KEYBOARD_LEVELS_MAX: usize = 16;

/// Longest title that is kept, in bytes.
const TITLE_BYTES_MAX: usize = 1_024;

/// What sequences have set.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    margins: Option<(u16, u16)>,
    keyboard: Vec<u8>,
    on: BTreeSet<u16>,
    wraps_not: bool,
    title: Vec<u8>,
}

impl Modes {
    /// Takes note of what a whole sequence sets.
    pub(crate) fn note(&mut self, sequence: &[u8]) {
        match sequence {
            [_, b'c'] => *self = Self::default(),
            [_, b'[', body @ .., last] => self.control(body, *last),
            [_, b']', b'0' | b'2', b';', title @ ..] if title.len() <= TITLE_BYTES_MAX => {
                let end = title.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
                self.title = title[..end.unwrap_or(title.len())].to_vec();
            }
            _ => {}
        }
    }

    fn control(&mut self, body: &[u8], last: u8) {
        let Ok(body) = std::str::from_utf8(body) else { return };
        match (body, last) {
            ("!", b'p') => {
                self.margins = None;
                self.wraps_not = false;
            }
            (_, b'h' | b'l') => {
                let Some(numbers) = body.strip_prefix('?') else { return };
                for number in numbers.split(';').filter_map(|number| number.parse().ok()) {
                    self.set(number, last == b'h');
                }
            }
            (_, b'r') if !body.starts_with('?') => self.margins = margins(body),
            (_, b'u') => self.keyboard_protocol(body),
            _ => {}
        }
    }

    fn set(&mut self, number: u16, on: bool) {
        if number == 7 {
            self.wraps_not = !on;
        } else if KEPT.contains(&number) {
            if on {
                self.on.insert(number);
            } else {
                self.on.remove(&number);
            }
        }
    }

    fn keyboard_protocol(&mut self, body: &str) {
        let Some(mark) = body.chars().next().filter(|mark| "><=".contains(*mark)) else { return };
        let mut numbers = body[1..].split(';').map(|number| number.parse::<u8>().ok());
        let first = numbers.next().flatten();
        match mark {
            '>' => {
                self.keyboard.push(first.unwrap_or(0));
                if self.keyboard.len() > KEYBOARD_LEVELS_MAX {
                    self.keyboard.remove(0);
                }
            }
            '<' => {
                let left = self.keyboard.len().saturating_sub(usize::from(first.unwrap_or(1)));
                self.keyboard.truncate(left);
            }
            _ => {
                let flags = first.unwrap_or(0);
                let now = self.keyboard();
                let new = match numbers.next().flatten().unwrap_or(1) {
                    2 => now | flags,
                    3 => now & !flags,
                    _ => flags,
                };
                match self.keyboard.last_mut() {
                    Some(top) => *top = new,
                    None => self.keyboard.push(new),
                }
            }
        }
    }

    /// The window has another size: the margins are those of the whole of it.
    pub(crate) fn resized(&mut self) {
        self.margins = None;
    }

    /// Flags of the keyboard protocol.
    pub(crate) fn keyboard(&self) -> u8 {
        self.keyboard.last().copied().unwrap_or(0)
    }

    /// Whether a private mode is on; `None` when we do not know such a mode.
    pub(crate) fn is_on(&self, screen: &vt100::Screen, number: u16) -> Option<bool> {
        use vt100::{MouseProtocolEncoding as Encoding, MouseProtocolMode as Mouse};
        let mouse = screen.mouse_protocol_mode();
        let encoding = screen.mouse_protocol_encoding();
        Some(match number {
            1 => screen.application_cursor(),
            7 => !self.wraps_not,
            9 => mouse == Mouse::Press,
            25 => !screen.hide_cursor(),
            47 | 1047 | 1049 => screen.alternate_screen(),
            1000 => mouse == Mouse::PressRelease,
            1002 => mouse == Mouse::ButtonMotion,
            1003 => mouse == Mouse::AnyMotion,
            1005 => encoding == Encoding::Utf8,
            1006 => encoding == Encoding::Sgr,
            2004 => screen.bracketed_paste(),
            number if KEPT.contains(&number) => self.on.contains(&number),
            _ => return None,
        })
    }

    /// What sets all this in a terminal that is in its initial state.
    pub(crate) fn restore(&self, out: &mut String) {
        for number in &self.on {
            let _ = write!(out, "\x1b[?{number}h");
        }
        if self.wraps_not {
            out.push_str("\x1b[?7l");
        }
        if self.keyboard() != 0 {
            let _ = write!(out, "\x1b[>{}u", self.keyboard());
        }
        if !self.title.is_empty() {
            let _ = write!(out, "\x1b]2;{}\x1b\\", String::from_utf8_lossy(&self.title));
        }
    }

    /// What sets the margins, if there are any; it moves the cursor.
    pub(crate) fn restore_margins(&self, out: &mut String) -> bool {
        let Some((top, bottom)) = self.margins else { return false };
        let _ = write!(out, "\x1b[{top};{bottom}r");
        true
    }
}

fn margins(body: &str) -> Option<(u16, u16)> {
    let (top, bottom) = body.split_once(';')?;
    Some((top.parse().ok()?, bottom.parse().ok()?))
}
