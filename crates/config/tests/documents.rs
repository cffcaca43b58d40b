//! The documents say what the code does: their examples hold, and their lists are complete.

mod support;

use support::resolved;
use tidegate_config::{Code, ConfigFiles, ENVIRONMENT, NamedFile, has_errors, load_config};
use tidegate_core::plan::PlanSpec;

const PLANS: &str = include_str!("../../../docs/plans.md");
const CONFIG: &str = include_str!("../../../docs/config.md");

/// The first block below `heading` that is fenced by `fence`.
fn example<'t>(text: &'t str, heading: &str, fence: &str) -> &'t str {
    let section = text.split_once(heading).map_or("", |(_, rest)| rest);
    let block = section.split_once(fence).map_or("", |(_, rest)| rest);
    let block = block.split_once('\n').map_or("", |(_, rest)| rest);
    let end = fence.trim_end_matches(char::is_alphabetic);
    block.split_once(&format!("\n{end}\n")).map_or("", |(inner, _)| inner)
}

#[test]
fn examples_of_both_forms_are_the_same_plan() {
    let toml = resolved("a.toml", example(PLANS, "## In TOML", "```toml"), support::CONFIG).spec;
    let markdown = example(PLANS, "## In Markdown", "````markdown");
    let mut markdown = resolved("a.md", markdown, support::CONFIG).spec;
    for feature in markdown.features.values_mut().filter(|one| one.title == "The board itself") {
        feature.title = "board".to_owned();
    }
    assert_eq!(toml.features.len(), 2);
    let same = PlanSpec { path: toml.path.clone(), source: toml.source.clone(), ..markdown };
    assert_eq!(toml, same);
}

#[test]
fn example_of_the_config_has_no_faults() {
    let text = example(CONFIG, "# tidegate.toml", "```toml");
    let file = NamedFile { path: "tidegate.toml".into(), bytes: text.into() };
    let layered = load_config(&ConfigFiles { repository: Some(file), ..ConfigFiles::default() });
    assert!(!has_errors(&layered.findings), "{:?}", layered.findings);
    assert_eq!(layered.findings, []);
    let defaults = load_config(&ConfigFiles::default()).config;
    let limits = |config: &tidegate_config::Config| {
        let times =
            (config.agent_timeout_ms.value, config.gate_timeout_ms.value, config.grace_ms.value);
        (
            config.active_features.value,
            config.max_iterations.value,
            config.max_attempts.value,
            times,
        )
    };
    assert_eq!(limits(&layered.config), limits(&defaults), "the example shows the defaults");
}

#[test]
fn lists_of_codes_and_variables_are_complete() {
    let listed = PLANS.split_once("Codes are stable:").map_or("", |(_, rest)| rest);
    let listed = listed.split('`').nth(1).unwrap_or("");
    let listed: Vec<&str> = listed.split(',').map(str::trim).collect();
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(listed, codes);
    for (name, key) in ENVIRONMENT {
        assert!(CONFIG.contains(&format!("| `{name}` | `{key}`")), "{name}");
    }
}
