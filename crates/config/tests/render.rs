//! Findings as text, and the files that `init` writes.

mod support;

use support::{bundle, resolved, shown};
use tidegate_config::{
    Code, Diagnostic, Facts, Selection, Severity, Source, TestCommand, check, config_template,
    plan_template,
};

fn finding(text: &str, part: &str) -> Diagnostic {
    let start = text.find(part).unwrap_or(0);
    let (line, column) = Source::new("a.toml", text).position(start);
    Diagnostic {
        severity: Severity::Error,
        code: Code::IllegalValue,
        file: "a.toml".into(),
        line,
        column,
        message: "no".into(),
        hint: None,
        span: start..start + part.len(),
    }
}

#[test]
fn caret_stands_below_its_text_in_lines_of_every_kind() {
    let long = format!("{}NEEDLE{}", "x".repeat(400_000), "y".repeat(600_000));
    let wide = format!("{}NEEDLE", "海".repeat(30));
    let all: String = [
        "key = NEEDLE\r\nnext",
        "\tkey\t= \"NEEDLE\"",
        "\u{1b}[31m\u{7}\u{202e}NEEDLE\u{0}",
        "ключ = \"é\" NEEDLE # e\u{301}",
        "first\nsecond NEEDLE\n\nlast",
        &wide,
        &long,
    ]
    .iter()
    .map(|text| finding(text, "NEEDLE").render(text))
    .collect();
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(all) });
}

#[test]
fn finding_without_its_text_still_has_its_place() {
    let text = "a = 1\nkey = NEEDLE\n";
    let one = finding(text, "NEEDLE");
    let bare = "error[illegal_value]: no\n --> a.toml:2:7\n";
    assert_eq!(one.render(""), bare);
    assert_eq!(one.render("é"), bare);
    assert_eq!(one.to_string(), "a.toml:2:7: error[illegal_value]: no");
}

#[test]
fn position_counts_characters_and_survives_every_offset() {
    let source = Source::new("a", "é\r\nbc\n");
    assert_eq!(source.position(2), (1, 2));
    assert_eq!(source.position(4), (2, 1));
    assert_eq!(source.position(5), (2, 2));
    assert_eq!(source.position(7), (3, 1));
    assert_eq!(source.position(1), (1, 1));
    assert_eq!(source.position(usize::MAX), (3, 1));
}

#[test]
fn first_files_have_no_faults_whatever_was_detected() {
    let detected = [
        None,
        Some(TestCommand::Cargo),
        Some(TestCommand::Npm),
        Some(TestCommand::Pytest),
        Some(TestCommand::Go),
        Some(TestCommand::Make),
    ];
    for test in detected {
        for default_branch in [None, Some("trunk".to_owned())] {
            let branch = default_branch.clone().unwrap_or_else(|| "main".into());
            let config = config_template(&Facts { default_branch, test });
            let plan = plan_template();
            let found =
                check(&bundle("plan.toml", plan.as_bytes(), &config), &Selection::default());
            assert_eq!(found, [], "{test:?}: {}", shown(&found, &plan, &config));
            let spec = resolved("plan.toml", &plan, &config).spec;
            assert_eq!(spec.target, format!("refs/heads/{branch}"));
            assert_eq!(spec.landing.merge_gates.len(), 1);
        }
    }
}

#[test]
fn test_command_is_told_from_the_names_in_the_root() {
    for (names, command) in [
        (vec!["src", "Cargo.toml", "Makefile"], Some(TestCommand::Cargo)),
        (vec!["go.mod"], Some(TestCommand::Go)),
        (vec!["package.json", "Makefile"], Some(TestCommand::Npm)),
        (vec!["pyproject.toml"], Some(TestCommand::Pytest)),
        (vec!["Makefile"], Some(TestCommand::Make)),
        (vec!["README.md"], None),
    ] {
        assert_eq!(TestCommand::detect(names.iter().copied()), command, "{names:?}");
    }
}
