//! The picture of a terminal: what somebody who attaches has to be shown.
//!
//! The model is a crate's; a panic in it costs the picture, never the job.

use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use vt100::capture::{BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents};

use super::modes::Modes;
use super::queries::{self, Facts, Meaning};
use super::scanner::{Piece, Scanner};

/// Rows above the screen that the model keeps: what comes back when a window grows.
const ROWS_ABOVE: usize = 100;

/// Text that has left the model, kept for whoever attaches, in bytes.
const HISTORY_BYTES: usize = 192 << 10;

/// Smallest and largest sizes that are taken.
const ROWS: (u16, u16) = (2, 500);
const COLS: (u16, u16) = (2, 1_000);

/// A terminal's size in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rows: NonZeroU16,
    pub(crate) cols: NonZeroU16,
}

impl Size {
    /// The nearest size that is taken.
    pub(crate) fn near(rows: u16, cols: u16) -> Self {
        let near = |asked: u16, (least, most): (u16, u16)| {
            NonZeroU16::new(asked.clamp(least, most)).unwrap_or(NonZeroU16::MIN)
        };
        Self { rows: near(rows, ROWS), cols: near(cols, COLS) }
    }
}

/// Rows that have left the model, as text with colours.
#[derive(Default)]
struct History {
    text: VecDeque<u8>,
    line: String,
    state: BasicFormattedCaptureState,
}

impl vt100::Callbacks for History {
    fn on_scroll(&mut self, contents: RowContents<'_>, alternate_screen: bool) {
        if alternate_screen {
            return;
        }
        self.line.clear();
        let _ = contents.write_formatted_basic(&mut self.line, &mut self.state);
        self.text.extend(self.line.as_bytes());
        if self.text.len() > HISTORY_BYTES {
            // A quarter at a time, up to the end of a line.
            let least = HISTORY_BYTES / 4;
            let end = self.text.iter().skip(least).position(|byte| *byte == b'\n');
            self.text.drain(..end.map_or(self.text.len(), |end| least + end + 1));
        }
    }
}

/// What one read of the terminal leads to.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// For those who are attached.
    pub(crate) output: Vec<u8>,
    /// For the program, as if it were typed.
    pub(crate) answers: Vec<u8>,
}

/// The picture.
pub(crate) struct Screen {
    parser: vt100::Parser<History>,
    scanner: Scanner,
    modes: Modes,
    size: Size,
}

impl Screen {
    pub(crate) fn new(size: Size) -> Self {
        Self { parser: blank(size), scanner: Scanner::new(), modes: Modes::default(), size }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// Takes what the job wrote.
    pub(crate) fn take(&mut self, bytes: &[u8], shown: &mut Shown) {
        let Self { parser, scanner, modes, size } = self;
        scanner.feed(bytes, |piece| match piece {
            Piece::Plain(bytes) => {
                process(parser, bytes, *size);
                shown.output.extend_from_slice(bytes);
            }
            Piece::Sequence(bytes) => {
                let facts = Facts { screen: parser.screen(), modes };
                match queries::answer(bytes, &facts) {
                    Meaning::Question(answer) => shown.answers.extend_from_slice(&answer),
                    Meaning::Other => {
                        modes.note(bytes);
                        process(parser, bytes, *size);
                        shown.output.extend_from_slice(bytes);
                    }
                }
            }
        });
    }

    /// Gives the picture another size.
    pub(crate) fn resize(&mut self, size: Size) {
        self.size = size;
        self.modes.resized();
        let parser = &mut self.parser;
        if catch_unwind(AssertUnwindSafe(|| parser.set_size(size.rows, size.cols))).is_err() {
            self.parser = blank(size);
        }
    }

    /// All that a terminal in its initial state must be sent to look like this one; with what has
    /// scrolled off the top, if that is wanted.
    pub(crate) fn snapshot(&mut self, history: bool) -> Vec<u8> {
        let taken = catch_unwind(AssertUnwindSafe(|| self.paint(history)));
        taken.unwrap_or_else(|_| {
            self.parser = blank(self.size);
            Vec::new()
        })
    }

    fn paint(&mut self, history: bool) -> Vec<u8> {
        let alternate = self.parser.screen().alternate_screen();
        // A sequence that is under way must not be cut: then the other screen stays out of it.
        let both = alternate && !self.scanner.is_passing();
        let mut out = Vec::new();
        if both {
            self.parser.process(b"\x1b[?47l");
        }
        if history && (both || !alternate) {
            self.write_history(&mut out);
        }
        if both {
            out.extend_from_slice(self.parser.screen().contents_formatted().as_bytes());
            self.parser.process(b"\x1b[?47h");
        }
        if alternate {
            out.extend_from_slice(b"\x1b[?1049h");
        }
        let screen = self.parser.screen();
        let mut rest = screen.state_formatted();
        self.modes.restore(&mut rest);
        if self.modes.restore_margins(&mut rest) {
            rest.push_str(&screen.cursor_state_formatted());
        }
        out.extend_from_slice(rest.as_bytes());
        out
    }

    /// What scrolled off, and the screen below it: so the screen's own lines push it up. What is then
    /// painted over them is the screen again.
    fn write_history(&self, out: &mut Vec<u8>) {
        let history = self.parser.callbacks();
        if history.text.is_empty() && self.parser.screen().scrollback_len() == 0 {
            return;
        }
        let mut state = history.state.clone();
        let mut lines = String::new();
        let range = BasicFormattedCaptureRange::Full(&mut state);
        let _ = self.parser.screen().write_contents_formatted_basic(&mut lines, range);
        let bytes = history.text.iter().copied().chain(lines.bytes());
        for byte in bytes {
            if byte == b'\n' {
                out.push(b'\r');
            }
            out.push(byte);
        }
        out.extend_from_slice(b"\x1b[m");
    }
}

fn blank(size: Size) -> vt100::Parser<History> {
    vt100::Parser::new_with_callbacks(size.rows, size.cols, ROWS_ABOVE, History::default())
}

fn process(parser: &mut vt100::Parser<History>, bytes: &[u8], size: Size) {
    if catch_unwind(AssertUnwindSafe(|| parser.process(bytes))).is_err() {
        *parser = blank(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen() -> Screen {
        Screen::new(Size::near(5, 20))
    }

    fn take(screen: &mut Screen, text: &str) -> (String, String) {
        let mut shown = Shown::default();
        screen.take(text.as_bytes(), &mut shown);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&shown.output), text(&shown.answers))
    }

    /// What a terminal shows that was sent a snapshot.
    fn shown_by(snapshot: &[u8]) -> vt100::Parser<History> {
        let mut parser = blank(Size::near(5, 20));
        parser.process(snapshot);
        parser
    }

    #[test]
    fn question_is_answered_in_its_place_and_kept_from_those_who_watch() {
        let mut screen = screen();
        let (output, answers) = take(&mut screen, "ab\u{1b}[6ncd\u{1b}[6n\u{1b}[c\u{1b}[5n");
        assert_eq!(output, "abcd");
        assert_eq!(answers, "\u{1b}[1;3R\u{1b}[1;5R\u{1b}[?62;22c\u{1b}[0n");
    }

    #[test]
    fn every_known_question_has_an_answer() {
        let questions = [
            ("\u{1b}[>c", "\u{1b}[>1;10;0c"),
            ("\u{1b}[=c", "\u{1b}P!|00000000\u{1b}\\"),
            ("\u{1b}[?6n", "\u{1b}[?1;1;1R"),
            ("\u{1b}[?996n", "\u{1b}[?997;1n"),
            ("\u{1b}[>0q", concat!("\u{1b}P>|tidegate(", env!("CARGO_PKG_VERSION"), ")\u{1b}\\")),
            ("\u{1b}[?u", "\u{1b}[?0u"),
            ("\u{1b}[?2026$p", "\u{1b}[?2026;0$y"),
            ("\u{1b}[?25$p", "\u{1b}[?25;1$y"),
            ("\u{1b}[?2004$p", "\u{1b}[?2004;2$y"),
            ("\u{1b}[4$p", "\u{1b}[4;0$y"),
            ("\u{1b}[18t", "\u{1b}[8;5;20t"),
            ("\u{1b}]10;?\u{1b}\\", "\u{1b}]10;rgb:d0d0/d0d0/d0d0\u{1b}\\"),
            ("\u{1b}]11;?\u{7}", "\u{1b}]11;rgb:0000/0000/0000\u{7}"),
            ("\u{1b}]4;196;?\u{7}", "\u{1b}]4;196;rgb:ffff/0000/0000\u{7}"),
            ("\u{1b}P$qm\u{1b}\\", "\u{1b}P0$r\u{1b}\\"),
            ("\u{1b}P+q544e\u{1b}\\", "\u{1b}P0+r\u{1b}\\"),
            ("\u{1b}_Gi=1,a=q;AAAA\u{1b}\\", ""),
        ];
        for (question, answer) in questions {
            let (output, answers) = take(&mut screen(), question);
            assert_eq!((output.as_str(), answers.as_str()), ("", answer), "{question:?}");
        }
    }

    #[test]
    fn keyboard_protocol_is_told_as_it_was_set() {
        let mut screen = screen();
        take(&mut screen, "\u{1b}[>1u\u{1b}[=2;2u");
        assert_eq!(take(&mut screen, "\u{1b}[?u").1, "\u{1b}[?3u");
        take(&mut screen, "\u{1b}[<u");
        assert_eq!(take(&mut screen, "\u{1b}[?u").1, "\u{1b}[?0u");
    }

    #[test]
    fn snapshot_shows_the_same_screen_with_its_history() {
        let mut screen = screen();
        let lines: Vec<String> = (1..=400).map(|line| format!("line {line}\r\n")).collect();
        take(&mut screen, &lines.concat());
        take(&mut screen, "\u{1b}[1;31mred\u{1b}[?2004h\u{1b}[?1004h\u{1b}]2;title\u{7}");
        let snapshot = screen.snapshot(true);
        let text = String::from_utf8_lossy(&snapshot).into_owned();
        for line in 1..=400 {
            assert!(text.contains(&format!("line {line}\r\n")), "{line}");
        }
        assert!(text.contains("\u{1b}[?1004h") && text.contains("title"), "{text:?}");
        let there = shown_by(&snapshot);
        assert_eq!(there.screen().contents(), screen.parser.screen().contents());
        assert_eq!(there.screen().cursor_position(), screen.parser.screen().cursor_position());
        assert!(there.screen().bracketed_paste() && there.screen().bold());
        assert!(!String::from_utf8_lossy(&screen.snapshot(false)).contains("line 300\r\n"));
    }

    #[test]
    fn snapshot_of_the_other_screen_keeps_the_first_one() {
        let mut screen = screen();
        take(&mut screen, "shell\r\n\u{1b}[?1049h\u{1b}[2J\u{1b}[2;2Heditor\u{1b}[2;4r");
        let mut there = shown_by(&screen.snapshot(true));
        assert!(there.screen().alternate_screen());
        assert_eq!(there.screen().contents().trim(), "editor");
        assert_eq!(there.screen().cursor_position(), screen.parser.screen().cursor_position());
        there.process(b"\x1b[?1049l");
        assert_eq!(there.screen().contents().trim(), "shell");
        take(&mut screen, "\u{1b}[?1049l");
        assert_eq!(there.screen().cursor_position(), screen.parser.screen().cursor_position());
    }

    #[test]
    fn history_stays_within_its_bound() {
        let mut screen = screen();
        for line in 0..40_000 {
            take(&mut screen, &format!("line {line}\r\n"));
        }
        let kept = screen.parser.callbacks().text.len();
        assert!(kept <= HISTORY_BYTES && kept > HISTORY_BYTES / 2, "{kept}");
    }

    #[test]
    fn screen_survives_noise_and_every_size() {
        let mut screen = screen();
        let mut seed = 7_u32;
        for round in 0..400_u16 {
            let noise: Vec<u8> = (0..200)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    b"\x1b[;?0123456789ABCDHJKLMPSTXhlmrsu]P\\\x07\n\r \xe4\xf0\x9f"
                        [seed as usize >> 8 & 31]
                })
                .collect();
            screen.take(&noise, &mut Shown::default());
            screen.resize(Size::near(round % 60, (round * 7) % 90));
            screen.snapshot(round % 2 == 0);
        }
        take(&mut screen, "\u{18}\u{1b}\\\u{1b}c");
        screen.resize(Size::near(5, 20));
        take(&mut screen, "\u{1b}[H\u{1b}[2Jstill here");
        assert_eq!(shown_by(&screen.snapshot(false)).screen().contents().trim(), "still here");
    }
}
