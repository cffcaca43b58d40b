//! The first minutes in a repository: what `init` leaves is sound, trusted and seen, without a
//! daemon.

use crate::harness::Home;

#[test]
fn init_leaves_a_sound_plan_and_a_registration_that_is_seen() {
    let home = Home::new();
    let root = home.repo().root().canonicalize().unwrap();
    home.repo().write("go.mod", "module harbour\n");
    let first = home.data(&["init"]);
    assert_eq!((&first["written"], &first["planWritten"]), (&true.into(), &true.into()));
    assert_eq!(first["trusted"], true);
    let settings = std::fs::read_to_string(root.join("tidegate.toml")).unwrap();
    assert!(settings.contains("target = \"main\"") && settings.contains("\"go\", \"test\""));
    let checked = home.data(&["plan", "check", "plan.toml"]);
    assert_eq!(checked["diagnostics"], serde_json::json!([]));
    let projects = home.data(&["project", "list"]);
    assert_eq!(projects["projects"], serde_json::json!([]));
    assert_eq!(projects["waiting"], serde_json::json!([root]));
    assert!(home.run(&["project", "list"]).text().contains(root.to_str().unwrap()));
    assert_eq!(home.daemon(), None);
    home.repo().write("plan.toml", "title = \"mine\"\n");
    let second = home.data(&["init"]);
    assert_eq!((&second["written"], &second["planWritten"]), (&false.into(), &false.into()));
    assert_eq!(std::fs::read_to_string(root.join("plan.toml")).unwrap(), "title = \"mine\"\n");
    home.close();
}

#[test]
fn plan_that_is_not_there_is_not_found() {
    let home = Home::new();
    for words in [&["plan", "check", "none.toml"][..], &["submit", "none.toml"]] {
        let output = home.json(words).ends_with(1);
        let error = &output.envelope()["error"];
        assert_eq!(error["code"], "not_found", "{error}");
        assert_eq!(error["details"]["retryable"], false);
        assert_eq!(error["details"]["requires_human"], false);
    }
    home.close();
}
