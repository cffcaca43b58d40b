//! Manifests of agents: what is built in, what stands over it, and what is wrong with one.

#![expect(clippy::unwrap_used, reason = "tests")]

use tidegate_config::{AgentEntry, ConfigFiles, Diagnostic, NamedFile, load_config};
use tidegate_core::ids::AgentName;
use tidegate_core::manifest::{Emit, StreamForm};
use tidegate_core::plan::PromptChannel;
use tidegate_core::told::Class;

fn read(text: &str) -> (Option<AgentEntry>, Vec<Diagnostic>) {
    let file = NamedFile { path: "tidegate.toml".to_owned(), bytes: text.as_bytes().to_vec() };
    let layered = load_config(&ConfigFiles { repository: Some(file), ..ConfigFiles::default() });
    let agent = layered.config.agents.get(&AgentName::new("a").unwrap());
    (agent.map(|agent| agent.value.clone()), layered.findings)
}

fn refused(text: &str, word: &str) {
    let (_, found) = read(text);
    let told: Vec<_> =
        found.iter().map(|one| format!("{} ({:?})", one.message, one.hint)).collect();
    assert!(told.iter().any(|told| told.contains(word)), "{text}: {told:?}");
}

#[test]
fn provider_with_a_model_is_a_whole_agent() {
    let (agent, found) = read(
        "[agent.a]\nprovider = \"codex\"\nmodel = \"m\"\nargs = [\"-c\", \"x=1\"]\nmcp = []\n",
    );
    assert!(found.is_empty(), "{found:?}");
    let agent = agent.unwrap();
    let tail = ["-m", "m", "-c", "x=1", "-"].map(str::to_owned);
    assert!(agent.argv.ends_with(&tail), "{:?}", agent.argv);
    let tail = ["-m", "m", "-c", "x=1", "{session}", "-"].map(str::to_owned);
    assert!(agent.manifest.resume.ends_with(&tail), "{:?}", agent.manifest.resume);
    assert_eq!(agent.manifest.stream, StreamForm::Jsonl);
    assert_eq!(agent.prompt, PromptChannel::Stdin);
    assert!(!agent.manifest.session.given);
}

#[test]
fn agents_of_one_login_are_one_account() {
    let account = |text: &str| read(text).0.unwrap().manifest.account;
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(account("[agent.a]\nprovider = \"claude\"\n"), named("claude"));
    assert_eq!(account("[agent.a]\nprovider = \"claude_stream\"\n"), named("claude"));
    let other = "[agent.a]\nprovider = \"codex\"\nenv = { CODEX_HOME = \"/other\" }\n";
    assert_eq!(account(other), named("codex/a"));
    assert_eq!(account(&format!("{other}account = \"team\"\n")), named("team"));
    assert_eq!(account("[agent.a]\nargv = [\"mine\"]\n"), None);
    refused("[agent.a]\nargv = [\"mine\"]\naccount = \"\"\n", "1 to 100 bytes");
}

#[test]
fn provider_is_given_its_tools_at_a_start_and_at_a_resumption_unless_they_are_left_out() {
    for (provider, word) in [("claude", "--mcp-config"), ("codex", "mcp_servers")] {
        let has = |text: &str| {
            let agent = read(text).0.unwrap();
            let told = |argv: &[String]| argv.iter().any(|one| one.starts_with(word));
            (told(&agent.argv), told(&agent.manifest.resume))
        };
        let text = format!("[agent.a]\nprovider = \"{provider}\"\n");
        assert_eq!(has(&text), (true, true), "{provider}");
        assert_eq!(has(&format!("{text}mcp = []\n")), (false, false), "{provider}");
    }
}

#[test]
fn provider_without_a_model_says_nothing_of_one_and_gives_the_id() {
    let agent = read("[agent.a]\nprovider = \"claude\"\n").0.unwrap();
    assert!(!agent.argv.iter().any(|word| word.contains("model")), "{:?}", agent.argv);
    let given = ["--session-id", "{session}"].map(str::to_owned);
    assert!(agent.argv.ends_with(&given) && agent.manifest.session.given);
    let resume = ["--resume", "{session}"].map(str::to_owned);
    assert!(agent.manifest.resume.ends_with(&resume));
    assert!(!agent.manifest.resume.contains(&given[0]));
}

#[test]
fn keys_beside_a_provider_stand_over_its_own_and_rules_are_added() {
    let text = "[agent.a]\nprovider = \"claude\"\nargv = [\"my-claude\", \"{prompt}\"]\n\
        env = { DISABLE_TELEMETRY = \"0\", MINE = \"1\" }\nsuccess = { exit = [0, 7] }\n\
        [[agent.a.event]]\nwhen = { type = \"result\", mine.deep = 3 }\nemit = \"limit\"\n\
        [[agent.a.class]]\npattern = \"tide\"\nclass = \"network\"\n";
    let (agent, found) = read(text);
    assert!(found.is_empty(), "{found:?}");
    let agent = agent.unwrap();
    assert_eq!(agent.argv[..2], ["my-claude", "{prompt}"]);
    assert_eq!(agent.prompt, PromptChannel::Argv);
    assert_eq!((agent.env["DISABLE_TELEMETRY"].as_str(), agent.env["MINE"].as_str()), ("0", "1"));
    assert_eq!(agent.env["IS_SANDBOX"], "1");
    let last = agent.manifest.events.last().unwrap();
    assert_eq!((last.emit, last.when[1].path.as_str()), (Emit::Limit, "mine.deep"));
    assert!(agent.manifest.events.len() > 5);
    assert_eq!(agent.manifest.classes[0].class, Class::Network);
    assert_eq!(agent.manifest.exit, [0, 7]);
}

#[test]
fn what_is_wrong_with_a_manifest_is_told() {
    let of = |keys: &str| format!("[agent.a]\nargv = [\"a\"]\n{keys}\n");
    refused("[agent.a]\nprovider = \"cladue\"\n", "did you mean `claude`");
    refused(&of("stream = \"jsonl\""), "could never succeed");
    refused(&of("stream = \"json\""), "did you mean `jsonl`");
    refused(&of("event = [{ when = { a = 1 }, emit = \"completed\" }]"), "the stream is text");
    refused(&of("event = [{ when = { a = 1.5 }, emit = \"completed\" }]"), "a whole number");
    refused(&of("event = [{ when = { a = 1 }, emit = \"done\" }]"), "`emit` cannot be `done`");
    refused(&of("event = [{ when = { a = 1 }, emit = \"failed\", text = \"a..b\" }]"), "no path");
    refused(&of("class = [{ pattern = \"(\", class = \"auth\" }]"), "no regular expression");
    refused(&of("session = { on = { a = 1 } }"), "a session has no `key`");
    refused(&of("success = { exit = [256] }"), "from 0 to 255");
    refused(&of("success = { requires = [\"luck\"] }"), "cannot be required");
    refused(&of("model = \"m\""), "no `{model}`");
    refused("[agent.a]\nargv = [\"a\", \"{prompt}\"]\nresume_argv = [\"b\"]\n", "no `{prompt}`");
}
