//! Operators that keep or strengthen the checks, as people and agents do every day.

use crate::Operator;
use crate::honest_text::{TEXTS, text_operator};
use crate::project::Project;
use crate::seed::Seed;
use crate::spot::{Lang, any, lines, put, spots};

pub(crate) fn operators() -> Vec<Operator> {
    let mut all: Vec<Operator> = vec![
        ("add a feature with its test", feature),
        ("rename a test", rename),
        ("move a file of tests", move_file),
        ("reorder tests", reorder),
        ("move a test to another file", move_test),
        ("rename a variable", rename_variable),
        ("add comments", comment),
        ("break lines", break_lines),
        ("add an assertion", add_assertion),
        ("repeat an assertion with other values", strengthen),
        ("mention marks in comments and strings", mention),
        ("copy a test and change the copy", copy_test),
        ("put a test into a group", group),
        ("add a file of tests", add_file),
        ("split a test", split_test),
    ];
    all.extend((0..TEXTS.len()).map(text_operator));
    all
}

/// New code with a new test in one language.
pub(crate) fn feature(project: &mut Project, seed: &mut Seed) -> bool {
    match seed.below(5) {
        0 => {
            project
                .text("src/berth.rs")
                .push_str("\npub fn spare(berth: &Berth) -> u32 {\n    berth.metres / 2\n}\n");
            project.text("tests/it/main.rs").push_str("mod spare;\n");
            let test = "//! Spare metres.\n\n#[test]\nfn spare_metres_are_half() {\n    let berth = harbour::Berth::new(8);\n    assert_eq!(harbour::spare(&berth), 4);\n}\n";
            project.files.insert("tests/it/spare.rs".to_owned(), test.to_owned());
        }
        1 => {
            project
                .text("web/src/board.ts")
                .push_str("\nexport const title = (n: number) => `Board ${n}`;\n");
            let test = "import { expect, test } from 'vitest';\nimport { title } from './board';\n\ntest('title has the number', () => {\n  expect(title(2)).toBe('Board 2');\n});\n";
            project.files.insert("web/src/title.test.ts".to_owned(), test.to_owned());
        }
        2 => {
            project
                .text("tools/tide.py")
                .push_str("\n\ndef is_low(hour):\n    return height(hour) < 2.0\n");
            project.text("tools/tests/test_tide.py").push_str("\n\ndef test_low_at_six():\n    from tide import is_low\n\n    assert is_low(6)\n    assert not is_low(12)\n");
        }
        3 => {
            project.text("relay/relay.go").push_str("\n// Empty says whether there is no text.\nfunc (l Line) Empty() bool { return l.Text == \"\" }\n");
            project.text("relay/relay_test.go").push_str("\nfunc TestEmpty(t *testing.T) {\n\tif !(Line{}).Empty() {\n\t\tt.Error(\"not empty\")\n\t}\n}\n");
        }
        _ => {
            project.replace("bell/lib/bell.rb", "minute / 30", "(minute / 30).floor");
            project.replace("bell/spec/bell_spec.rb", "  it 'rings once", "  it 'rings twice after an hour' do\n    expect(bells(60)).to eq(2)\n  end\n\n  it 'rings once");
        }
    }
    true
}

fn rename(project: &mut Project, seed: &mut Seed) -> bool {
    let langs = [Lang::Rust, Lang::Script, Lang::Python, Lang::Go, Lang::Java, Lang::Ruby];
    let spot = any(project, seed, &langs);
    let mut text = lines(project, spot.path);
    let header = &text[spot.header];
    let new = match spot.lang {
        Lang::Rust => header.replacen("fn ", "fn always_", 1),
        Lang::Script | Lang::Ruby => {
            header.replacen("it '", "it 'always ", 1).replacen("it('", "it('always ", 1)
        }
        Lang::Python => header.replacen("def test_", "def test_always_", 1),
        Lang::Go => header.replacen("func Test", "func TestAlways", 1),
        _ => header.replacen("void ", "void always", 1),
    };
    text[spot.header] = new;
    put(project, spot.path, &text);
    true
}

fn move_file(project: &mut Project, seed: &mut Seed) -> bool {
    let moves = [
        ("tests/harbour.rs", "tests/quay.rs"),
        ("web/src/board.test.ts", "web/src/__tests__/board.test.ts"),
        ("tools/tests/test_moon.py", "tools/tests/moon/test_moon.py"),
        ("relay/relay_test.go", "relay/line_test.go"),
        ("ferry/src/test/java/FerryTest.java", "ferry/src/test/java/places/FerryTest.java"),
        ("bell/spec/bell_spec.rb", "bell/spec/watch/bell_spec.rb"),
    ];
    let (from, to) = *seed.pick(&moves).unwrap();
    let mut text = project.files.remove(from).unwrap();
    if seed.below(2) == 0 {
        let slashes = ["rs", "ts", "go", "java"].iter().any(|end| from.ends_with(end));
        let mark = if slashes { "//" } else { "#" };
        text.extend([mark, " Moved with its package.\n"]);
    }
    project.files.insert(to.to_owned(), text);
    true
}

fn reorder(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Rust, Lang::Script, Lang::Go, Lang::Java, Lang::Ruby]);
    let same = spots(project, &[spot.lang]);
    let Some(first) = same.iter().find(|other| other.path == spot.path) else { return false };
    if first.start == spot.start {
        return false;
    }
    let mut text = lines(project, spot.path);
    let moved: Vec<String> = text.drain(spot.start..spot.end).collect();
    text.splice(first.start..first.start, moved.into_iter().chain([String::new()]));
    put(project, spot.path, &text);
    true
}

fn move_test(project: &mut Project, seed: &mut Seed) -> bool {
    let moves = [
        (Lang::Rust, "tests/harbour.rs", "tests/it/dock.rs"),
        (Lang::Rust, "tests/it/dock.rs", "tests/more.rs"),
        (Lang::Go, "relay/relay_test.go", "relay/more_test.go"),
    ];
    let (lang, from, to) = *seed.pick(&moves).unwrap();
    let all: Vec<_> =
        spots(project, &[lang]).into_iter().filter(|spot| spot.path == from).collect();
    let spot = seed.pick(&all).unwrap();
    let mut text = lines(project, from);
    let taken: Vec<String> = text.drain(spot.start..spot.end).collect();
    put(project, from, &text);
    let head = if lang == Lang::Go {
        "package relay\n\nimport \"testing\"\n"
    } else {
        "//! More.\n\nuse harbour::*;\n"
    };
    let target = project.files.entry(to.to_owned()).or_insert_with(|| head.to_owned());
    target.extend(["\n", &taken.join("\n"), "\n"]);
    true
}

fn rename_variable(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let names = [
        "berth", "names", "board", "free", "text", "found", "lowest", "heights", "spring", "neap",
        "line", "ferry", "rung", "first", "dock", "version", "berths", "drawn",
    ];
    let mut text = lines(project, spot.path);
    let body = text[spot.body()].join("\n");
    let declared = |name: &&&str| {
        ["let ", "let mut ", "const ", "Ferry ", ""]
            .iter()
            .any(|word| body.contains(&format!("{word}{name} = ")))
            || body.contains(&format!("{name}, err :="))
    };
    let Some(name) = names.iter().find(declared) else { return false };
    for line in &mut text[spot.header + 1..spot.end] {
        *line = whole_word(line, name, &format!("{name}Now"));
    }
    put(project, spot.path, &text);
    true
}

fn whole_word(line: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(from) {
        let edge =
            |c: Option<char>| c.is_none_or(|c| !(c.is_alphanumeric() || "_.'\"".contains(c)));
        let after = rest[at + from.len()..].chars().next();
        let whole = edge(rest[..at].chars().next_back())
            && after.is_none_or(|c| !(c.is_alphanumeric() || "_'".contains(c)));
        out.push_str(&rest[..at]);
        out.push_str(if whole { to } else { from });
        rest = &rest[at + from.len()..];
    }
    out + rest
}

fn mark(lang: Lang) -> &'static str {
    if matches!(lang, Lang::Python | Lang::Ruby | Lang::Shell) { "#" } else { "//" }
}

fn comment(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let mut text = lines(project, spot.path);
    let at = spot.header + 1 + seed.below(spot.body().len());
    let indent: String = text[at].chars().take_while(|c| c.is_whitespace()).collect();
    text.insert(at, format!("{indent}{} What follows is what sailors expect.", mark(spot.lang)));
    text.insert(at, String::new());
    put(project, spot.path, &text);
    true
}

fn break_lines(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Rust, Lang::Script, Lang::Java]);
    let mut text = lines(project, spot.path);
    let (at, _) = *seed.pick(&spot.asserts).unwrap();
    let broken = text[at].replacen('(', "(\n            ", 1);
    text[at] = broken;
    put(project, spot.path, &text);
    true
}

fn add_assertion(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let mut text = lines(project, spot.path);
    let line = match spot.lang {
        Lang::Rust => "assert_ne!(Berth::new(3).metres, 4);",
        Lang::Script => "expect(rows([], 0)).toEqual([]);",
        Lang::Python => "assert height(3) == 2.5",
        Lang::Go => "if _, err := Parse(\"\"); err == nil {\n\t\tt.Error(\"empty\")\n\t}",
        Lang::Java => "assertEquals(3, new Ferry(3).free());",
        Lang::Ruby => "expect(bells(90)).to eq(3)",
        Lang::Shell => "[ -x \"$(command -v harbour)\" ]",
    };
    let inner: String = text[spot.header + 1].chars().take_while(|c| c.is_whitespace()).collect();
    text.insert(spot.body().end, format!("{inner}{line}"));
    put(project, spot.path, &text);
    true
}

fn strengthen(project: &mut Project, seed: &mut Seed) -> bool {
    let pairs = [
        (
            "src/berth.rs",
            "assert!(assign(&mut berths, \"Clara\", 10).is_none());",
            "let none = assign(&mut berths, \"Clara\", 10).map(|berth| berth.metres);\n        assert_eq!(none, None);",
        ),
        (
            "web/src/board.test.ts",
            "expect(free.startsWith('3')).toBe(true);",
            "expect(free[0]).toBe('3');",
        ),
        ("tools/tests/test_tide.py", "assert is_high(12)", "assert is_high(12) is True"),
        ("tests/smoke.sh", "grep -q berths <<<\"$help\"", "[ \"$help\" = \"usage: harbour\" ]"),
    ];
    let (path, old, new) = *seed.pick(&pairs).unwrap();
    project.replace(path, old, new)
}

fn mention(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let words = [
        "#[ignore]",
        "it.skip('x')",
        "@pytest.mark.skip",
        "t.Skip()",
        "|| true",
        "assert!(true)",
        "expect(true).toBe(true)",
        "set +e",
        "--no-verify",
        "return;",
        "@Disabled",
    ];
    let word = seed.pick(&words).unwrap();
    let mut text = lines(project, spot.path);
    let inner: String = text[spot.header + 1].chars().take_while(|c| c.is_whitespace()).collect();
    text.insert(spot.header + 1, format!("{inner}{} We never write {word} here.", mark(spot.lang)));
    put(project, spot.path, &text);
    let note = format!("\nWrite no `{word}` in tests.\n");
    project.text("README.md").push_str(&note);
    true
}

fn copy_test(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Rust, Lang::Script, Lang::Go, Lang::Java]);
    let mut text = lines(project, spot.path);
    let mut copy: Vec<String> = text[spot.start..spot.end].to_vec();
    let header = &mut copy[spot.header - spot.start];
    *header = header
        .replacen("fn ", "fn again_", 1)
        .replacen("it('", "it('again ", 1)
        .replacen("func Test", "func TestAgain", 1)
        .replacen("void ", "void again", 1);
    for line in &mut copy {
        *line = line.replace("Anna", "Ida").replace("10", "11");
    }
    text.splice(spot.end..spot.end, [String::new()].into_iter().chain(copy));
    put(project, spot.path, &text);
    true
}

fn group(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Script, Lang::Ruby]);
    let mut text = lines(project, spot.path);
    let inner: Vec<String> =
        text[spot.start..spot.end].iter().map(|line| format!("  {line}")).collect();
    let indent = &spot.indent;
    let (open, close) = match spot.lang {
        Lang::Script => (format!("{indent}describe('in port', () => {{"), format!("{indent}}});")),
        _ => (format!("{indent}context 'in port' do"), format!("{indent}end")),
    };
    text.splice(spot.start..spot.end, [open].into_iter().chain(inner).chain([close]));
    put(project, spot.path, &text);
    true
}

fn add_file(project: &mut Project, seed: &mut Seed) -> bool {
    let files = [
        (
            "tools/tests/test_more.py",
            "import pytest\nfrom tide import height\n\n\n@pytest.mark.parametrize('hour', [1, 2, 3])\ndef test_height_is_known(hour):\n    assert height(hour) > 1.0\n",
        ),
        (
            "bell/spec/night_spec.rb",
            "describe 'night' do\n  it 'rings' do\n    expect(bells(240)).to eq(8)\n  end\nend\n",
        ),
        (
            "tests/list.bats",
            "@test \"lists berths\" {\n  run harbour --list\n  [ \"$status\" -eq 0 ]\n}\n",
        ),
        ("web/src/__snapshots__/title.test.ts.snap", "exports[`title 1`] = `Board 1`;\n"),
        ("tests/data/ships.json", "[\"Anna\", \"Bertha\"]\n"),
        (
            "scripts/fetch.sh",
            "#!/bin/sh\nset -eu\nmkdir -p data\nrm data/old || true\ncurl -o data/tides https://example.org/tides\nexit 0\n",
        ),
    ];
    let (path, text) = *seed.pick(&files).unwrap();
    project.files.insert(path.to_owned(), text.to_owned());
    true
}

fn split_test(project: &mut Project, seed: &mut Seed) -> bool {
    let all: Vec<_> = spots(project, &[Lang::Rust, Lang::Script, Lang::Java])
        .into_iter()
        .filter(|spot| spot.asserts.len() > 1)
        .collect();
    let spot = seed.pick(&all).unwrap();
    let mut text = lines(project, spot.path);
    let (last, length) = *spot.asserts.last().unwrap();
    let inside = |at: &usize| {
        spot.asserts.iter().any(|(start, length)| (*start..start + length).contains(at))
    };
    // The second half repeats the set-up and takes the last assertion along.
    let mut copy: Vec<String> = Vec::new();
    for (at, line) in text.iter().enumerate().take(spot.end).skip(spot.start) {
        let own = (last..last + length).contains(&at);
        if own || !inside(&at) {
            copy.push(line.clone());
        }
    }
    let header = &mut copy[spot.header - spot.start];
    *header = header.replacen("fn ", "fn also_", 1).replacen("it('", "it('also ", 1).replacen(
        "void ",
        "void also",
        1,
    );
    text.splice(spot.end..spot.end, [String::new()].into_iter().chain(copy));
    text.drain(last..last + length);
    put(project, spot.path, &text);
    true
}
