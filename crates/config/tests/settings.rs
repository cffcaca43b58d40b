//! The settings: all their faults at once, their layers, and where each value comes from.

mod support;

use support::{CONFIG, bundle, shown};
use tidegate_config::{
    Bundle, ConfigFiles, Layer, NamedFile, Override, Selection, check, environment_overrides,
    load_config, resolve,
};
use tidegate_core::ids::{AgentName, GateName};
use tidegate_core::launcher::SelectionStyle;
use tidegate_core::plan::{GateRun, PromptChannel, ReviewPolicy, Strategy};

/// A snapshot without the text that it was made from.
macro_rules! shot {
    ($text:expr) => {
        insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!($text) })
    };
}

fn found_in(config: &str) -> String {
    let plan = "[[wave]]\n[[wave.feature]]\nid = \"a\"\nprompt = \"x\"\n";
    let found = check(&bundle("plan.toml", plan.as_bytes(), config), &Selection::default());
    let found: Vec<_> = found.into_iter().filter(|one| one.file == "tidegate.toml").collect();
    shown(&found, plan, config)
}

#[test]
fn config_with_every_fault_gives_all_of_them() {
    shot!(found_in(
        r#"
target = "a b"
commit = "always"
on_failur = "stop"
budget = { usd = 5, run = { usd = "much", attempts = 0 } }

[agent.none]
[agent.scribe]
argv = []
promt = "stdin"
[agent."a/b"]
argv = ["x"]
[agent.wrong]
argv = ["x", "{prompt_fil}", "{prompt}"]
prompt = "file"
timeout = "5 minutes"
grace = 0
env = { "A B" = "x", TIDEGATE_HOME = "x", N = 1 }
kind = "acp"
stream = "jsonl"
[[agent.wrong.event]]
emit = "completed"

[role.builder]
agent = "scrib"
[role.qa]

[gate.both]
argv = ["x"]
run = "x"
[gate.neither]
[gate.empty]
run = " "
cache = ["/tmp", "../x", ".", ".git/x"]
timeout = -1

[review]
policy = "agent"
[landing]
strategy = "rebase"
merge_gates = ["tests", "both"]

[limits]
active_features = 0
max_iterations = "many"
max_tries = 3
agent_timeout = true

[env]
pass = ["HOME", "AWS_*", "A-B", "*"]

[launcher.waves]
argv = "node wave.js"
selection = "flags"
resume_argv = [""]
"#
    ));
}

#[test]
fn config_that_is_no_toml_gives_its_lines_and_nothing_more() {
    shot!(found_in("target = main\n[gate.test\nargv = [\"x\"]\n"));
    shot!(found_in("target = \"main\"\ntarget = \"x\"\n"));
}

#[test]
fn agent_without_prompt_key_takes_the_way_its_template_shows() {
    for (argv, prompt) in [
        ("[\"x\"]", PromptChannel::Stdin),
        ("[\"x\", \"{prompt}\"]", PromptChannel::Argv),
        ("[\"x\", \"--file={prompt_file}\"]", PromptChannel::File),
    ] {
        let file = NamedFile {
            path: "tidegate.toml".into(),
            bytes: format!("[agent.a]\nargv = {argv}\n").into_bytes(),
        };
        let layered =
            load_config(&ConfigFiles { repository: Some(file), ..ConfigFiles::default() });
        assert_eq!(layered.findings, []);
        let agents: Vec<_> = layered.config.agents.values().map(|one| one.value.prompt).collect();
        assert_eq!(agents, [prompt], "{argv}");
    }
}

fn layers() -> ConfigFiles {
    let user = r#"
target = "trunk"
[limits]
max_attempts = 7
agent_timeout = 90
[agent.scribe]
argv = ["mine"]
env = { A = "1" }
"#;
    ConfigFiles {
        user: Some(NamedFile { path: "/home/u/config.toml".into(), bytes: user.into() }),
        repository: Some(NamedFile { path: "tidegate.toml".into(), bytes: CONFIG.into() }),
        overrides: vec![
            Override {
                layer: Layer::Flag,
                name: "--max-attempts".into(),
                key: "limits.max_attempts".into(),
                value: "9".into(),
            },
            Override {
                layer: Layer::Environment,
                name: "TIDEGATE_MAX_ATTEMPTS".into(),
                key: "limits.max_attempts".into(),
                value: "8".into(),
            },
            Override {
                layer: Layer::Environment,
                name: "TIDEGATE_MERGE_GATES".into(),
                key: "landing.merge_gates".into(),
                value: "test, lint".into(),
            },
        ],
    }
}

#[test]
fn layers_go_over_each_other_and_each_value_knows_its_origin() {
    let layered = load_config(&layers());
    assert_eq!(layered.findings, []);
    let lines: Vec<String> = layered
        .show()
        .iter()
        .map(|one| {
            let file = one.origin.file.as_deref().unwrap_or("-");
            let line = one.origin.line.map_or_else(String::new, |line| format!(":{line}"));
            format!("{} = {}  # {} {file}{line}", one.key, one.value, one.origin.layer.as_str())
        })
        .collect();
    shot!(lines.join("\n"));
    assert_eq!(layered.config.max_attempts.value, 9);
    assert_eq!(layered.config.agent_timeout_ms.value, 90_000);
    assert_eq!(layered.config.target.value, "refs/heads/main");
    let scribe = layered.config.agents.iter().find(|(name, _)| name.as_str() == "scribe");
    let scribe = scribe.map(|(_, entry)| &entry.value);
    assert!(scribe.is_some_and(|one| one.argv == ["./write.sh"] && one.env.is_empty()));
}

#[test]
fn override_with_a_fault_is_told_by_its_name() {
    let variables = [
        ("TIDEGATE_MAX_ATTEMPTS", "many"),
        ("TIDEGATE_TARGET", "a..b"),
        ("TIDEGATE_COMMIT", ""),
        ("TIDEGATE_HOME", "/x"),
        ("TIDEGATE_MERGE_GATES", "lnit"),
        ("PATH", "/bin"),
    ];
    let files = ConfigFiles { overrides: environment_overrides(variables), ..layers() };
    assert_eq!(files.overrides.len(), 3);
    let found = load_config(&files).findings;
    let shown: String = found
        .iter()
        .map(|one| {
            let text = variables.iter().find(|(name, _)| *name == one.file).map_or("", |v| v.1);
            one.render(text)
        })
        .collect();
    shot!(shown);
}

#[test]
fn config_reaches_the_core_values() {
    let config = r#"
target = "refs/heads/trunk"
commit = "agent"
on_failure = "continue"
[agent.a]
argv = ["a", "{prompt_file}"]
env = { K = "v" }
timeout = "90s"
grace = "1s"
[agent.b]
argv = ["b"]
[agent.unused]
argv = ["c"]
[role.builder]
agent = "a"
[gate.test]
run = "make test"
cache = ["target/./x"]
timeout = "5m"
[gate.merge]
argv = ["make"]
[gate.unused]
argv = ["x"]
[review]
policy = "person"
[landing]
strategy = "squash"
merge_gates = ["merge"]
[limits]
active_features = 2
gate_timeout = "1h"
[env]
pass = ["CI_*"]
[launcher.waves]
argv = ["node", "wave.js"]
selection = "append"
"#;
    let plan = "[[wave]]\n[[wave.feature]]\nid = \"x\"\nprompt = \"p\"\nagent = \"b\"\n\
                gates = [\"test\", \"test\"]\nmax_iterations = 2\n";
    let got = support::resolved("plan.toml", plan, config);
    let spec = &got.spec;
    assert_eq!(spec.target, "refs/heads/trunk");
    assert_eq!((spec.landing.strategy, spec.review), (Strategy::Squash, ReviewPolicy::Person));
    assert_eq!(spec.agents.keys().map(AgentName::as_str).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(spec.gates.keys().map(GateName::as_str).collect::<Vec<_>>(), ["merge", "test"]);
    let agent = spec.agents.values().next().map(|one| (one.prompt, one.timeout_ms, one.grace_ms));
    assert_eq!(agent, Some((PromptChannel::File, 90_000, 1_000)));
    let gates: Vec<_> = spec.gates.values().map(|one| (&one.run, one.timeout_ms)).collect();
    let (merge, test) = (GateRun::Argv(vec!["make".into()]), GateRun::Script("make test".into()));
    assert_eq!(gates, [(&merge, 3_600_000), (&test, 300_000)]);
    let feature = spec.features.values().next();
    assert!(feature.is_some_and(|one| one.gates.len() == 1 && one.iterations_max == 2));
    assert_eq!((got.env_pass.as_slice(), got.launchers.len()), (&["CI_*".to_owned()][..], 1));
    assert_eq!(spec.env_pass, got.env_pass);
    assert_eq!(got.warnings, []);
}

#[test]
fn bundle_without_config_names_what_is_missing() {
    let plan = "[[wave]]\n[[wave.feature]]\nid = \"a\"\nprompt = \"x\"\ngates = [\"test\"]\n";
    let plan = NamedFile { path: "plan.toml".into(), bytes: plan.into() };
    let bundle = Bundle { plan, config: ConfigFiles::default(), specs: Vec::new() };
    let found = resolve(&bundle, &Selection::default()).err().unwrap_or_default();
    let found: Vec<_> = found.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(found, ["no_builder", "unknown_gate"]);
}

#[test]
fn launcher_is_found_by_the_longest_beginning_of_its_argv() {
    let text = "[launcher.node]\nargv = [\"node\"]\n[launcher.wave]\nargv = [\"node\", \"w.js\"]\n\
                selection = \"append\"\n[launcher.named]\nresume_argv = [\"again\", \"{wave}\"]\n";
    let file = NamedFile { path: "tidegate.toml".into(), bytes: text.into() };
    let layered = load_config(&ConfigFiles { repository: Some(file), ..ConfigFiles::default() });
    assert_eq!(layered.findings, []);
    let found = |words: &[&str]| {
        let argv: Vec<String> = words.iter().map(ToString::to_string).collect();
        layered.config.launcher_for(&argv).map(|(name, entry)| (name.to_owned(), entry.style()))
    };
    let wave = Some(("wave".to_owned(), SelectionStyle::Append));
    assert_eq!(found(&["node", "w.js", "-v"]), wave);
    assert_eq!(found(&["node", "x"]), Some(("node".to_owned(), SelectionStyle::EnvironmentOnly)));
    assert_eq!(found(&["nod"]), None);
    assert_eq!(found(&[]), None);
    let named = layered.config.launchers.get("named").map(|entry| entry.value.style());
    let again = vec!["again".to_owned(), "{wave}".to_owned()];
    assert_eq!(named, Some(SelectionStyle::ResumeArgv(again)));
}

#[test]
fn names_of_others_never_reach_a_terminal_as_they_are() {
    let text = "agent.\"\\u001b[31m\" = 1\n[agent.\"a\\u0007\"]\nargv = [\"{prom\\u001bpt}\"]\n\
                [role.builder]\nagent = \"b\"\n[role.\"x\\u202e\"]\nagent = \"a\\u0008\"\n";
    let file = NamedFile { path: "tidegate.toml".into(), bytes: text.into() };
    let layered = load_config(&ConfigFiles { repository: Some(file), ..ConfigFiles::default() });
    assert!(layered.findings.len() >= 4);
    for one in &layered.findings {
        let texts = [Some(one.message.clone()), one.hint.clone(), Some(one.to_string())];
        for text in texts.into_iter().flatten() {
            let hidden = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!text.contains(hidden), "{text:?}");
        }
    }
}

const GATED: &str = "[agent.s]\nargv = [\"s\"]\n[role.builder]\nagent = \"s\"\n";

#[test]
fn gates_that_cannot_be_put_in_an_order_are_refused_with_their_place() {
    shot!(found_in(&format!(
        "{GATED}
[gate.fmt]
run = \"x\"
needs = [\"fmd\", \"fmt\"]
[gate.a]
run = \"x\"
needs = [\"b\"]
[gate.b]
run = \"x\"
needs = [\"fmt\", \"c\"]
[gate.c]
run = \"x\"
needs = [\"@fast\", \"a\"]
retries = 1000000
parallel = \"yes\"
[profile.fast]
gates = [\"fmt\", \"tests\"]
[profile.slow]
[landing]
merge_gates = [\"@fats\"]
"
    )));
}

#[test]
fn profiles_stand_for_their_gates_and_needs_come_along() {
    let config = format!(
        "{GATED}[gate.fmt]\nrun = \"x\"\n[gate.lint]\nrun = \"x\"\nneeds = [\"fmt\"]\nretries = 2\n\
         [gate.test]\nrun = \"x\"\nneeds = [\"lint\"]\nparallel = false\n[gate.unused]\nrun = \"x\"\n\
         [profile.fast]\ngates = [\"lint\"]\n[profile.full]\ngates = [\"lint\", \"test\"]\n\
         [landing]\nmerge_gates = [\"@full\"]\n"
    );
    let plan = "gates = [\"@fast\"]\n[[wave]]\n[[wave.feature]]\nid = \"a\"\nprompt = \"x\"\n\
                [[wave.feature]]\nid = \"b\"\nprompt = \"x\"\ngates = [\"@fast\", \"test\", \"lint\"]\n";
    let spec = support::resolved("plan.toml", plan, &config).spec;
    let named = |gates: &[GateName]| gates.iter().map(ToString::to_string).collect::<Vec<_>>();
    let gates: Vec<_> = spec.features.values().map(|feature| named(&feature.gates)).collect();
    assert_eq!(gates, [vec!["lint"], vec!["lint", "test"]]);
    assert_eq!(named(&spec.landing.merge_gates), ["lint", "test"]);
    let known: Vec<_> = spec.gates.keys().cloned().collect();
    assert_eq!(
        named(&known),
        ["fmt", "lint", "test"],
        "needs are known, what nobody asks for is not"
    );
    let ordered = spec.with_needs(&spec.landing.merge_gates.iter().collect::<Vec<_>>());
    assert_eq!(
        ordered.iter().map(|gate| gate.as_str()).collect::<Vec<_>>(),
        ["fmt", "lint", "test"]
    );
    let (lint, test) = (&spec.gates[ordered[1]], &spec.gates[ordered[2]]);
    assert_eq!((lint.retries, lint.alone, test.retries, test.alone), (2, false, 0, true));
}

#[test]
fn long_chains_of_gates_are_checked_without_a_deep_stack() {
    let gate = |n: u32| format!("[gate.g{n}]\nrun = \"x\"\nneeds = [\"g{}\"]\n", (n + 1) % 8_000);
    let config: String = std::iter::once(GATED.to_owned()).chain((0..8_000).map(gate)).collect();
    let found = found_in(&config);
    assert!(found.contains("gates need each other in a circle"), "{found}");
}
