//! Texts that are cut, shuffled or nonsense: they are read to their end, whatever they are.

use tidegate_evidence::integrity::{Change, ChangedFile, Conventions, inspect};

use crate::project::Project;
use crate::seed::Seed;

const WORDS: &[&str] = &[
    "#",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "test",
    "fn",
    "a",
    "mod",
    ";",
    ":",
    ".",
    "RSpec",
    "describe",
    "it",
    "'x'",
    "do",
    "end",
    "def",
    "class",
    "@",
    "assert",
    "==",
    "expect",
    "toBe",
    "if",
    "false",
    "t",
    "Fatal",
    "func",
    "TestA",
    "return",
    "\n",
    "\n  ",
    "except",
    "catch",
    "||",
    "true",
    "with",
    "raises",
    "assert_eq",
    "!",
    "with",
    "<<EOF",
    "\"",
    "'",
    "`",
    "/*",
    "//",
    "skip",
    "each",
    "=>",
    "function",
    "const",
    "=",
    "cfg",
    "any",
    "ignore",
    "Disabled",
    "void",
    "exit",
    "0",
    "set",
    "-e",
];

fn soup(seed: &mut Seed) -> String {
    let length = seed.below(60);
    (0..length).map(|_| format!("{} ", seed.pick(WORDS).unwrap())).collect::<Vec<_>>().concat()
}

/// A text with a part cut out at any character.
fn cut(text: &str, seed: &mut Seed) -> String {
    let letters: Vec<char> = text.chars().collect();
    let (a, b) = (seed.below(letters.len() + 1), seed.below(letters.len() + 1));
    letters[..a.min(b)].iter().chain(&letters[a.max(b)..]).collect()
}

#[test]
fn text_that_ends_in_the_middle_is_read() {
    let ends = [
        ("tests/a.rs", "#["),
        ("tests/a.rs", "fn a("),
        ("tests/a.rs", "assert_eq!"),
        ("a_spec.rb", "RSpec\n.\ndescribe"),
        ("a.test.ts", "it("),
        ("a.test.ts", "expect("),
        ("test_a.py", "def test_a("),
        ("test_a.py", "@"),
        ("a_test.go", "func TestA(t *testing.T) {"),
        ("ATest.java", "@Test void a("),
        ("tests/a.sh", "test_a() {"),
    ];
    for (path, text) in ends {
        let change =
            Change { files: vec![ChangedFile::modified(path, text, "")], ..Change::default() };
        assert!(inspect(&change, &Conventions::default()).is_ok(), "{path}: {text}");
    }
}

#[test]
fn broken_texts_are_read_to_their_end() {
    let project = Project::new();
    let files: Vec<(&String, &String)> = project.files.iter().collect();
    let conventions = Conventions::default();
    for round in 0..800 {
        let mut seed = Seed::new(round);
        let (path, text) = *seed.pick(&files).unwrap();
        let new = if seed.below(2) == 0 { cut(text, &mut seed) } else { soup(&mut seed) };
        let files =
            vec![ChangedFile::modified(path, text, &new), ChangedFile::modified(path, &new, text)];
        let change = Change { files, declared: Vec::new(), gates: Vec::new() };
        let found = inspect(&change, &conventions).unwrap();
        assert!(found.iter().all(|finding| !finding.path.is_empty()), "round {round}");
    }
}
