//! Every plan of the corpus, with all that is found in it, as a snapshot.

#![expect(clippy::unwrap_used, clippy::format_push_string, reason = "tests")]

mod support;

use support::{CONFIG, bundle, corpus, findings, names, shown};
use tidegate_config::{Code, Selection, Severity, check};

#[test]
fn plan_of_the_corpus_gives_its_findings() {
    for name in names("plans") {
        let bytes = std::fs::read(corpus(&format!("plans/{name}"))).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let found = findings(&name, &bytes);
        let sorted = found.windows(2).all(|pair| {
            (&pair[0].file, pair[0].line, pair[0].column)
                <= (&pair[1].file, pair[1].line, pair[1].column)
        });
        assert!(sorted, "{name}: findings are in the order of file and line");
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!(name.replace('.', "-"), shown(&found, &text, CONFIG));
        });
    }
}

#[test]
fn plan_with_errors_is_refused_and_a_good_one_is_not() {
    for name in names("plans") {
        let bytes = std::fs::read(corpus(&format!("plans/{name}"))).unwrap();
        let good = ["good.toml", "good.md", "overlap.toml", "ungated.toml"];
        let refused = findings(&name, &bytes).iter().any(|one| one.severity == Severity::Error);
        assert_eq!(refused, !good.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn foreign_format_is_refused_by_name_and_not_read() {
    let mut listed = String::new();
    for name in names("foreign") {
        let bytes = std::fs::read(corpus(&format!("foreign/{name}"))).unwrap();
        let found = findings(&name, &bytes);
        assert!(found.iter().all(|one| one.hint.is_some()), "{name}: {found:?}");
        let expected = if name == "README.md" { Code::NoFeatures } else { Code::ForeignFormat };
        assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), [expected], "{name}");
        listed += &format!("{name}:{}: {}\n", found[0].line, found[0].message);
    }
    insta::assert_snapshot!(listed);
}

#[test]
fn config_without_a_builder_is_an_error_of_the_config() {
    let plan = b"[[wave]]\n[[wave.feature]]\nid = \"a\"\nprompt = \"x\"\n";
    let found = check(&bundle("plan.toml", plan, "target = \"main\"\n"), &Selection::default());
    let refused: Vec<_> = found.iter().map(|one| (one.file.as_str(), one.code)).collect();
    assert_eq!(refused, [("tidegate.toml", Code::NoBuilder)]);
}

#[test]
fn findings_of_plan_config_and_spec_come_together() {
    let plan = b"[[wave]]\n[[wave.feature]]\nid = \"a\"\nspec = \"specs/latin1.md\"\ngate = []\n";
    let config = "tagret = \"main\"\n[role.builder]\nagent = \"none\"\n";
    let found = check(&bundle("plan.toml", plan, config), &Selection::default());
    let refused: Vec<_> =
        found.iter().map(|one| format!("{}:{} {}", one.file, one.line, one.code)).collect();
    let listed = "plan.toml:5 unknown_key
specs/latin1.md:1 not_utf8
tidegate.toml:1 unknown_key
tidegate.toml:3 unknown_agent";
    assert_eq!(refused.join("\n"), listed);
}

#[test]
fn code_is_snake_case_and_unique() {
    let mut texts: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let count = texts.len();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), count);
    assert!(texts.iter().all(|text| {
        text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
    }));
}
