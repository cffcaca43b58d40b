//! Properties: no bytes make it panic, and both forms of a plan mean the same.

#![expect(clippy::format_push_string, clippy::format_collect, reason = "short texts, read easily")]

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use support::{CONFIG, bundle, resolved};
use tidegate_config::{Selection, check, load_config, parse_plan};
use tidegate_core::plan::PlanSpec;

#[derive(Debug, Clone)]
struct Feature {
    prompt: String,
    title: Option<String>,
    needs: Vec<usize>,
    paths: Vec<&'static str>,
    gates: Option<Vec<&'static str>>,
    agent: Option<&'static str>,
    allow_no_change: Option<bool>,
    max_iterations: Option<u32>,
}

#[derive(Debug, Clone)]
struct Plan {
    title: Option<String>,
    /// Features by wave, and the step to the wave's number.
    waves: Vec<(u32, String, Vec<Feature>)>,
}

fn prompt() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[a-z ,.:*`é海]{1,30}",
        Just("- [ ] a box".to_owned()),
        Just("#### Deeper".to_owned()),
        Just("```\n## Wave: in a fence\n- needs: x\n```".to_owned()),
        Just("---".to_owned()),
        Just(String::new()),
    ];
    vec(line, 1..6)
        .prop_map(|lines| format!("Do this.\n\n{}", lines.join("\n\n")).trim().to_owned())
}

fn feature() -> impl Strategy<Value = Feature> {
    (
        prompt(),
        proptest::option::of("[A-Z][a-z]{1,8}( [a-z]{1,8}){0,2}"),
        vec(0_usize..40, 0..4),
        vec(prop_oneof![Just("src/**"), Just("a/{b,c}/*.rs"), Just("docs/x.md")], 0..3),
        proptest::option::of(vec(prop_oneof![Just("test"), Just("lint")], 0..3)),
        proptest::option::of(prop_oneof![Just("scribe"), Just("second")]),
        proptest::option::of(any::<bool>()),
        proptest::option::of(1_u32..9),
    )
        .prop_map(
            |(prompt, title, needs, paths, gates, agent, allow_no_change, max_iterations)| {
                Feature {
                    prompt,
                    title,
                    needs,
                    paths,
                    gates,
                    agent,
                    allow_no_change,
                    max_iterations,
                }
            },
        )
}

fn plan() -> impl Strategy<Value = Plan> {
    let wave = (0_u32..3, "[a-z]{1,8}( [a-z]{1,8})?", vec(feature(), 1..5));
    (proptest::option::of("[A-Z][a-z]{1,8}"), vec(wave, 1..4))
        .prop_map(|(title, waves)| Plan { title, waves })
}

fn quote(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

fn list(items: &[String]) -> String {
    items.iter().map(|item| quote(item)).collect::<Vec<_>>().join(", ")
}

/// The settings of a feature: key, TOML value, Markdown value.
fn settings(number: usize, feature: &Feature) -> Vec<(&'static str, String, String)> {
    let mut found = Vec::new();
    let mut push_list = |key, items: Vec<String>| {
        found.push((key, format!("[{}]", list(&items)), items.join(", ")));
    };
    let needs: Vec<String> = feature
        .needs
        .iter()
        .filter(|need| **need < number)
        .map(|need| format!("f{need}"))
        .collect();
    if !needs.is_empty() {
        push_list("needs", needs);
    }
    if !feature.paths.is_empty() {
        push_list("paths", feature.paths.iter().map(ToString::to_string).collect());
    }
    if let Some(gates) = &feature.gates {
        push_list("gates", gates.iter().map(ToString::to_string).collect());
    }
    if let Some(agent) = feature.agent {
        found.push(("agent", quote(agent), format!("`{agent}`")));
    }
    if let Some(allow) = feature.allow_no_change {
        found.push(("allow_no_change", allow.to_string(), allow.to_string()));
    }
    if let Some(max) = feature.max_iterations {
        found.push(("max_iterations", max.to_string(), max.to_string()));
    }
    found
}

fn as_toml(plan: &Plan) -> String {
    let mut text =
        plan.title.iter().map(|title| format!("title = {}\n", quote(title))).collect::<String>();
    let (mut number, mut count) = (0, 0);
    for (step, name, features) in &plan.waves {
        number += 1 + step;
        text += &format!("[[wave]]\nname = {}\nnumber = {number}\n", quote(name));
        for feature in features {
            text += &format!(
                "[[wave.feature]]\nid = \"f{count}\"\nprompt = {}\n",
                quote(&feature.prompt)
            );
            if let Some(title) = &feature.title {
                text += &format!("title = {}\n", quote(title));
            }
            for (key, value, _) in settings(count, feature) {
                text += &format!("{key} = {value}\n");
            }
            count += 1;
        }
    }
    text
}

fn as_markdown(plan: &Plan, ending: &str, fenced: bool) -> String {
    let mut text = match &plan.title {
        Some(title) if fenced => format!("+++\ntitle = {}\n+++\n", quote(title)),
        Some(title) => format!("---\ntitle: {title}\n---\n"),
        None => String::new(),
    };
    let (mut number, mut count) = (0, 0);
    for (step, name, features) in &plan.waves {
        number += 1 + step;
        text += &format!("## Wave {number}: {name}\n\n");
        for feature in features {
            let title = feature.title.iter().map(|title| format!(": {title}")).collect::<String>();
            text += &format!("### f{count}{title}\n\n");
            let settings = settings(count, feature);
            if fenced {
                let lines: String =
                    settings.iter().map(|(key, toml, _)| format!("{key} = {toml}\n")).collect();
                text += &format!("```toml tidegate\n{lines}```\n\n");
            } else {
                let lines: String =
                    settings.iter().map(|(key, _, plain)| format!("- {key}: {plain}\n")).collect();
                text += &format!("{lines}\n");
            }
            text += &format!("{}\n\n", feature.prompt);
            count += 1;
        }
    }
    text.replace('\n', ending)
}

fn comparable(spec: PlanSpec) -> PlanSpec {
    let source = tidegate_config::blob_id(b"");
    PlanSpec { path: String::new(), source, ..spec }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn both_forms_of_a_plan_give_the_same_values(plan in plan(), crlf in any::<bool>(), fenced in any::<bool>()) {
        let toml = resolved("plan.toml", &as_toml(&plan), CONFIG);
        let markdown = as_markdown(&plan, if crlf { "\r\n" } else { "\n" }, fenced);
        let markdown = resolved("plan.md", &markdown, CONFIG);
        prop_assert_eq!(comparable(toml.spec), comparable(markdown.spec));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..400), name in "a\\.(md|toml|json|yaml|txt)|Procfile") {
        let bundle = bundle(&name, &bytes, &String::from_utf8_lossy(&bytes));
        let text = String::from_utf8_lossy(&bytes);
        for one in check(&bundle, &Selection::default()) {
            prop_assert!(!one.render(&text).is_empty());
            prop_assert!(one.line >= 1 && one.column >= 1);
        }
    }

    #[test]
    fn arbitrary_pieces_of_plans_do_not_panic(
        pieces in vec(prop_oneof![
            Just("---\n"), Just("+++\n"), Just("## Wave: a\n"), Just("## Wave 1\n"), Just("### b\n"), Just("### `b`: é\n"),
            Just("- needs: a, `b\n"), Just("- gates: [test]\n"), Just("- x\n"), Just("```toml tidegate\n"), Just("```\n"),
            Just("[[wave]]\n"), Just("[[wave.feature]]\n"), Just("id = \"b\"\n"), Just("prompt = \"\"\"x\n"), Just("\"\"\"\n"),
            Just("needs = [\"b\"]\n"), Just("<!--\n"), Just("-->\n"), Just("\n"), Just("# T\n"), Just("text é海\n"),
            Just("&a [*a]\n"), Just("a: &a\n"), Just("  - *a\n"), Just("===\n"), Just(">"), Just("\t"), Just("\r"), Just("paths = [\"{\"]\n"),
        ], 0..30),
        name in "a\\.(md|toml)",
    ) {
        let text = pieces.concat();
        for one in check(&bundle(&name, text.as_bytes(), &text), &Selection::default()) {
            prop_assert!(!one.render(&text).is_empty());
            // A span that does not fit the text it is shown with is no reason to panic.
            prop_assert!(!one.render("é").is_empty());
        }
        let parsed = parse_plan(&name, text.as_bytes());
        prop_assert!(parsed.doc.is_some() || !parsed.findings.is_empty());
        let _ = load_config(&bundle(&name, b"", &text).config);
    }
}
