//! What each CLI wrote in each case, read by its built-in manifest: the same answer for the same
//! bytes, however they are cut.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use tidegate_agents::{Event, Judge, Rules};
use tidegate_config::{builtin_entry, provider_names};
use tidegate_core::exit::{Exit, Reason};
use tidegate_core::time::WallMs;
use tidegate_core::told::Told;

/// 30 November 2026, 14:46:54 UTC: when the usage limits of the transcripts were told.
const ENDED: WallMs = WallMs(1_796_050_014_000);

struct Case {
    agent: String,
    name: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    exit: Exit,
}

/// Read once: there are many, and the tests go through them often.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut cases = Vec::new();
    for agent in folders(&root) {
        for case in folders(&agent) {
            let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
            let code = std::fs::read_to_string(case.join("exit")).unwrap();
            cases.push(Case {
                agent: name(&agent),
                name: name(&case),
                stdout: std::fs::read(case.join("stdout")).unwrap(),
                stderr: std::fs::read(case.join("stderr")).unwrap_or_default(),
                exit: exit_of(code.trim().parse().ok()),
            });
        }
    }
    cases
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(root).unwrap().map(|one| one.unwrap().path()).collect();
    all.retain(|path| path.is_dir());
    all.sort();
    all
}

/// An exit code, a signal below nothing, or a process that was stopped at its time limit.
fn exit_of(code: Option<i32>) -> Exit {
    let reason = match code {
        Some(code) if code >= 0 => Reason::Exited,
        Some(_) => Reason::Signalled,
        None => Reason::Timeout,
    };
    Exit {
        code: code.filter(|code| *code >= 0),
        signal: code.filter(|code| *code < 0).map(|signal| -signal),
        ..Exit::lost(reason, ENDED)
    }
}

/// The rules of every agent, compiled once.
static RULES: LazyLock<BTreeMap<&str, Rules<'static>>> = LazyLock::new(|| {
    let rules = |name| {
        let manifest = Box::leak(Box::new(builtin_entry(name).unwrap().0.manifest));
        (name, Rules::new(manifest, 0).unwrap())
    };
    provider_names().map(rules).collect()
});

fn read(case: &Case, pieces: &[&[u8]]) -> (Vec<Event>, Told) {
    let mut judge = Judge::new(&RULES[case.agent.as_str()]);
    let mut events = Vec::new();
    for piece in pieces {
        judge.stdout(piece, |event| events.push(event.clone()));
    }
    judge.stderr(&case.stderr);
    let resumed = case.name.contains("resume");
    let told = judge.end(&case.exit, resumed, |event| events.push(event.clone()));
    (events, told)
}

#[test]
fn every_transcript_has_the_outcome_that_it_should_have() {
    let mut table = String::new();
    for case in CASES.iter() {
        let (events, told) = read(case, &[&case.stdout]);
        let waits = events.iter().filter(|event| matches!(event, Event::Waiting { .. })).count();
        let tools = events.iter().filter(|event| matches!(event, Event::ToolEnd { .. })).count();
        let id = if told.session.is_some() { "id" } else { "--" };
        let reset = told.reset.map_or("-".to_owned(), |at| format!("{}s", (at.0 - ENDED.0) / 1000));
        let usage = told.usage;
        let cost = usage.cost_micros.map_or("-".to_owned(), |cost| cost.to_string());
        let gone = if told.gone { " GONE" } else { "" };
        let detail: String = told.detail.unwrap_or_default().chars().take(80).collect();
        writeln!(
            table,
            "{:9} {:28} {:12} {id} reset {reset:6} tools {tools} waits {waits} tokens {}/{}/{} \
             cost {cost}{gone} | {}",
            case.agent,
            case.name,
            told.outcome.word(),
            usage.input,
            usage.cached,
            usage.output,
            detail.replace('\n', " ")
        )
        .unwrap();
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(table) });
}

#[test]
fn every_transcript_fed_byte_by_byte_gives_the_same_events() {
    for case in CASES.iter() {
        let whole = read(case, &[&case.stdout]);
        let bytes: Vec<&[u8]> = case.stdout.chunks(1).collect();
        assert_eq!(read(case, &bytes), whole, "{}/{}", case.agent, case.name);
    }
}

#[test]
fn transcripts_cut_at_any_byte_give_the_same_events() {
    for case in CASES.iter().filter(|case| case.stdout.len() < 1_200 && !case.stdout.is_empty()) {
        let whole = read(case, &[&case.stdout]);
        for at in 0..case.stdout.len() {
            let (first, second) = case.stdout.split_at(at);
            assert_eq!(read(case, &[first, second]), whole, "{} at {at}", case.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A stream that breaks off anywhere, or is damaged, never panics and never reads as more of a
    /// success than its whole.
    #[test]
    fn a_damaged_transcript_is_read_without_a_panic(
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 0..40),
        cut in any::<bool>(),
    ) {
            let case = pick.get(&CASES);
        prop_assume!(!case.stdout.is_empty());
        let at = at.index(case.stdout.len());
        let mut bytes = case.stdout[..at].to_vec();
        bytes.extend_from_slice(&garbage);
        if !cut {
            bytes.extend_from_slice(&case.stdout[at..]);
        }
        let (events, told) = read(case, &[&bytes]);
        if cut && garbage.is_empty() {
            let (whole, _) = read(case, &[&case.stdout]);
            prop_assert!(events.len() <= whole.len() + 1);
        }
        prop_assert!(told.detail.is_none_or(|detail| detail.len() <= 404));
    }

    #[test]
    fn garbage_is_raw_and_never_an_end(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let case = Case {
            agent: "claude".to_owned(),
            name: String::new(),
            stdout: Vec::new(),
            stderr: bytes.clone(),
            exit: exit_of(Some(0)),
        };
        let (events, told) = read(&case, &[&bytes]);
        let raw = events.iter().all(|event| matches!(event, Event::Raw { .. }));
        prop_assert!(raw);
        prop_assert_eq!(told.outcome, tidegate_core::told::Outcome::Unknown);
    }
}
