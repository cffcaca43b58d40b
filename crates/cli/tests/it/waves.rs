//! The most relevant run of a wave, and the one-line form of a status.

use serde_json::Value;

use crate::harness::Home;

fn wave(home: &Home, words: &[&str]) -> Value {
    let mut call = vec!["status", "--wave"];
    call.extend(words);
    home.data(&call)
}

#[test]
fn summary_of_a_wave_prefers_what_runs_then_waits_then_failed_then_the_rest() {
    let home = Home::new();
    assert!(wave(&home, &["7"]).is_null(), "no such run is null, and no error");
    let queue = |name: &str, script: &str| {
        home.script(&["--start-wave", "7", "--resume-limit", "0", "--adhoc-run", name], script)
    };
    let cancelled = queue("a", "mark a; await never");
    home.pid("a");
    home.run(&["cancel", &cancelled, "--wait"]).ends_with(0);
    assert_eq!(wave(&home, &["7"])["runId"], cancelled.as_str());
    let good = queue("a", "exit 0");
    home.ended(&good);
    assert_eq!(wave(&home, &["7"])["runId"], good.as_str(), "a cancelled run ranks last");
    let bad = queue("a", "exit 3");
    home.ended(&bad);
    let newest = queue("a", "exit 0");
    home.ended(&newest);
    let found = wave(&home, &["7"]);
    assert_eq!((&found["runId"], &found["exitCode"]), (&bad.as_str().into(), &3.into()));
    let running = queue("b", "tidegate agent register --id dock; mark b; await go");
    let pending = queue("b", "exit 0");
    home.pid("b");
    assert_eq!(wave(&home, &["7"])["runId"], running.as_str());
    let of_agent = wave(&home, &["7", "--agent", "dock"]);
    assert_eq!(of_agent["agentRuntimeSummary"].as_array().unwrap().len(), 1);
    assert_eq!(of_agent["agentRuntimeSummary"][0]["agentId"], "dock");
    assert!(wave(&home, &["8"]).is_null());
    home.go("go");
    home.ended(&running);
    home.ended(&pending);
    home.close();
}

#[test]
fn summary_of_a_wave_has_exactly_its_documented_fields() {
    let home = Home::new();
    let run = home.script(&["--start-wave", "1"], "exit 0");
    home.ended(&run);
    let found = wave(&home, &["1"]);
    let mut fields: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "agentRuntimeSummary",
            "detail",
            "exitCode",
            "launcherPid",
            "leaseExpiresAt",
            "recoveryState",
            "resumeAction",
            "runId",
            "sessionBackend",
            "status",
            "supervisorId",
            "terminalDisposition",
            "updatedAt",
        ]
    );
    home.close();
}

#[test]
fn run_document_has_every_field_of_a_script_that_reads_it() {
    let home = Home::new();
    let run = home.script(&[], "tidegate agent register --id dock; exit 0");
    let document = home.ended(&run);
    for field in [
        "runId",
        "project",
        "lane",
        "adhocRunId",
        "status",
        "submittedAt",
        "startedAt",
        "updatedAt",
        "completedAt",
        "launcherArgs",
        "launcherPid",
        "launcherStatusPath",
        "launcherLogPath",
        "statePath",
        "exitCode",
        "activeWave",
        "terminalDisposition",
        "recoveryState",
        "resumeAction",
        "resumeAttempts",
        "sessionBackend",
        "supervisorId",
        "leaseExpiresAt",
        "detail",
        "agentRuntimeSummary",
        "signal",
        "attention",
        "recorded",
        "supervised",
        "features",
    ] {
        assert!(document.get(field).is_some(), "{field} is missing: {document}");
    }
    for field in [
        "agentId",
        "pid",
        "pgid",
        "runnerPid",
        "executorPid",
        "lastHeartbeatAt",
        "exitCode",
        "terminalDisposition",
        "sessionBackend",
        "attachMode",
    ] {
        assert!(document["agentRuntimeSummary"][0].get(field).is_some(), "{field}: {document}");
    }
    for field in ["launcherStatusPath", "launcherLogPath", "statePath"] {
        let path = document[field].as_str().unwrap();
        assert!(std::path::Path::new(path).exists(), "{field}: {path}");
    }
    let line = home.run(&["status", &run, "--oneline"]).ends_with(0).text();
    let wanted = format!("run_id={run} status=completed lane=main project=harbour pid=");
    assert!(line.starts_with(&wanted), "{line}");
    for part in [
        "exit_code=0",
        "terminal_disposition=completed",
        "recovery_state=healthy",
        "resume_action=none",
    ] {
        assert!(line.split_whitespace().any(|word| word == part), "{part}: {line}");
    }
    home.close();
}

#[test]
fn pending_run_on_one_line_says_what_is_not_known() {
    let home = Home::new();
    let first = home.script(&[], "mark a; await go");
    let second = home.script(&[], "exit 0");
    home.pid("a");
    let line = home.run(&["status", &second, "--oneline"]).ends_with(0).text();
    let wanted =
        format!("run_id={second} status=pending lane=main project=harbour pid=n/a exit_code=n/a");
    assert!(line.starts_with(&wanted), "{line}");
    home.go("go");
    home.ended(&first);
    home.ended(&second);
    home.close();
}

#[test]
fn launcher_of_the_settings_is_submitted_by_its_name_once_they_are_trusted() {
    let home = Home::new();
    let entry = "target = \"main\"\n[launcher.waves]\nargv = [\"sh\", \"-c\", \"echo $0 $1\"]\n";
    home.repo().write("tidegate.toml", entry);
    let call = ["submit", "--launcher", "waves", "--", "fast", "lane"];
    let refused = home.json(&call);
    assert_eq!(refused.envelope()["error"]["code"], "untrusted_config");
    home.run(&["config", "trust"]).ends_with(0);
    let run = home.data(&call)["runId"].as_str().unwrap().to_owned();
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(String::from_utf8(home.logs(&run)).unwrap(), "fast lane\n");
    let unknown = home.json(&["submit", "--launcher", "wave"]);
    let error = &unknown.envelope()["error"];
    assert_eq!(error["code"], "not_found");
    assert!(error["details"]["hint"].as_str().unwrap().contains("waves"), "{error}");
    home.close();
}
