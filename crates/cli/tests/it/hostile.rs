//! Ids, names and flags that would leave their place, and command lines that say nothing clear: each
//! is refused by name, makes no run and touches no file.

use crate::harness::{Home, digest, is_as_before};

/// Names that mean something to a file system, a shell, git or a terminal.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        ".",
        "..",
        "../x",
        "../../../../etc/passwd",
        "a/b",
        "/etc/hostname",
        "a\\b",
        "a\nb",
        "a\u{1b}[2Jb",
        "a\tb",
        " a",
        "a b",
        "-rf",
        "a..b",
        "a.lock",
        "a.",
        ".git",
        "*",
        "$(id)",
        "a;b",
        "a|b",
        "a\u{202e}b",
        "ümlaut",
        "'",
        "\"",
        "%2e%2e",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("x".repeat(65));
    names.push("x".repeat(100_000));
    names
}

/// Asserts that a call is refused, with an envelope that says so.
fn is_refused(home: &Home, words: &[&str]) {
    let output = home.json(words);
    assert!([1, 2].contains(&output.code), "{words:?}: {output:?}");
    let error = output.error();
    assert_ne!(error, "internal", "{words:?}");
    assert!(!output.text().contains('\u{1b}') && !output.said.contains('\u{1b}'), "{words:?}");
}

#[test]
fn hostile_names_are_refused_wherever_a_name_is_taken() {
    let home = Home::new();
    let run = home.submit(&[], &["true"]);
    home.ended(&run);
    home.run(&["daemon", "stop"]).ends_with(0);
    let (before, outside) = (digest(&home.path()), digest(home.repo().root()));
    for name in &names() {
        let calls: [&[&str]; 7] = [
            &["status", "--", name],
            &["logs", &run, &format!("--job={name}")],
            &["submit", &format!("--lane={name}"), "--", "true"],
            &["submit", &format!("--adhoc-run={name}"), "--", "true"],
            &["submit", &format!("--project={name}"), "--", "true"],
            &["agent", "register", "--run-id", &run, &format!("--id={name}")],
            &["cancel", "--", name],
        ];
        for words in calls {
            is_refused(&home, words);
        }
    }
    is_as_before(&home.path(), &before);
    is_as_before(home.repo().root(), &outside);
    home.close();
}

#[test]
fn hostile_ids_over_the_wire_are_refused_by_the_daemon_itself() {
    let home = Home::new();
    home.start_daemon();
    let request = |lane: &str| {
        serde_json::json!({ "cwd": home.repo().root(), "actor": "keeper", "env": [], "lane": lane,
            "work": { "launcher": { "argv": ["true"] } } })
    };
    for name in names().iter().filter(|name| name.len() < 1000) {
        let answer = crate::harness::post(&home.path(), "/runs", &[], &request(name)).unwrap();
        assert_eq!(
            (answer.status, &answer.body["ok"]),
            (400, &false.into()),
            "{name:?}: {answer:?}"
        );
    }
    let empty = serde_json::json!({});
    for route in
        ["/runs/..%2f..%2fetc/cancel", "/runs/%00/cancel", "/runs/../../x/cancel", "/nothing"]
    {
        let answer = crate::harness::post(&home.path(), route, &[], &empty).unwrap();
        assert!((400..500).contains(&answer.status), "{route}: {answer:?}");
    }
    assert!(home.data(&["list"])["runs"].as_array().unwrap().is_empty());
    home.close();
}

#[test]
fn command_lines_that_are_not_clear_are_usage_errors() {
    let home = Home::new();
    for words in [
        &[][..],
        &["submit"],
        &["submit", "--"],
        &["submit", "--bogus", "--", "true"],
        &["submit", "--lane"],
        &["submit", "--lane", "--", "true"],
        &["submit", "plan.toml", "--", "true"],
        &["submit", "--resume-limit", "-1", "--", "true"],
        &["submit", "--resume-limit", "1x", "--", "true"],
        &["submit", "--start-wave", "3", "--end-wave", "2", "--", "true"],
        &["submit", "--auto-next", "--start-wave", "1", "--", "true"],
        &["submit", "--", ""],
        &["wait"],
        &["wait", "r1", "--timeout", "5abc"],
        &["wait", "r1", "--timeout", "-1"],
        &["wait", "r1", "r2"],
        &["status", "--wave", "x"],
        &["status", "--agent", "a"],
        &["list", "--status", "cheerful"],
        &["list", "--limit", "0"],
        &["daemon"],
        &["daemon", "run", "--poll-ms", "5"],
        &["agent", "start", "--id", "a"],
        &["agent", "register", "--id", "a", "--pid", "0"],
        &["agent", "register", "--id", "a", "--pid", "7", "--remote"],
        &["agent", "exit", "--id", "a"],
        &["progress"],
        &["progress", "--wave", "1", "--finalized", "perhaps"],
        &["progress", "--wave", "1", "--exit-code", "1"],
        &["statsu"],
        &["--verison"],
    ] {
        let output = home.run(words);
        assert_eq!(output.code, 2, "{words:?}: {output:?}");
        assert!(!output.said.is_empty() || words.is_empty(), "{words:?} says nothing");
    }
    assert!(home.daemon().is_none());
    assert!(!home.path().exists(), "a refused command line made the home");
}

#[test]
fn arguments_of_a_launcher_are_its_own_whatever_they_are() {
    let home = Home::new();
    let script = "for word in \"$@\"; do printf '[%s]' \"$word\"; done";
    let words = ["--json", "--lane", "a b", "", "$(id)", "'", "*", "é", "\u{1b}[2J", "--", "-n"];
    let mut argv = vec!["sh", "-c", script, "sh"];
    argv.extend(words);
    let run = home.submit(&[], &argv);
    let document = home.ended(&run);
    let wanted: Vec<String> = words.iter().map(|word| format!("[{word}]")).collect();
    assert_eq!(String::from_utf8(home.logs(&run)).unwrap(), wanted.concat());
    assert_eq!(document["launcherArgs"].as_array().unwrap().len(), argv.len());
    assert!(!home.run(&["status", &run]).text().contains('\u{1b}'), "it steers the terminal");
    home.close();
}

#[test]
fn submit_outside_of_a_repository_is_refused() {
    let home = Home::new();
    // Not beside the home: that may lie below the clone that the tests are run in.
    let outside = tempfile::tempdir().unwrap();
    let mut call = home.call(&["--json", "submit", "--", "true"]);
    let output = call.current_dir(outside.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("not_a_repository"), "{output:?}");
}

#[test]
fn prefix_of_two_runs_is_ambiguous_and_one_of_one_is_enough() {
    let home = Home::new();
    let runs = [home.submit(&[], &["true"]), home.submit(&[], &["true"])];
    for run in &runs {
        home.ended(run);
    }
    assert_eq!(home.json(&["status", "r"]).ends_with(1).error(), "ambiguous_id");
    assert_eq!(home.status(&runs[1][..7])["runId"], runs[1].as_str());
    home.close();
}
