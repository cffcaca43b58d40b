//! Honest changes of one place: refactored tests, new behaviour, dependencies, documents.

use crate::Operator;
use crate::project::Project;
use crate::seed::Seed;

/// Name, then file, what stands there and what takes its place, one after another.
type Text = (&'static str, &'static [(&'static str, &'static str, &'static str)]);

pub(crate) const TEXTS: &[Text] = &[
    (
        "change behaviour and what is expected",
        &[
            ("web/src/board.ts", ": free`", ": empty`"),
            ("web/src/board.test.ts", "toBe('3: free')", "toBe('3: empty')"),
        ],
    ),
    (
        "change a number and its test",
        &[
            ("tools/tide.py", "low=1.0", "low=0.5"),
            ("tools/tests/test_tide.py", "assert lowest == 1.0", "assert lowest == 0.5"),
            ("tools/tests/test_tide.py", "min(heights) == 1.0", "min(heights) == 0.5"),
        ],
    ),
    (
        "extract a helper with its assertions",
        &[
            (
                "tests/harbour.rs",
                "    assert_eq!(berths[0].ship.as_deref(), Some(\"Frieda\"));\n    assert!(!berths[0].fits(9));\n",
                "    taken_by(&berths[0], \"Frieda\", 9);\n",
            ),
            (
                "tests/harbour.rs",
                "#[test]\nfn ships",
                "fn taken_by(berth: &Berth, name: &str, length: u32) {\n    assert_eq!(berth.ship.as_deref(), Some(name));\n    assert!(!berth.fits(length));\n}\n\n#[test]\nfn ships",
            ),
        ],
    ),
    (
        "extract a helper in TypeScript",
        &[
            (
                "web/src/board.test.ts",
                "    expect(free).toBe('3: free');\n    expect(free.startsWith('3')).toBe(true);\n",
                "    reads(free, '3: free');\n",
            ),
            (
                "web/src/board.test.ts",
                "describe('board'",
                "function reads(text: string, whole: string) {\n  expect(text).toBe(whole);\n  expect(text.startsWith(whole[0])).toBe(true);\n}\n\ndescribe('board'",
            ),
        ],
    ),
    (
        "fold assertions into a table",
        &[(
            "tools/tests/test_tide.py",
            "def test_hours_outside_of_the_day_are_refused():\n    with pytest.raises(ValueError):\n        height(24)\n    with pytest.raises(ValueError):\n        height(-1)\n",
            "@pytest.mark.parametrize('hour', [24, -1])\ndef test_hours_outside_of_the_day_are_refused(hour):\n    with pytest.raises(ValueError):\n        height(hour)\n",
        )],
    ),
    (
        "fold tests into a table of Go",
        &[(
            "relay/relay_test.go",
            "\tif line.From != \"anna\" {\n\t\tt.Errorf(\"from = %q\", line.From)\n\t}\n\tif line.Text != \"hello\" {\n\t\tt.Errorf(\"text = %q\", line.Text)\n\t}\n",
            "\tfor got, want := range map[string]string{line.From: \"anna\", line.Text: \"hello\"} {\n\t\tif got != want {\n\t\t\tt.Errorf(\"%q is not %q\", got, want)\n\t\t}\n\t}\n",
        )],
    ),
    (
        "go over to pytest",
        &[
            ("tools/tests/test_moon.py", "self.assertEqual(spring, 5.0)", "assert spring == 5.0"),
            (
                "tools/tests/test_moon.py",
                "self.assertGreater(spring, height(0))",
                "assert spring > height(0)",
            ),
        ],
    ),
    (
        "make a test asynchronous",
        &[
            ("tests/it/dock.rs", "#[test]\nfn dock_is", "#[tokio::test]\nasync fn dock_is"),
            (
                "web/src/board.test.ts",
                "it('names the ship', () =>",
                "it('names the ship', async () =>",
            ),
        ],
    ),
    (
        "add a dependency",
        &[
            ("Cargo.toml", "time = \"0.3\"\n", "time = \"0.3\"\nserde = \"1\"\n"),
            (
                "Cargo.lock",
                "version = 4\n",
                "version = 4\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\n",
            ),
        ],
    ),
    (
        "add dependencies of web and tools",
        &[
            (
                "web/package.json",
                "\"preact\": \"^10.0.0\"",
                "\"preact\": \"^10.1.0\",\n    \"uplot\": \"^1.6.0\"",
            ),
            ("tools/pyproject.toml", "[\"httpx\"]", "[\"httpx\", \"rich\"]"),
        ],
    ),
    (
        "add a script of npm",
        &[(
            "web/package.json",
            "\"start\": \"vite\"",
            "\"start\": \"vite\",\n    \"build\": \"vite build\"",
        )],
    ),
    ("write a document", &[("README.md", "all.", "all, strictly.")]),
    ("add a target to make", &[("Makefile", "run: build", "docs:\n\tcargo doc\n\nrun: build")]),
    (
        "change how it is deployed",
        &[("scripts/deploy.sh", "rsync -a", "ssh screen stop-board || true\nrsync -az")],
    ),
    (
        "refactor the code",
        &[
            (
                "src/berth.rs",
                "let free = berths.iter_mut().filter(|berth| berth.fits(length));\n    let berth = free.min_by_key",
                "let berth = berths.iter_mut().filter(|berth| berth.fits(length)).min_by_key",
            ),
            ("src/berth.rs", "assert!(metres > 0, \"a berth has a length\");\n        ", ""),
        ],
    ),
    ("rename a group", &[("web/src/board.test.ts", "describe('board'", "describe('the board'")]),
    (
        "use subtests",
        &[(
            "relay/relay_test.go",
            "\tif line.From != \"anna\" {\n\t\tt.Errorf(\"from = %q\", line.From)\n\t}\n",
            "\tt.Run(\"from\", func(t *testing.T) {\n\t\tif line.From != \"anna\" {\n\t\t\tt.Errorf(\"from = %q\", line.From)\n\t\t}\n\t})\n",
        )],
    ),
    (
        "write better messages",
        &[
            (
                "relay/relay_test.go",
                "t.Fatal(\"no error\")",
                "t.Fatal(\"Parse took a line without a colon\")",
            ),
            (
                "src/berth.rs",
                "assert!(berth.fits(40));",
                "assert!(berth.fits(40), \"40 metres fit into 40\");",
            ),
        ],
    ),
    (
        "handle an error on the way",
        &[(
            "tools/tide.py",
            "    phase =",
            "    try:\n        hour = int(hour)\n    except TypeError:\n        pass\n    phase =",
        )],
    ),
    (
        "exit with success in the program",
        &[(
            "src/lib.rs",
            "pub use",
            "pub fn quit() -> ! {\n    std::process::exit(0)\n}\n\npub use",
        )],
    ),
    (
        "use a fixture",
        &[
            (
                "tools/tests/conftest.py",
                "@pytest.fixture\ndef hours",
                "@pytest.fixture\ndef noon():\n    return 12\n\n\n@pytest.fixture\ndef hours",
            ),
            (
                "tools/tests/test_tide.py",
                "def test_height_at_noon():\n    found = height(12)",
                "def test_height_at_noon(noon):\n    found = height(noon)",
            ),
        ],
    ),
    (
        "set a test up apart",
        &[
            (
                "ferry/src/test/java/FerryTest.java",
                "class FerryTest {\n",
                "class FerryTest {\n    private Ferry ferry;\n\n    @BeforeEach\n    void setUp() {\n        ferry = new Ferry(10);\n    }\n\n",
            ),
            ("ferry/src/test/java/FerryTest.java", "        Ferry ferry = new Ferry(10);\n", ""),
        ],
    ),
];

pub(crate) fn text_operator(index: usize) -> Operator {
    (TEXTS[index].0, OPERATORS[index])
}

fn at(project: &mut Project, seed: &mut Seed, index: usize) -> bool {
    for (path, old, new) in TEXTS[index].1 {
        if old != new {
            assert!(project.replace(path, old, new), "{}: {old} is not in {path}", TEXTS[index].0);
        }
    }
    if seed.below(3) == 0 {
        crate::honest::feature(project, seed);
    }
    true
}

macro_rules! operators {
    ($($index:literal)*) => {
        const OPERATORS: &[fn(&mut Project, &mut Seed) -> bool] =
            &[$(|project, seed| at(project, seed, $index)),*];
    };
}

operators!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21);

const _: () = assert!(OPERATORS.len() == TEXTS.len());
