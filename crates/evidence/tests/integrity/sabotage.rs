//! Operators that make a check weaker.

use crate::Operator;
use crate::project::Project;
use crate::sabotage_text::{TEXTS, text_operator};
use crate::seed::Seed;
use crate::spot::{FILES, Lang, any, lines, put, spots};

pub(crate) fn operators() -> Vec<Operator> {
    let mut all: Vec<Operator> = vec![
        ("delete a test", delete_test),
        ("delete a file of tests", delete_file),
        ("skip a test", skip_test),
        ("empty a test", empty_test),
        ("remove an assertion", remove_assertion),
        ("make an assertion a tautology", tautology),
        ("compare a value with itself", same_value),
        ("return early", return_early),
        ("put assertions under false", under_false),
        ("swallow the failure", swallow),
        ("rename out of the runner's sight", rename_out),
        ("comment a test out", comment_out),
        ("weaken an assertion", weaken),
        ("move a file out of the tests", move_out),
        ("end the process with success", end_process),
        ("focus a test", focus),
        ("leave the declared paths", leave_paths),
    ];
    all.extend((0..TEXTS.len()).map(text_operator));
    all
}

fn delete_test(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let mut text = lines(project, spot.path);
    text.drain(spot.start..spot.end);
    put(project, spot.path, &text);
    true
}

fn delete_file(project: &mut Project, seed: &mut Seed) -> bool {
    let files: Vec<_> = FILES.iter().filter(|(path, _)| !path.starts_with("src/")).collect();
    project.files.remove(seed.pick(&files).unwrap().0);
    true
}

fn skip_test(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let mut text = lines(project, spot.path);
    let indent = spot.indent.as_str();
    match spot.lang {
        Lang::Rust => {
            let mark = *seed.pick(&["#[ignore]", "#[ignore = \"slow\"]", "#[cfg(any())]"]).unwrap();
            text.insert(spot.header, format!("{indent}{mark}"));
        }
        Lang::Java => text.insert(spot.header, format!("{indent}@Disabled(\"later\")")),
        Lang::Script => {
            let word = *seed.pick(&["it.skip(", "xit(", "it.todo(", "it.fails("]).unwrap();
            text[spot.header] = text[spot.header].replacen("it(", word, 1);
        }
        Lang::Python => {
            let marks = [
                "@pytest.mark.skip",
                "@pytest.mark.xfail",
                "@unittest.skip('later')",
                "@pytest.mark.skipif(True, reason='x')",
            ];
            text.insert(spot.start, format!("{indent}{}", seed.pick(&marks).unwrap()));
        }
        Lang::Go => {
            let call = *seed.pick(&["t.Skip()", "t.Skip(\"flaky\")", "t.SkipNow()"]).unwrap();
            text.insert(spot.header + 1, format!("\t{call}"));
        }
        Lang::Ruby => {
            if seed.below(2) == 0 {
                text[spot.header] = text[spot.header].replacen("it ", "xit ", 1);
            } else {
                text.insert(spot.header + 1, format!("{indent}  skip 'later'"));
            }
        }
        Lang::Shell => text.insert(spot.header + 1, "  return 0".to_owned()),
    }
    put(project, spot.path, &text);
    true
}

fn without(text: &[String], ranges: &[(usize, usize)]) -> Vec<String> {
    let inside =
        |at: usize| ranges.iter().any(|(start, length)| (*start..start + length).contains(&at));
    text.iter().enumerate().filter(|(at, _)| !inside(*at)).map(|(_, line)| line.clone()).collect()
}

fn empty_test(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let mut text = lines(project, spot.path);
    let idle = if spot.lang == Lang::Python { "    pass" } else { "" };
    text.insert(
        spot.end - usize::from(spot.lang != Lang::Python),
        format!("{}{idle}", spot.indent),
    );
    put(project, spot.path, &without(&text, &spot.asserts));
    true
}

fn remove_assertion(project: &mut Project, seed: &mut Seed) -> bool {
    let all: Vec<_> =
        spots(project, &[]).into_iter().filter(|spot| spot.asserts.len() > 1).collect();
    let spot = seed.pick(&all).unwrap();
    let one = *seed.pick(&spot.asserts).unwrap();
    put(project, spot.path, &without(&lines(project, spot.path), &[one]));
    true
}

/// Puts other lines in the place of one assertion.
fn replace_one(
    project: &mut Project,
    seed: &mut Seed,
    langs: &[Lang],
    new: impl Fn(&str, Lang) -> Option<String>,
) -> bool {
    let spot = any(project, seed, langs);
    let (at, length) = *seed.pick(&spot.asserts).unwrap();
    let mut text = lines(project, spot.path);
    let indent: String = text[at].chars().take_while(|c| c.is_whitespace()).collect();
    let Some(new) = new(text[at].trim(), spot.lang) else { return false };
    text.splice(at..at + length, [format!("{indent}{new}")]);
    put(project, spot.path, &text);
    true
}

fn tautology(project: &mut Project, seed: &mut Seed) -> bool {
    replace_one(project, seed, &[], |old, lang| {
        Some(match lang {
            Lang::Rust => "assert!(true);".to_owned(),
            Lang::Script => "expect(true).toBe(true);".to_owned(),
            Lang::Python if old.starts_with("self") => "self.assertTrue(True)".to_owned(),
            Lang::Python => "assert True".to_owned(),
            Lang::Go => "if false {\n\t\tt.Error(\"no\")\n\t}".to_owned(),
            Lang::Java => "assertEquals(1, 1);".to_owned(),
            Lang::Ruby => "expect(true).to eq(true)".to_owned(),
            Lang::Shell => "[ 1 -eq 1 ]".to_owned(),
        })
    })
}

fn same_value(project: &mut Project, seed: &mut Seed) -> bool {
    replace_one(project, seed, &[], |_, lang| {
        Some(match lang {
            Lang::Rust => "assert_eq!(Berth::new(1).metres, Berth::new(1).metres);".to_owned(),
            Lang::Script => "expect(label).toBe(label);".to_owned(),
            Lang::Python => "assert height(3) == height(3)".to_owned(),
            Lang::Go => "if line != line {\n\t\tt.Error(\"no\")\n\t}".to_owned(),
            Lang::Java => "assertEquals(ferry.free(), ferry.free());".to_owned(),
            Lang::Ruby | Lang::Shell => return None,
        })
    })
}

fn weaken(project: &mut Project, seed: &mut Seed) -> bool {
    replace_one(project, seed, &[], |old, lang| {
        let exact =
            ["assert_eq!", ".toBe('", ".toEqual(", "==", "assertEqual", "eq(", "\" = ", "!= \""];
        if !exact.iter().any(|sign| old.contains(sign)) {
            return None;
        }
        Some(match lang {
            Lang::Rust => "assert!(berths.len() > 0);".to_owned(),
            Lang::Script => "expect(label).toBeDefined();".to_owned(),
            Lang::Python if old.starts_with("self") => "self.assertIsNotNone(height(0))".to_owned(),
            Lang::Python => "assert height(1) is not None".to_owned(),
            Lang::Go => "if err != nil {\n\t\tt.Error(err)\n\t}".to_owned(),
            Lang::Java => "assertNotNull(ferry);".to_owned(),
            Lang::Ruby => "expect(bells(0)).to be_truthy".to_owned(),
            Lang::Shell => "[ -n \"$version\" ]".to_owned(),
        })
    })
}

fn return_early(project: &mut Project, seed: &mut Seed) -> bool {
    let langs =
        [Lang::Rust, Lang::Script, Lang::Python, Lang::Go, Lang::Java, Lang::Ruby, Lang::Shell];
    let spot = any(project, seed, &langs);
    let mut text = lines(project, spot.path);
    let inner = text[spot.header + 1].chars().take_while(|c| c.is_whitespace()).collect::<String>();
    let word = match spot.lang {
        Lang::Rust | Lang::Script | Lang::Java => "return;",
        Lang::Python | Lang::Go | Lang::Ruby | Lang::Shell => "return",
    };
    text.insert(spot.header + 1, format!("{inner}{word}"));
    put(project, spot.path, &text);
    true
}

fn under_false(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Rust, Lang::Script, Lang::Python, Lang::Go, Lang::Java]);
    let mut text = lines(project, spot.path);
    let body: Vec<String> = text[spot.body()].iter().map(|line| format!("    {line}")).collect();
    let inner = format!("{}    ", spot.indent);
    let (open, close) = match spot.lang {
        Lang::Python => ("if False:", None),
        Lang::Script | Lang::Java => ("if (false) {", Some("}")),
        _ => ("if false {", Some("}")),
    };
    let mut new = vec![format!("{inner}{open}")];
    new.extend(body);
    new.extend(close.map(|close| format!("{inner}{close}")));
    text.splice(spot.body(), new);
    put(project, spot.path, &text);
    true
}

fn swallow(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Script, Lang::Python, Lang::Java]);
    let mut text = lines(project, spot.path);
    let inner = format!("{}    ", spot.indent);
    let body = text[spot.body()].iter().map(|line| format!("    {line}"));
    let (open, close) = match spot.lang {
        Lang::Python => ("try:", format!("{inner}except Exception:\n{inner}    pass")),
        Lang::Script => ("try {", format!("{inner}}} catch (error) {{}}")),
        _ => ("try {", format!("{inner}}} catch (Throwable error) {{\n{inner}}}")),
    };
    let new: Vec<String> =
        [format!("{inner}{open}")].into_iter().chain(body).chain([close]).collect();
    text.splice(spot.body(), new);
    put(project, spot.path, &text);
    true
}

fn rename_out(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Rust, Lang::Python, Lang::Go, Lang::Java]);
    let mut text = lines(project, spot.path);
    match spot.lang {
        Lang::Python => {
            text[spot.header] = text[spot.header].replacen("def test_", "def old_test_", 1);
        }
        Lang::Go => text[spot.header] = text[spot.header].replacen("func Test", "func offTest", 1),
        _ => {
            text.remove(spot.start);
        }
    }
    put(project, spot.path, &text);
    true
}

fn comment_out(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[]);
    let mut text = lines(project, spot.path);
    let hash = matches!(spot.lang, Lang::Python | Lang::Ruby | Lang::Shell);
    let mark = if hash { "# " } else { "// " };
    for line in &mut text[spot.start..spot.end] {
        *line = format!("{mark}{line}");
    }
    put(project, spot.path, &text);
    true
}

fn move_out(project: &mut Project, seed: &mut Seed) -> bool {
    let moves = [
        ("tests/harbour.rs", "attic/harbour.rs"),
        ("web/src/board.test.ts", "web/src/board.old.ts"),
        ("tools/tests/test_moon.py", "tools/attic/moon.py"),
        ("relay/relay_test.go", "relay/relay_test.go.off"),
        ("ferry/src/test/java/FerryTest.java", "ferry/docs/FerryCheck.java"),
    ];
    let (from, to) = *seed.pick(&moves).unwrap();
    let text = project.files.remove(from).unwrap();
    project.files.insert(to.to_owned(), text);
    true
}

fn end_process(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Rust, Lang::Script, Lang::Python, Lang::Go, Lang::Java]);
    let mut text = lines(project, spot.path);
    let call = match spot.lang {
        Lang::Rust => "std::process::exit(0);",
        Lang::Script => "process.exit(0);",
        Lang::Python => "sys.exit(0)",
        Lang::Go => "os.Exit(0)",
        _ => "System.exit(0);",
    };
    text.insert(spot.header + 1, format!("{}    {call}", spot.indent));
    put(project, spot.path, &text);
    true
}

fn focus(project: &mut Project, seed: &mut Seed) -> bool {
    let spot = any(project, seed, &[Lang::Script]);
    let mut text = lines(project, spot.path);
    let word = *seed.pick(&["it.only(", "fit("]).unwrap();
    text[spot.header] = text[spot.header].replacen("it(", word, 1);
    put(project, spot.path, &text);
    true
}

fn leave_paths(project: &mut Project, seed: &mut Seed) -> bool {
    project.declared = vec!["web/**".to_owned()];
    let files = ["src/lib.rs", "relay/relay.go", "tools/tide.py"];
    project.text(seed.pick(&files).unwrap()).push('\n');
    true
}
