//! The verbs of a launcher: its agents and its journal, with a daemon and without one.

use serde_json::{Value, json};

use crate::harness::{Home, end, is_gone};

fn agent(document: &Value, id: &str) -> Value {
    let agents = document["agentRuntimeSummary"].as_array().unwrap();
    agents.iter().find(|agent| agent["agentId"] == id).cloned().unwrap_or_default()
}

#[test]
fn agent_that_is_started_is_a_job_of_its_own_outside_the_launchers_tree() {
    let home = Home::new();
    let agent_program = home.program("agent", "count starts; mark dock; await end; exit 4");
    let run = home.script(
        &[],
        &format!(
            "tidegate agent start --id dock --role builder -- {agent_program} > $T/answer
         tidegate agent start --id dock2 --wait -- sh -c 'exit 6'; echo $? > $T/code
         mark launcher; await go"
        ),
    );
    home.pid("launcher");
    let dock = home.pid("dock");
    assert_eq!(home.appears("code").trim(), "6");
    let answer = std::fs::read_to_string(home.beside("answer")).unwrap();
    assert!(answer.starts_with(&format!("job_id={run}-")), "{answer}");
    let found = agent(&home.until(&run, "dock", |d| agent(d, "dock")["recorded"] == true), "dock");
    assert_eq!((&found["pid"], &found["role"]), (&json!(dock), &json!("builder")));
    assert_eq!(found["attachMode"], "log-tail");
    assert_ne!(found["runnerPid"], home.status(&run)["shimIdentity"]["pid"]);
    home.go("end");
    let ended = |d: &Value| agent(d, "dock")["terminalDisposition"] == "failed";
    let document = home.until(&run, "the agent's end", ended);
    assert_eq!(agent(&document, "dock")["exitCode"], 4);
    home.go("go");
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(home.lines("starts"), 1);
    home.close();
}

#[test]
fn agent_that_was_started_keeps_a_lost_launchers_run_and_ends_with_it() {
    let home = Home::new();
    let agent_program = home.program("agent", "mark dock; await end");
    let run = home.script(
        &[],
        &format!("tidegate agent start --id dock -- {agent_program}; mark launcher; await go"),
    );
    let (launcher, dock) = (home.pid("launcher"), home.pid("dock"));
    end(launcher);
    let document = home.until(&run, "degraded", |d| d["recoveryState"] == "degraded");
    assert_eq!(document["resumeAction"], "wait-for-live-agents");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    assert!(!is_gone(dock));
    home.go("end");
    assert_eq!(home.ended(&run)["terminalDisposition"], "launcher-lost-before-status");
    home.close();
}

#[test]
fn agent_that_outlives_a_good_launcher_is_ended_before_the_run_is() {
    let home = Home::new();
    let agent_program = home.program("agent", "mark dock; await never");
    let run = home.script(
        &[],
        &format!(
            "setsid sleep 1000 & tidegate agent register --id pier --pid $!; mark pier $!
         tidegate agent start --id dock -- {agent_program}; await dock"
        ),
    );
    let document = home.ended(&run);
    assert_eq!(document["status"], "completed", "{document}");
    assert!(is_gone(home.pid("dock")) && is_gone(home.pid("pier")));
    assert!(home.processes(&run).is_empty());
    home.close();
}

#[test]
fn agent_registers_the_program_that_calls_by_default_and_tells_its_end() {
    let home = Home::new();
    let program = home.program(
        "pier.sh",
        "tidegate agent register --id pier --log pier.log \
        --session harbour:1 && mark pier; await end; tidegate agent exit --id pier --code 5",
    );
    let run = home.script(&[], &format!("{program}; mark launcher; await go"));
    let pier = home.pid("pier");
    let found = agent(&home.until(&run, "pier", |d| agent(d, "pier")["recorded"] == true), "pier");
    assert_eq!((&found["pid"], &found["executorPid"]), (&json!(pier), &json!(pier)));
    assert_eq!(
        (&found["attachMode"], &found["sessionBackend"]),
        (&json!("session"), &json!("terminal"))
    );
    assert_eq!((&found["session"], &found["logPath"]), (&json!("harbour:1"), &json!("pier.log")));
    assert_eq!((&found["alive"], &found["terminalDisposition"]), (&json!(true), &json!("running")));
    home.go("end");
    home.pid("launcher");
    let ended =
        |d: &Value| agent(d, "pier")["exitCode"] == 5 && agent(d, "pier")["recorded"] == true;
    assert_eq!(agent(&home.until(&run, "its end", ended), "pier")["terminalDisposition"], "failed");
    home.go("go");
    home.ended(&run);
    assert_eq!(home.events_of(&run, "agent-registered").len(), 1);
    assert_eq!(home.events_of(&run, "agent-exited").len(), 1);
    home.close();
}

#[test]
fn remote_agent_lives_by_its_heartbeats_and_is_never_signalled() {
    let home = Home::new();
    let run =
        home.script(&[], "tidegate agent register --id far --remote; mark launcher; await go");
    let launcher = home.pid("launcher");
    home.run(&["agent", "heartbeat", "--id", "far", "--run-id", &run]).ends_with(0);
    end(launcher);
    let document = home.until(&run, "degraded", |d| d["recoveryState"] == "degraded");
    let far = agent(&document, "far");
    assert_eq!(
        (&far["remote"], &far["alive"], &far["pid"]),
        (&json!(true), &json!(true), &Value::Null)
    );
    let told = ["agent", "exit", "--id", "far", "--disposition", "completed", "--run-id", &run];
    home.run(&told).ends_with(0);
    let document = home.ended(&run);
    assert_eq!(agent(&document, "far")["terminalDisposition"], "completed");
    assert_eq!(document["terminalDisposition"], "launcher-lost-before-status");
    home.close();
}

#[test]
fn launcher_works_on_without_a_daemon_and_its_files_are_ingested_by_the_next() {
    let home = Home::new();
    let run = home.script(
        &["--start-wave", "1"],
        "mark launcher; await go
        tidegate progress --wave 3 --phase docks || count errors
        setsid sleep 1000 & tidegate agent register --id pier --pid $! || count errors
        tidegate agent heartbeat --id pier || count errors
        tidegate agent start --id dock -- true; echo $? > $T/code
        tidegate --json agent start --id dock -- true > $T/refusal
        tidegate agent exit --id pier --code 0 || count errors
        kill $!; mark told; await end",
    );
    home.pid("launcher");
    home.kill_daemon();
    home.go("go");
    home.pid("told");
    assert_eq!((home.lines("errors"), home.appears("code").trim()), (0, "4"));
    let refusal: Value = serde_json::from_str(&home.appears("refusal")).unwrap();
    assert_eq!(refusal["error"]["code"], "daemon_unreachable");
    assert_eq!(refusal["error"]["details"]["retryable"], true);
    assert!(home.daemon().is_none(), "a daemon was started inside a job");
    let document = home.status(&run);
    assert_eq!((&document["activeWave"], &document["recorded"]), (&json!(3), &json!(false)));
    home.start_daemon();
    let document = home.until(&run, "ingested", |d| d["recorded"] == true && d["activeWave"] == 3);
    assert_eq!(agent(&document, "pier")["exitCode"], 0);
    home.go("end");
    assert_eq!(home.ended(&run)["status"], "completed");
    assert_eq!(home.events_of(&run, "progress").len(), 1);
    home.close();
}

#[test]
fn process_of_somebody_else_is_refused_and_never_signalled() {
    let home = Home::new();
    let mut stranger = std::process::Command::new("sleep");
    let stranger = crate::harness::Fence::start(stranger.arg("1000"));
    let run = home.script(
        &[],
        &format!(
            "tidegate --json agent register --id thief --pid {} > $T/refusal; echo $? > $T/code
         mark launcher; await go",
            stranger.pid()
        ),
    );
    let launcher = home.pid("launcher");
    let refusal: Value = serde_json::from_str(&home.appears("refusal")).unwrap();
    assert_eq!(refusal["error"]["code"], "foreign_process", "{refusal}");
    assert_eq!(home.appears("code").trim(), "1");
    assert!(agent(&home.status(&run), "thief").is_null());
    end(launcher);
    assert_eq!(home.ended(&run)["terminalDisposition"], "launcher-lost-before-status");
    assert!(!is_gone(stranger.pid()));
    home.close();
}

#[test]
fn verbs_of_a_launcher_outside_of_one_say_what_is_missing() {
    let home = Home::new();
    for words in [
        &["agent", "heartbeat", "--id", "a"][..],
        &["agent", "register", "--id", "a"],
        &["progress", "--wave", "1"],
    ] {
        let output = home.json(words).ends_with(2);
        assert_eq!(output.error(), "invalid_cli_args");
    }
}
