//! The questions that programs ask their terminal, and our answers.
//!
//! A program that asks and hears nothing waits: agents with a screen of their own hang at their start.
//! The shim answers each question itself, at once, whether anybody is attached or not, and keeps it
//! from those who are: a second answer would arrive as if it were typed.

use super::modes::Modes;

/// What an answer may tell of.
pub(crate) struct Facts<'a> {
    pub(crate) screen: &'a vt100::Screen,
    pub(crate) modes: &'a Modes,
}

/// What a sequence turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// No question: everybody gets it.
    Other,
    /// A question, and the answer that the program gets.
    Question(Vec<u8>),
}

/// Answers `sequence` if it is a question.
pub(crate) fn answer(sequence: &[u8], facts: &Facts<'_>) -> Meaning {
    let answer = match sequence.get(1) {
        Some(b'[') => control(&sequence[2..], facts),
        Some(b']') => colour(&sequence[2..]),
        Some(b'P') => device(&sequence[2..]),
        // The sign of a terminal that draws pictures; without an answer there are none.
        Some(b'_') if asks_for_pictures(sequence) => Some(Vec::new()),
        // What VT52 knew as "identify".
        Some(b'Z') => Some(DEVICE.to_vec()),
        Some(_) | None => None,
    };
    answer.map_or(Meaning::Other, Meaning::Question)
}

/// A terminal of level 2 with colours.
const DEVICE: &[u8] = b"\x1b[?62;22c";

/// Pixels of a character cell that are claimed.
const CELL: (u32, u32) = (16, 8);

fn control(body: &[u8], facts: &Facts<'_>) -> Option<Vec<u8>> {
    let (last, rest) = body.split_last()?;
    let (row, col) = facts.screen.cursor_position();
    let (row, col) = (row + 1, col + 1);
    let text = match (rest, last) {
        (b"" | b"0", b'c') => return Some(DEVICE.to_vec()),
        (b">" | b">0", b'c') => "\x1b[>1;10;0c".to_owned(),
        (b"=" | b"=0", b'c') => "\x1bP!|00000000\x1b\\".to_owned(),
        (b"5", b'n') => "\x1b[0n".to_owned(),
        (b"6", b'n') => format!("\x1b[{row};{col}R"),
        (b"?6", b'n') => format!("\x1b[?{row};{col};1R"),
        (b"?996", b'n') => "\x1b[?997;1n".to_owned(),
        (b">" | b">0", b'q') => {
            format!("\x1bP>|tidegate({})\x1b\\", env!("CARGO_PKG_VERSION"))
        }
        (b"?", b'u') => format!("\x1b[?{}u", facts.modes.keyboard()),
        (_, b'p') => return mode(rest, facts),
        (_, b't') => return window(rest, facts.screen),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// `DECRQM`: is this mode on?
fn mode(rest: &[u8], facts: &Facts<'_>) -> Option<Vec<u8>> {
    let rest = std::str::from_utf8(rest.strip_suffix(b"$")?).ok()?;
    let (mark, number) = match rest.strip_prefix('?') {
        Some(number) => ("?", number),
        None => ("", rest),
    };
    let number: u16 = number.parse().ok()?;
    let on = if mark.is_empty() { None } else { facts.modes.is_on(facts.screen, number) };
    let state = match on {
        Some(true) => 1,
        Some(false) => 2,
        None => 0,
    };
    Some(format!("\x1b[{mark}{number};{state}$y").into_bytes())
}

/// `XTWINOPS`, those that ask.
fn window(rest: &[u8], screen: &vt100::Screen) -> Option<Vec<u8>> {
    let (rows, cols) = screen.size();
    let (rows, cols) = (u32::from(rows.get()), u32::from(cols.get()));
    let text = match rest {
        b"11" => "\x1b[1t".to_owned(),
        b"13" => "\x1b[3;0;0t".to_owned(),
        b"14" | b"14;2" => format!("\x1b[4;{};{}t", rows * CELL.0, cols * CELL.1),
        b"15" => format!("\x1b[5;{};{}t", rows * CELL.0, cols * CELL.1),
        b"16" => format!("\x1b[6;{};{}t", CELL.0, CELL.1),
        b"18" => format!("\x1b[8;{rows};{cols}t"),
        b"19" => format!("\x1b[9;{rows};{cols}t"),
        b"20" => "\x1b]L\x1b\\".to_owned(),
        b"21" => "\x1b]l\x1b\\".to_owned(),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// `OSC 4`, `10`, `11`, `12` with `?`: a light grey on black.
fn colour(body: &[u8]) -> Option<Vec<u8>> {
    let (body, end) = match body.strip_suffix(b"\x1b\\") {
        Some(body) => (body, "\x1b\\"),
        None => (body.strip_suffix(b"\x07")?, "\x07"),
    };
    let body = std::str::from_utf8(body).ok()?;
    let (what, asked) = body.rsplit_once(';')?;
    if asked != "?" {
        return None;
    }
    let value = match what {
        "10" | "12" => "d0d0/d0d0/d0d0".to_owned(),
        "11" => "0000/0000/0000".to_owned(),
        _ => palette(what.strip_prefix("4;")?.parse().ok()?),
    };
    Some(format!("\x1b]{what};rgb:{value}{end}").into_bytes())
}

/// The usual 256 colours.
fn palette(number: u8) -> String {
    const FIRST: [(u8, u8, u8); 16] = [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ];
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    let (red, green, blue) = match number {
        0..=15 => FIRST[usize::from(number)],
        16..=231 => {
            let cube = number - 16;
            (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        232..=255 => {
            let grey = 8 + 10 * (number - 232);
            (grey, grey, grey)
        }
    };
    format!("{red:02x}{red:02x}/{green:02x}{green:02x}/{blue:02x}{blue:02x}")
}

/// `DECRQSS` and `XTGETTCAP`: we tell of neither settings nor capabilities.
fn device(body: &[u8]) -> Option<Vec<u8>> {
    if body.starts_with(b"$q") {
        return Some(b"\x1bP0$r\x1b\\".to_vec());
    }
    body.starts_with(b"+q").then(|| b"\x1bP0+r\x1b\\".to_vec())
}

fn asks_for_pictures(sequence: &[u8]) -> bool {
    let head = sequence.strip_prefix(b"\x1b_G").unwrap_or_default();
    let keys = head.split(|byte| *byte == b';').next().unwrap_or_default();
    keys.split(|byte| *byte == b',').any(|key| key == b"a=q")
}
