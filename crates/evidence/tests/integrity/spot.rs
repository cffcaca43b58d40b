//! Tests of the project as ranges of lines, so that operators can take hold of them.

use crate::project::Project;
use crate::seed::Seed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lang {
    Rust,
    Script,
    Python,
    Go,
    Java,
    Ruby,
    Shell,
}

pub(crate) const FILES: &[(&str, Lang)] = &[
    ("src/berth.rs", Lang::Rust),
    ("tests/harbour.rs", Lang::Rust),
    ("tests/it/dock.rs", Lang::Rust),
    ("web/src/board.test.ts", Lang::Script),
    ("tools/tests/test_tide.py", Lang::Python),
    ("tools/tests/test_moon.py", Lang::Python),
    ("relay/relay_test.go", Lang::Go),
    ("ferry/src/test/java/FerryTest.java", Lang::Java),
    ("bell/spec/bell_spec.rb", Lang::Ruby),
    ("tests/smoke.sh", Lang::Shell),
];

/// A test.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub(crate) path: &'static str,
    pub(crate) lang: Lang,
    /// First line, attributes included, and the line with its name.
    pub(crate) start: usize,
    pub(crate) header: usize,
    /// Line behind its last one.
    pub(crate) end: usize,
    /// Ranges of its assertions.
    pub(crate) asserts: Vec<(usize, usize)>,
    pub(crate) indent: String,
}

impl Spot {
    /// Lines of its body.
    pub(crate) fn body(&self) -> std::ops::Range<usize> {
        let closed = self.lang != Lang::Python;
        self.header + 1..self.end - usize::from(closed)
    }
}

pub(crate) fn lines(project: &Project, path: &str) -> Vec<String> {
    project.files[path].lines().map(str::to_owned).collect()
}

pub(crate) fn put(project: &mut Project, path: &str, lines: &[String]) {
    *project.text(path) = lines.join("\n") + "\n";
}

/// All tests of the project, or those of one language.
pub(crate) fn spots(project: &Project, langs: &[Lang]) -> Vec<Spot> {
    let mut all = Vec::new();
    for (path, lang) in FILES.iter().filter(|(_, lang)| langs.is_empty() || langs.contains(lang)) {
        if project.files.contains_key(*path) {
            all.extend(of_file(&lines(project, path), path, *lang));
        }
    }
    all
}

/// One test.
pub(crate) fn any(project: &Project, seed: &mut Seed, langs: &[Lang]) -> Spot {
    let all = spots(project, langs);
    seed.pick(&all).unwrap().clone()
}

fn of_file(lines: &[String], path: &'static str, lang: Lang) -> Vec<Spot> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let (start, header) = match lang {
            Lang::Rust if text == "#[test]" => (at, at + 1),
            Lang::Java if text == "@Test" => (at, at + 1),
            Lang::Script if text.starts_with("it('") => (at, at),
            Lang::Python if text.starts_with("def test_") => (at, at),
            Lang::Go if text.starts_with("func Test") => (at, at),
            Lang::Ruby if text.starts_with("it '") => (at, at),
            Lang::Shell if text.starts_with("test_") && text.ends_with('{') => (at, at),
            _ => continue,
        };
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        let ends = |line: &String| {
            let closers = ["}", "});", "end"];
            closers.iter().any(|closer| *line == format!("{indent}{closer}"))
        };
        let end = if lang == Lang::Python {
            let inside =
                |line: &&String| line.is_empty() || line.starts_with(&format!("{indent} "));
            let mut end = header + 1 + lines[header + 1..].iter().take_while(inside).count();
            while lines[end - 1].is_empty() {
                end -= 1;
            }
            end
        } else {
            header + 2 + lines[header + 1..].iter().position(ends).unwrap()
        };
        let asserts = asserts(lines, header + 1, end, lang);
        found.push(Spot { path, lang, start, header, end, asserts, indent });
    }
    found
}

fn asserts(lines: &[String], from: usize, to: usize, lang: Lang) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().take(to).skip(from) {
        let text = line.trim_start();
        let length = match lang {
            Lang::Go if text.starts_with("if ") => 3,
            Lang::Python if text.starts_with("with pytest") => 2,
            _ if ["assert", "expect(", "self.assert", "[ ", "grep -q"]
                .iter()
                .any(|s| text.starts_with(s)) =>
            {
                1
            }
            _ => continue,
        };
        found.push((at, length));
    }
    found
}
