//! Files that are broken or hostile: each is refused in good time, with a line, without a panic.

#![expect(clippy::format_push_string, clippy::format_collect, reason = "short texts, read easily")]
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use support::{codes, findings};
use tidegate_config::{Code, Severity};

/// Time of a processor that a file may take at most, far above what one takes: what grows with the
/// square of the input is found out, a busy machine is not.
const LIMIT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });

fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

fn refused(name: &str, bytes: &[u8]) -> Vec<(Code, u32)> {
    let begun = spent();
    let found = findings(name, bytes);
    let took = spent().checked_sub(begun).unwrap();
    assert!(took < LIMIT, "{name} took {took:?}");
    let text = String::from_utf8_lossy(bytes);
    for one in &found {
        let shown = one.render(&text);
        assert!(shown.len() < 4_000, "{name}: {} bytes are shown", shown.len());
        let hidden = shown.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(hidden, None, "{name}: {shown:?}");
    }
    assert!(found.iter().any(|one| one.severity == Severity::Error), "{name} is refused");
    found.iter().map(|one| (one.code, one.line)).collect()
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let utf16: Vec<u8> =
        "\u{feff}# Plan\n- [ ] x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(refused("a.md", &utf16), [(Code::Utf16, 1)]);
    let swapped: Vec<u8> = "\u{feff}# Plan\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert_eq!(refused("a.toml", &swapped), [(Code::Utf16, 1)]);
    assert_eq!(
        refused("a.md", b"# Plan\n- [ ] T001 caf\xe9 \x00 end\n"),
        [(Code::NotUtf8, 2), (Code::NulByte, 2)]
    );
    assert_eq!(refused("a.toml", b"title = \"x\"\n\n\x00\n"), [(Code::NulByte, 3)]);
    assert_eq!(refused("a.toml", b"title = \"\xc3\x28\"\n"), [(Code::NotUtf8, 1)]);
    assert_eq!(refused("a.toml", b""), [(Code::EmptyFile, 1)]);
    assert_eq!(refused("a.md", b"\xef\xbb\xbf \r\n"), [(Code::EmptyFile, 1)]);
}

#[test]
fn huge_lines_and_files_are_refused_in_good_time() {
    let million = "y".repeat(1_000_000);
    let line = format!("# P\n- [ ] T001 {million}\n");
    assert_eq!(refused("a.md", line.as_bytes()), [(Code::LineTooLong, 2)]);
    assert_eq!(refused("a.toml", format!("title = {million}\n").as_bytes())[0].1, 1);
    assert_eq!(refused("a.toml", format!("{million} = 1\n").as_bytes())[0], (Code::UnknownKey, 1));
    let keys: String = (0..60_000).map(|n| format!("key{n} = 1\n")).collect();
    let found = refused("a.toml", keys.as_bytes());
    assert!(found.len() <= 202 && found.iter().any(|(code, _)| *code == Code::TooManyFindings));
    let keys: String = (0..60_000).map(|n| format!("k{n} = 1, ")).collect();
    refused("a.toml", format!("wave = [{{ {keys} z = 1 }}]\n").as_bytes());
    let big = vec![b'x'; 5_000_000];
    assert_eq!(refused("a.md", &big), [(Code::FileTooLarge, 1)]);
}

#[test]
fn deep_nesting_is_refused_in_good_time() {
    let deep = |open: &str, close: &str, count: usize| open.repeat(count) + &close.repeat(count);
    for (name, text) in [
        ("a.json", deep("[", "]", 100_000)),
        ("a.toml", format!("a = {}\n", deep("[", "]", 100_000))),
        ("a.toml", format!("a = {}\n", deep("{a=", "}", 50_000))),
        ("a.toml", format!("[{}a]\n", "a.".repeat(100_000))),
        ("a.toml", format!("{}a = 1\n", "a.".repeat(100_000))),
        ("a.md", format!("---\na: {}\n---\n", deep("[", "]", 40_000))),
        ("a.md", format!("---\n{}\n---\n", "- ".repeat(40_000))),
        ("a.md", format!("+++\na = {}\n+++\n", deep("[", "]", 40_000))),
        ("a.md", ">".repeat(90_000)),
        ("a.md", format!("{}\n", "> ".repeat(45_000)).repeat(3)),
        ("a.md", "- ".repeat(45_000)),
        ("a.md", (0..1_000).map(|n| format!("{}- x\n", "  ".repeat(n))).collect()),
        ("a.md", deep("[", "]", 45_000)),
        ("a.md", format!("{}\n", "*a_ ".repeat(20_000)).repeat(5)),
        ("a.md", format!("{}\n", "[a](".repeat(20_000)).repeat(5)),
        ("a.md", format!("{}\n", "`a``b".repeat(20_000)).repeat(5)),
        ("a.md", "![[\n".repeat(100_000)),
        ("a.md", "<!-- \n".repeat(100_000)),
        ("a.md", "# a\n\n".repeat(100_000)),
        ("a.md", "## Wave: a\n\n".repeat(50_000)),
        ("a.md", format!("## Wave: a\n\n{}", "### a\n\n- needs: a\n\n".repeat(20_000))),
    ] {
        refused(name, text.as_bytes());
    }
}

#[test]
fn plan_of_two_thousand_features_is_checked_in_good_time() {
    let mut plan = String::from("gates = [\"test\"]\n[[wave]]\n");
    for n in 0..2_000 {
        let needs = if n == 0 { "f1999".to_owned() } else { format!("f{}", n - 1) };
        plan += &format!(
            "[[wave.feature]]\nid = \"f{n}\"\nprompt = \"x\"\nneeds = [\"{needs}\"]\npaths = [\"src/f{n}/**\", \"d/*{n}.md\"]\n"
        );
    }
    assert_eq!(refused("a.toml", plan.as_bytes()), [(Code::NeedCycle, 6)]);
}

#[test]
fn unclosed_parts_are_refused_at_the_line_that_opens_them() {
    assert_eq!(codes("a.md", "---\ntitle: x\n# P\n"), ["unclosed_front_matter"]);
    assert_eq!(codes("a.md", "+++"), ["unclosed_front_matter"]);
    assert_eq!(
        refused("a.md", b"# P\n\n~~~\n```\n"),
        [(Code::NoFeatures, 1), (Code::UnclosedFence, 3)]
    );
    assert_eq!(
        refused("a.md", b"# P\n\n<!--\n"),
        [(Code::NoFeatures, 1), (Code::UnclosedComment, 3)]
    );
}
