//! What becomes of a run whose launcher has ended or is gone: rows 1 to 4 and 6 of its table, each
//! from a real launcher that was ended so.

use serde_json::Value;

use crate::harness::{Home, end, is_gone, until};

/// A launcher with a registered agent of its own session; both have left their pids.
const WITH_AGENT: &str = "
count starts
setsid sleep 1000 &
tidegate agent register --id dock --pid $! && mark agent $!
mark launcher
await go
";

fn pid(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

/// The agent of a run that has this id.
fn agent(document: &Value, id: &str) -> Value {
    let agents = document["agentRuntimeSummary"].as_array().unwrap();
    agents.iter().find(|agent| agent["agentId"] == id).cloned().unwrap_or_default()
}

/// Asserts that a run waits for its living agents.
fn waits_for_agents(document: &Value) {
    assert_eq!(document["status"], "running", "{document}");
    assert_eq!(document["terminalDisposition"], "launcher-lost-agents-running", "{document}");
    assert_eq!(document["recoveryState"], "degraded");
    assert_eq!(document["resumeAction"], "wait-for-live-agents");
}

#[test]
fn launcher_that_exits_settles_its_run_by_its_code() {
    let home = Home::new();
    for (code, status) in [(0, "completed"), (1, "failed"), (255, "failed")] {
        let run = home.script(&[], &format!("exit {code}"));
        let document = home.ended(&run);
        assert_eq!(document["status"], status);
        assert_eq!(document["terminalDisposition"], status);
        assert_eq!(document["exitCode"], code);
        assert_eq!(document["recoveryState"], "healthy");
        assert!(document["resumeAction"].is_null());
        assert_eq!(home.events_of(&run, "launcher-status-reconciled").len(), 1);
    }
    home.close();
}

#[test]
fn launcher_that_cannot_be_executed_fails_its_run_with_the_reason() {
    let home = Home::new();
    let document = home.ended(&home.submit(&[], &["no-such-launcher"]));
    assert_eq!(document["status"], "failed");
    assert!(document["exitCode"].is_null());
    let detail = document["detail"].as_str().unwrap();
    assert!(detail.starts_with("exec_failed") && detail.contains("no-such-launcher"), "{detail}");
    home.close();
}

#[test]
fn launcher_that_is_alive_keeps_its_run_running_and_healthy() {
    let home = Home::new();
    let run = home.script(&[], "mark launcher; await go");
    let launcher = home.pid("launcher");
    let document = home.until(&run, "its start", |document| document["recorded"] == true);
    assert_eq!(document["status"], "running");
    assert_eq!(document["recoveryState"], "healthy");
    assert_eq!(pid(&document["launcherPid"]), launcher);
    let shim = pid(&document["shimIdentity"]["pid"]);
    let line = std::fs::read_to_string(format!("/proc/{shim}/cmdline")).unwrap();
    assert!(line.contains("shim"), "{line}");
    assert_eq!(document["supervised"], true);
    assert!(document["leaseExpiresAt"].is_string());
    home.go("go");
    assert_eq!(home.ended(&run)["status"], "completed");
    home.close();
}

#[test]
fn run_of_a_killed_launcher_lives_with_its_agents_and_ends_after_them() {
    for victim in ["launcher", "shim"] {
        let home = Home::new();
        let run = home.script(&[], WITH_AGENT);
        let (launcher, dock) = (home.pid("launcher"), home.pid("agent"));
        let shim = pid(&home.status(&run)["shimIdentity"]["pid"]);
        end(if victim == "shim" { shim } else { launcher });
        let document = home.until(&run, "degraded", |d| d["recoveryState"] == "degraded");
        waits_for_agents(&document);
        let document = home.until(&run, "recorded", |d| d["recorded"] == true);
        waits_for_agents(&document);
        assert!(!is_gone(dock), "{victim}: the agent was ended with its launcher");
        until("the launcher's end", || is_gone(launcher).then_some(()));
        assert_eq!(pid(&agent(&document, "dock")["pid"]), dock);
        let adopted = home.events_of(&run, "agent-runtime-adopted");
        assert_eq!(adopted.len(), 1, "{victim}");
        assert_eq!(adopted[0]["agentIds"], serde_json::json!(["dock"]));
        end(dock);
        let document = home.ended(&run);
        assert_eq!(document["terminalDisposition"], "launcher-lost-before-status", "{victim}");
        assert_eq!(agent(&document, "dock")["terminalDisposition"], "terminated");
        assert_eq!(home.events_of(&run, "agent-runtime-adopted").len(), 1, "{victim}");
        assert_eq!(home.lines("starts"), 1);
        home.close();
    }
}

#[test]
fn degraded_run_survives_a_new_daemon_and_is_settled_by_its_journal() {
    let home = Home::new();
    let run = home.script(&[], WITH_AGENT);
    let (launcher, dock) = (home.pid("launcher"), home.pid("agent"));
    end(launcher);
    home.until(&run, "degraded", |d| d["recoveryState"] == "degraded" && d["recorded"] == true);
    home.kill_daemon();
    waits_for_agents(&home.status(&run));
    home.run(&["progress", "--wave", "4", "--finalized", "completed", "--run-id", &run])
        .ends_with(0);
    home.start_daemon();
    waits_for_agents(&home.until(&run, "adopted", |d| d["recorded"] == true));
    assert_eq!(home.events_of(&run, "agent-runtime-adopted").len(), 1);
    assert!(!is_gone(dock));
    home.run(&["agent", "exit", "--id", "dock", "--code", "0", "--run-id", &run]).ends_with(0);
    let document = home.ended(&run);
    assert!(is_gone(dock), "it said that it had ended, and lives on");
    assert_eq!(document["status"], "completed", "{document}");
    assert_eq!(document["recoveryState"], "recovered-from-progress");
    assert_eq!(document["activeWave"], 4);
    assert_eq!(agent(&document, "dock")["terminalDisposition"], "completed");
    home.close();
}

#[test]
fn journal_that_is_finalised_settles_a_run_whose_launcher_was_lost() {
    for (word, flags, code, status) in [
        ("completed", "", Value::from(0), "completed"),
        ("failed", "--exit-code 9", Value::from(9), "failed"),
    ] {
        let home = Home::new();
        let script = format!(
            "tidegate progress --wave 3 --finalized {word} {flags}; mark launcher; await go"
        );
        let run = home.script(&["--start-wave", "1"], &script);
        home.pid("launcher");
        let shim = pid(&home.status(&run)["shimIdentity"]["pid"]);
        end(shim);
        let document = home.ended(&run);
        assert_eq!(document["status"], status);
        assert_eq!(document["exitCode"], code);
        assert_eq!(document["recoveryState"], "recovered-from-progress");
        assert_eq!(document["activeWave"], 3);
        let reconciled = home.events_of(&run, "launcher-status-reconciled");
        assert_eq!(reconciled.len(), 1);
        assert_eq!(reconciled[0]["source"], "progress-journal");
        assert_eq!(reconciled[0]["exitCode"], code);
        home.close();
    }
}

#[test]
fn lost_launcher_without_a_word_fails_its_run_with_the_signal_if_one_is_known() {
    for (victim, signal) in [("shim", Value::Null), ("launcher", Value::from(9))] {
        let home = Home::new();
        let run = home.script(&[], "count starts; mark launcher; await go");
        let launcher = home.pid("launcher");
        let shim = pid(&home.status(&run)["shimIdentity"]["pid"]);
        end(if victim == "shim" { shim } else { launcher });
        let document = home.ended(&run);
        assert_eq!(document["status"], "failed");
        assert_eq!(document["terminalDisposition"], "launcher-lost-before-status");
        assert_eq!(document["recoveryState"], "failed");
        assert!(document["exitCode"].is_null() && document["activeWave"].is_null(), "{document}");
        assert_eq!(document["signal"], signal);
        let lost = home.events_of(&run, "failed-before-status");
        assert_eq!(lost.len(), 1);
        assert_eq!(pid(&lost[0]["launcherPid"]), launcher);
        assert_eq!(home.lines("starts"), 1, "it was started again without a known wave");
        assert!(home.processes(&run).is_empty());
        home.close();
    }
}

#[test]
fn daemon_shim_and_launcher_killed_at_once_converge() {
    let home = Home::new();
    let run = home.script(&[], "setsid sleep 1000 & mark stray $!; mark launcher; await go");
    let (launcher, stray) = (home.pid("launcher"), home.pid("stray"));
    let shim = pid(&home.status(&run)["shimIdentity"]["pid"]);
    let daemon = home.daemon().unwrap();
    for victim in [daemon, shim, launcher] {
        crate::harness::signal(victim, rustix::process::Signal::KILL);
    }
    let document = home.ended(&run);
    assert_eq!(document["terminalDisposition"], "launcher-lost-before-status");
    assert!(is_gone(stray), "an orphan is left");
    home.close();
}

#[test]
fn children_of_an_agent_that_outlived_its_launcher_end_with_the_run() {
    let home = Home::new();
    let agent =
        home.program("agent.sh", "setsid sleep 1000 & mark child $!; mark agent; await end");
    let run = home.script(
        &[],
        &format!("setsid {agent} & tidegate agent register --id dock --pid $!; await agent; mark launcher; await go"),
    );
    let (launcher, dock, child) = (home.pid("launcher"), home.pid("agent"), home.pid("child"));
    end(launcher);
    waits_for_agents(&home.until(&run, "degraded", |d| d["recoveryState"] == "degraded"));
    home.until(&run, "recorded", |d| d["recorded"] == true);
    assert!(!is_gone(child));
    end(dock);
    home.ended(&run);
    assert!(is_gone(child), "an orphan of the run is left");
    home.close();
}

#[test]
fn cancelled_agents_take_along_what_left_their_tree() {
    let home = Home::new();
    let agent = home.program(
        "agent.sh",
        "mark agent; await more; ( ( setsid sleep 1000 & mark child $! ) & ); await end",
    );
    let register = "tidegate agent register --id dock --pid $!";
    let script = format!("setsid {agent} & {register}; await agent; mark launcher; await go");
    let run = home.script(&[], &script);
    let (launcher, dock) = (home.pid("launcher"), home.pid("agent"));
    end(launcher);
    home.until(&run, "degraded", |d| d["recoveryState"] == "degraded" && d["recorded"] == true);
    home.go("more");
    let child = home.pid("child");
    assert!(!is_gone(child) && !is_gone(dock));
    home.run(&["cancel", &run, "--wait"]).ends_with(0);
    assert!(is_gone(child) && is_gone(dock));
    home.close();
}
