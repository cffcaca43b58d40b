//! `tidegate providers`: what is built in, and what the programs of this machine say of themselves.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::harness::Home;

/// Puts a program on the `PATH` of the home's user.
fn install(home: &Home, name: &str, script: &str) {
    let folder = home.beside("user/bin");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn provider(document: &Value, name: &str) -> Value {
    let providers = document["providers"].as_array().unwrap();
    providers.iter().find(|provider| provider["name"] == name).unwrap().clone()
}

#[test]
fn providers_lists_what_is_built_in_and_what_the_programs_say() {
    let home = Home::new();
    let claude = r#"case "$*" in
        --version) echo "$DISABLE_AUTOUPDATER" >"$T/updates"; echo "2.1.332 (Claude Code)" ;;
        "auth status") echo '{"loggedIn": false}'; exit 1 ;;
    esac"#;
    install(&home, "claude", claude);
    install(
        &home,
        "codex",
        r#"case $1 in login) echo "Logged in using an API key" >&2 ;; *) exit 2 ;; esac"#,
    );
    std::fs::write(home.beside("user/bin/gemini"), "not a program").unwrap();
    let document = home.data(&["providers"]);
    assert_eq!(document["providers"].as_array().unwrap().len(), 12);
    let claude = provider(&document, "claude");
    assert_eq!((&claude["version"], &claude["loggedIn"]), (&json!("2.1.332"), &json!(false)));
    assert_eq!(claude["path"], json!(home.beside("user/bin/claude")));
    assert_eq!(claude["capabilities"]["session"], "given");
    let stream = provider(&document, "claude_stream");
    assert_eq!(
        (&stream["loggedIn"], &stream["capabilities"]["steering"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(home.appears("updates").trim(), "1");
    let codex = provider(&document, "codex");
    assert_eq!((&codex["version"], &codex["loggedIn"]), (&Value::Null, &json!(true)));
    let gemini = provider(&document, "gemini");
    assert_eq!((&gemini["path"], &gemini["version"]), (&Value::Null, &Value::Null));
    let page = home.run(&["providers"]).ends_with(0).text();
    assert!(page.contains("gemini is not on the PATH"), "{page}");
    assert!(page.contains("resume tools waiting usage cost"), "{page}");
    assert!(home.daemon().is_none(), "a reader started a daemon");
}
