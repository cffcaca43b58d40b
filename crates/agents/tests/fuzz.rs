//! Streams that no agent would write, made of those that agents wrote: whatever comes, nothing panics,
//! the same bytes in any pieces mean the same, and what is kept is bounded. `cargo xtask fuzz` plays many.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use tidegate_agents::{Dialogue, Due, Event, Judge, Opening, Rules};
use tidegate_config::{builtin_entry, provider_names};
use tidegate_core::exit::{Exit, Reason};
use tidegate_core::manifest::{Manifest, Permissions, Protocol};
use tidegate_core::run::{Saying, ToSay};
use tidegate_core::time::WallMs;
use tidegate_core::told::Told;

/// Rounds of `cargo xtask test`.
const ROUNDS: u64 = 1_000;

/// Numbers that look random and follow from a seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }
}

/// Every transcript there is.
fn transcripts() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let folders = |path: &Path| -> Vec<_> {
        let mut all: Vec<_> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    };
    let cases = folders(&root).into_iter().flat_map(|agent| folders(&agent));
    cases.map(|case| std::fs::read(case.join("stdout")).unwrap()).collect()
}

/// A stream made of two, with some of it changed.
fn made(dice: &mut Dice, from: &[Vec<u8>]) -> Vec<u8> {
    let lines = |dice: &mut Dice| -> Vec<Vec<u8>> {
        let one = &from[dice.below(from.len())];
        one.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (mut kept, others) = (lines(dice), lines(dice));
    kept.truncate(60);
    for _ in 0..dice.below(8) {
        let at = dice.below(kept.len());
        match dice.below(7) {
            0 if !others.is_empty() => kept.insert(at, others[dice.below(others.len())].clone()),
            1 if !kept.is_empty() => drop(kept.remove(at)),
            2 if !kept.is_empty() => kept.swap(0, at),
            3 => kept.insert(at, deep(dice)),
            4 | 5 if !kept.is_empty() && !kept[at].is_empty() => {
                let place = dice.below(kept[at].len());
                kept[at][place] = u8::try_from(dice.below(256)).unwrap();
            }
            6 if !kept.is_empty() => {
                let length = dice.below(kept[at].len());
                kept[at].truncate(length);
            }
            _ => kept.insert(at, numbers(dice)),
        }
    }
    kept.concat()
}

fn deep(dice: &mut Dice) -> Vec<u8> {
    let depth = dice.below(300);
    ["{\"type\":".repeat(depth), "1".to_owned(), "}".repeat(depth), "\n".to_owned()]
        .concat()
        .into_bytes()
}

fn numbers(dice: &mut Dice) -> Vec<u8> {
    let odd =
        ["-1", "1e999", "18446744073709551616", "-9223372036854775808", "0.1", "null", "\"\""];
    let odd = odd[dice.below(odd.len())];
    let lines = [
        format!(
            r#"{{"type":"result","is_error":false,"usage":{{"input_tokens":{odd}}},"total_cost_usd":{odd}}}"#
        ),
        format!(
            r#"{{"type":"system","subtype":"api_retry","retry_delay_ms":{odd},"error_status":{odd}}}"#
        ),
        format!(r#"{{"id":{odd},"result":{{"thread":{{"id":{odd}}}}}}}"#),
        format!(r#"{{"type":"command_lifecycle","command_uuid":{odd},"state":{odd}}}"#),
        format!(
            r#"{{"type":"control_request","request_id":{odd},"request":{{"subtype":"can_use_tool"}}}}"#
        ),
    ];
    format!("{}\n", lines[dice.below(lines.len())]).into_bytes()
}

/// The bytes in pieces.
fn pieces<'b>(dice: &mut Dice, mut bytes: &'b [u8]) -> Vec<&'b [u8]> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(dice.below(bytes.len().min(900)) + 1);
        all.push(piece);
        bytes = rest;
    }
    all
}

fn judged(rules: &Rules<'_>, pieces: &[&[u8]]) -> (Vec<Event>, Told) {
    let mut judge = Judge::new(rules);
    let mut events = Vec::new();
    for piece in pieces {
        judge.stdout(piece, |event| events.push(event.clone()));
        judge.stderr(piece);
    }
    let exit = Exit { code: Some(0), ..Exit::lost(Reason::Exited, WallMs(1_796_050_014_000)) };
    let told = judge.end(&exit, true, |event| events.push(event.clone()));
    (events, told)
}

/// What an agent is told that wrote all of this, and how often.
fn answered(protocol: Protocol, pieces: &[&[u8]]) -> Vec<Due> {
    let opening = Opening {
        prompt: "Do the work.",
        cwd: "/srv",
        session: None,
        resumed: false,
        permissions: Permissions::Given,
        job: 1,
    };
    let saying = |message| Saying { message, text: "so".to_owned(), interrupts: message == 2 };
    let to_say = ToSay { messages: vec![saying(1), saying(2)], replies: Vec::new() };
    let mut dialogue = Dialogue::new(protocol).unwrap();
    for piece in pieces {
        dialogue.heard(piece);
    }
    let mut all = Vec::new();
    while let Some(due) = dialogue.due(&opening, &to_say) {
        match &due {
            Due::Write(line) => dialogue.wrote(line),
            Due::Close => dialogue.closed(),
            Due::Tell(_) => {}
        }
        all.push(due);
        assert!(all.len() < 2_000, "it is never quiet");
    }
    all
}

fn play(seed: u64, from: &[Vec<u8>], rules: &[Rules<'_>]) {
    let mut dice = Dice(seed);
    let bytes = made(&mut dice, from);
    let rules = &rules[dice.below(rules.len())];
    let (events, told) = judged(rules, &[&bytes]);
    let cut = pieces(&mut dice, &bytes);
    assert_eq!(judged(rules, &cut), (events.clone(), told.clone()), "seed {seed}");
    let longest = events.iter().map(|event| match event {
        Event::Text(text) | Event::Raw { text, .. } | Event::Session(text) => text.len(),
        Event::Error(trouble) => trouble.text.len(),
        Event::TurnEnd { trouble, .. } => trouble.as_ref().map_or(0, |one| one.text.len()),
        Event::ToolStart { .. }
        | Event::ToolEnd { .. }
        | Event::Waiting { .. }
        | Event::Usage { .. } => 0,
    });
    assert!(longest.max().unwrap_or(0) <= 2 * 1024 + 3, "seed {seed}");
    assert!(told.detail.is_none_or(|detail| detail.len() <= 404), "seed {seed}");
    for protocol in [Protocol::ClaudeStream, Protocol::CodexAppServer] {
        assert_eq!(answered(protocol, &cut), answered(protocol, &[&bytes]), "seed {seed}");
    }
}

#[test]
fn streams_that_nobody_would_write_are_read_without_a_panic_and_alike_in_any_pieces() {
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |text| text.parse::<u64>().unwrap())
    };
    let (rounds, first) = (number("TIDEGATE_FUZZ", ROUNDS), number("TIDEGATE_FUZZ_SEED", 1));
    let from = transcripts();
    let manifests: Vec<Manifest> =
        provider_names().map(|name| builtin_entry(name).unwrap().0.manifest).collect();
    let rules: Vec<Rules<'_>> =
        manifests.iter().map(|manifest| Rules::new(manifest, 3_600).unwrap()).collect();
    for seed in first..first + rounds {
        let game = std::panic::AssertUnwindSafe(|| play(seed, &from, &rules));
        let outcome = std::panic::catch_unwind(game);
        assert!(outcome.is_ok(), "`cargo xtask fuzz 1 --seed {seed}` plays it again");
    }
}
