//! The files of the demo, as they stand in this folder: a repository and a crew.

/// A file: its path and its text.
pub(super) type File = (&'static str, &'static str);

/// The repository, a small harbour's board.
pub(super) const HARBOUR: &[File] = &[
    ("README.md", include_str!("harbour/README.md")),
    ("bin/harbour", include_str!("harbour/bin/harbour")),
    ("data/berths.csv", include_str!("harbour/data/berths.csv")),
    ("data/calls.csv", include_str!("harbour/data/calls.csv")),
    ("data/cargo.csv", include_str!("harbour/data/cargo.csv")),
    ("data/tides.csv", include_str!("harbour/data/tides.csv")),
    ("plans/board.toml", include_str!("harbour/plans/board.toml")),
    ("specs/berths.md", include_str!("harbour/specs/berths.md")),
    ("specs/board.md", include_str!("harbour/specs/board.md")),
    ("specs/cargo.md", include_str!("harbour/specs/cargo.md")),
    ("specs/keel.md", include_str!("harbour/specs/keel.md")),
    ("specs/notice.md", include_str!("harbour/specs/notice.md")),
    ("specs/tides.md", include_str!("harbour/specs/tides.md")),
    ("src/clock.awk", include_str!("harbour/src/clock.awk")),
    ("tests/assert.sh", include_str!("harbour/tests/assert.sh")),
    ("tests/clock_test.sh", include_str!("harbour/tests/clock_test.sh")),
    ("tests/harbour_test.sh", include_str!("harbour/tests/harbour_test.sh")),
    ("tests/run.sh", include_str!("harbour/tests/run.sh")),
    ("tidegate.toml", include_str!("harbour/tidegate.toml")),
    ("verbs/ships.sh", include_str!("harbour/verbs/ships.sh")),
];

/// The crew: scripts in the place of coding agents. They stand outside of the repository.
pub(super) const CREW: &[File] = &[
    ("agent.sh", include_str!("crew/agent.sh")),
    ("berths.sh", include_str!("crew/berths.sh")),
    ("board.sh", include_str!("crew/board.sh")),
    ("cargo.sh", include_str!("crew/cargo.sh")),
    ("keel.sh", include_str!("crew/keel.sh")),
    ("notice.sh", include_str!("crew/notice.sh")),
    ("tides.sh", include_str!("crew/tides.sh")),
];
