//! Cuts a terminal's output into text and whole escape sequences, wherever the reads cut it.
//!
//! It knows the grammar of sequences, not their meaning. What is not whole yet is held back, so that
//! whoever joins at a cut begins with a whole piece.

/// Bytes of an unfinished sequence that are held back; longer ones are passed on in parts.
const HELD_BYTES_MAX: usize = 4 << 10;

const ESC: u8 = 0x1b;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const BEL: u8 = 0x07;

/// One piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text and control characters, or part of a sequence that is too long to be held.
    Plain(&'a [u8]),
    /// One whole escape sequence.
    Sequence(&'a [u8]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    /// After ESC and any intermediates.
    Escape,
    /// In a control sequence: `ESC [`.
    Control,
    /// In a string: `ESC ]`, `ESC P`, `ESC _`, `ESC ^`, `ESC X`. Only the first ends at BEL.
    Text {
        bell_ends: bool,
    },
    /// In a string, after an ESC.
    TextEscape,
}

/// What was held back, and where in a sequence it ends.
#[derive(Debug)]
pub(crate) struct Scanner {
    state: State,
    held: Vec<u8>,
    /// The sequence under way has become too long to be held.
    passing: bool,
}

impl Scanner {
    pub(crate) fn new() -> Self {
        Self { state: State::Ground, held: Vec::new(), passing: false }
    }

    /// Whether a sequence that is too long to be held back is under way.
    pub(crate) fn is_passing(&self) -> bool {
        self.passing
    }

    /// Gives the pieces that `bytes` complete to `take`, in order.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(Piece<'_>)) {
        let joined;
        let bytes = if self.held.is_empty() {
            bytes
        } else {
            // What was held is looked at again from its beginning: it is short.
            let mut all = std::mem::take(&mut self.held);
            all.extend_from_slice(bytes);
            self.state = State::Ground;
            joined = all;
            &joined[..]
        };
        let mut start = 0;
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Ground {
                let Some(escape) = bytes[at..].iter().position(|byte| *byte == ESC) else { break };
                plain(&bytes[start..at + escape], &mut take);
                start = at + escape;
                at = start + 1;
                self.state = State::Escape;
                continue;
            }
            let (next, ends) = step(self.state, bytes[at]);
            at += 1;
            self.state = next;
            match ends {
                End::No => {}
                End::Whole if self.passing => {
                    plain(&bytes[start..at], &mut take);
                    (start, self.passing) = (at, false);
                }
                End::Whole => {
                    take(Piece::Sequence(&bytes[start..at]));
                    start = at;
                }
                End::Broken => {
                    plain(&bytes[start..at], &mut take);
                    (start, self.passing) = (at, false);
                }
                End::Anew => {
                    plain(&bytes[start..at - 1], &mut take);
                    (start, self.passing) = (at - 1, false);
                }
                // Its ESC may have been passed on with the read before.
                End::Before if at < 2 => (self.state, self.passing) = (State::Ground, false),
                End::Before => {
                    plain(&bytes[start..at - 2], &mut take);
                    (start, self.passing) = (at - 2, false);
                    at -= 1;
                }
            }
        }
        self.keep(&bytes[start..], take);
    }

    fn keep(&mut self, rest: &[u8], mut take: impl FnMut(Piece<'_>)) {
        if self.state == State::Ground {
            let cut = rest.len() - unfinished_char(rest);
            plain(&rest[..cut], &mut take);
            self.held.extend_from_slice(&rest[cut..]);
        } else if self.passing || rest.len() > HELD_BYTES_MAX {
            self.passing = true;
            plain(rest, &mut take);
        } else {
            self.held.extend_from_slice(rest);
        }
    }
}

fn plain(bytes: &[u8], take: &mut impl FnMut(Piece<'_>)) {
    if !bytes.is_empty() {
        take(Piece::Plain(bytes));
    }
}

/// What a byte does to the sequence that it stands in.
enum End {
    /// It goes on.
    No,
    /// It ends here.
    Whole,
    /// It was cancelled, or never was one.
    Broken,
    /// It was cancelled by this byte, which begins a new one.
    Anew,
    /// It was cancelled by the byte before this one.
    Before,
}

fn step(state: State, byte: u8) -> (State, End) {
    match (state, byte) {
        (State::TextEscape, b'\\') | (State::Text { bell_ends: true }, BEL) => {
            (State::Ground, End::Whole)
        }
        // The ESC cancelled the string and begins a sequence of its own.
        (State::TextEscape, _) => (State::Escape, End::Before),
        (State::Text { .. }, ESC) => (State::TextEscape, End::No),
        (_, CAN | SUB) => (State::Ground, End::Broken),
        (State::Text { bell_ends }, _) => (State::Text { bell_ends }, End::No),
        (_, ESC) => (State::Escape, End::Anew),
        // Control characters within a sequence act and do not end it.
        (State::Escape, b'[') | (State::Control, 0x00..=0x3f | 0x7f) => (State::Control, End::No),
        (State::Escape, b']') => (State::Text { bell_ends: true }, End::No),
        (State::Escape, b'P' | b'_' | b'^' | b'X') => (State::Text { bell_ends: false }, End::No),
        (State::Control, 0x40..=0x7e) | (State::Escape, 0x30..=0x7e) => (State::Ground, End::Whole),
        (State::Escape, 0x00..=0x2f | 0x7f) => (State::Escape, End::No),
        (State::Control | State::Escape | State::Ground, _) => (State::Ground, End::Broken),
    }
}

/// How many bytes at the end are the beginning of a character that is not whole.
fn unfinished_char(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let length = match byte {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        return if length > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(chunks: &[&[u8]]) -> Vec<String> {
        let mut scanner = Scanner::new();
        let mut found: Vec<String> = Vec::new();
        let mut joins = false;
        for chunk in chunks {
            scanner.feed(chunk, |piece| match piece {
                Piece::Plain(bytes) => {
                    let text = String::from_utf8_lossy(bytes).escape_debug().to_string();
                    match found.last_mut().filter(|_| joins) {
                        Some(last) => last.push_str(&text),
                        None => found.push(text),
                    }
                    joins = true;
                }
                Piece::Sequence(bytes) => {
                    found.push(format!("<{}>", String::from_utf8_lossy(bytes).escape_debug()));
                    joins = false;
                }
            });
        }
        found
    }

    #[test]
    fn sequences_are_found_whole_wherever_the_reads_cut() {
        let text = "aé\u{1b}[1;3m\u{1b}]0;t\u{7}b\u{1b}P$qm\u{1b}\\\u{1b}(Bc\u{1b}]1;x\u{1b}\\ü"
            .as_bytes();
        let whole = pieces(&[text]);
        assert_eq!(whole.len(), 9, "{whole:?}");
        for cut in 0..text.len() {
            assert_eq!(pieces(&[&text[..cut], &text[cut..]]), whole, "{cut}");
        }
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(pieces(&single), whole);
    }

    #[test]
    fn sequence_that_is_cancelled_is_plain_and_the_next_one_is_seen() {
        assert_eq!(
            pieces(&[b"\x1b[12\x18a\x1b[3\x1b[6n"]),
            ["\\u{1b}[12\\u{18}a\\u{1b}[3", "<\\u{1b}[6n>"]
        );
    }

    #[test]
    fn string_that_is_cancelled_by_a_sequence_hides_it_not() {
        let whole = pieces(&[b"\x1b]0;title\x1b[6nx"]);
        assert_eq!(whole, ["\\u{1b}]0;title", "<\\u{1b}[6n>", "x"]);
        assert_eq!(pieces(&[b"\x1b]0;title\x1b", b"[6nx"]), whole);
    }

    #[test]
    fn sequence_without_an_end_is_passed_on_when_it_is_long() {
        let mut scanner = Scanner::new();
        let mut passed = 0;
        let mut count = |piece: Piece<'_>| {
            if let Piece::Plain(bytes) = piece {
                passed += bytes.len();
            }
        };
        scanner.feed(b"\x1b]52;c;", &mut count);
        scanner.feed(&[b'x'; 10_000], &mut count);
        assert!(scanner.is_passing());
        scanner.feed(b"yy\x07z", &mut count);
        assert!(!scanner.is_passing());
        assert_eq!(passed, 7 + 10_000 + 4);
    }
}
