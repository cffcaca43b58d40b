//! Commands reach the engine as what they mean, and its answers come back.

use serde_json::json;
use tidegate_core::ids::{AgentId, FeatureId, Oid, RoleName};
use tidegate_protocol::{ErrorCode, Problem};

use super::served::Served;
use crate::engine::{Command, Message};

const RUN: &str = "r0000010000";

fn run() -> tidegate_core::ids::RunId {
    tidegate_core::ids::RunId::new(RUN).unwrap()
}

#[test]
fn commands_are_handed_on_with_what_they_name() {
    let served = Served::new();
    let commit = "c".repeat(40);
    let feature = FeatureId::new("berths").unwrap();
    let cases: [(&str, String, Command); 6] = [
        (
            "cancel",
            r#"{"actor":"ada"}"#.into(),
            Command::Cancel { run: run(), actor: "ada".into() },
        ),
        (
            "retry",
            r#"{"actor":"ada"}"#.into(),
            Command::RetryRun { run: run(), actor: "ada".into() },
        ),
        (
            "retry",
            r#"{"feature":"berths","actor":"ada"}"#.into(),
            Command::RetryFeature { run: run(), feature: feature.clone(), actor: "ada".into() },
        ),
        (
            "approve",
            format!(r#"{{"feature":"berths","commit":"{commit}","actor":"ada"}}"#),
            Command::Approve {
                review: None,
                run: run(),
                feature: feature.clone(),
                commit: Oid::new(commit.as_str()).unwrap(),
                actor: "ada".into(),
            },
        ),
        (
            "deny",
            format!(r#"{{"feature":"berths","commit":"{commit}","comments":"more","actor":"a"}}"#),
            Command::Deny {
                run: run(),
                feature: feature.clone(),
                commit: Oid::new(commit.as_str()).unwrap(),
                actor: "a".into(),
                comments: "more".into(),
            },
        ),
        (
            "agents",
            r#"{"agentId":"a1","role":"builder","argv":["sh","-c","true"]}"#.into(),
            Command::StartAgent {
                run: run(),
                agent: AgentId::new("a1").unwrap(),
                role: Some(RoleName::new("builder").unwrap()),
                argv: vec!["sh".into(), "-c".into(), "true".into()],
                terminal: false,
            },
        ),
    ];
    for (verb, body, expected) in cases {
        let sent = served.send("POST", &format!("/api/v1/runs/{RUN}/{verb}"), &body);
        let (command, key) = served.engine(Ok(json!({ "jobId": "j" })));
        assert_eq!(command, expected, "{verb}");
        // A command without a key of its own has one that nobody else has, and says what was asked.
        let key = key.filter(|key| key.key.starts_with("own-")).unwrap();
        assert_eq!(key.args, serde_json::from_str::<serde_json::Value>(&body).unwrap());
        let reply = sent.join().unwrap();
        assert_eq!(reply.data()["jobId"], "j");
        if verb == "agents" {
            assert_eq!(reply.data()["agentId"], "a1");
            assert_eq!(reply.data()["runId"], RUN);
        }
    }
}

#[test]
fn refusal_of_the_engine_comes_through() {
    let served = Served::new();
    let sent = served.send("POST", &format!("/api/v1/runs/{RUN}/cancel"), "{}");
    let problem = Problem::new(ErrorCode::InvalidStatusTransition, "it has ended").with("at", 7);
    let (command, _) = served.engine(Err(problem));
    assert!(matches!(command, Command::Cancel { actor, .. } if !actor.is_empty()));
    let reply = sent.join().unwrap();
    assert_eq!((reply.status, reply.code()), (409, "invalid_status_transition"));
    assert_eq!(reply.body["error"]["details"]["at"], 7);
}

#[test]
fn key_names_the_command_and_its_body() {
    let served = Served::new();
    let key_of = |path: &str, body: &str| {
        let headers = [("idempotency-key", "k1"), ("tidegate-version", tidegate_protocol::VERSION)];
        let sent = served.send_with("POST", path, &headers, body);
        let (_, key) = served.engine(Ok(json!({})));
        sent.join().unwrap();
        key.unwrap()
    };
    let path = format!("/api/v1/runs/{RUN}/cancel");
    let first = key_of(&path, r#"{"actor":"ada"}"#);
    assert_eq!((first.key.as_str(), first.body_hash.len()), ("k1", 64));
    assert!(!first.actor.is_empty());
    assert_eq!(key_of(&path, r#"{"actor":"ada"}"#), first);
    assert_ne!(key_of(&path, r#"{"actor":"bob"}"#).body_hash, first.body_hash);
    let other = key_of("/api/v1/runs/r0000020000/cancel", r#"{"actor":"ada"}"#);
    assert_ne!(other.body_hash, first.body_hash);

    let headers = [("idempotency-key", "")];
    let reply = served.send_with("POST", &path, &headers, "{}").join().unwrap();
    assert_eq!(reply.code(), "invalid_input");
}

#[test]
fn stop_is_acknowledged_and_handed_on() {
    let served = Served::new();
    for drain in [false, true] {
        let reply = served.ask("POST", "/api/v1/daemon/stop", &format!("{{\"drain\":{drain}}}"));
        assert_eq!(reply.data()["accepted"], true);
        let message = served.message();
        assert!(matches!(message, Some(Message::Stop { drain: told }) if told == drain));
    }
}

#[test]
fn project_outside_a_repository_is_refused() {
    let served = Served::new();
    let dir = tempfile::tempdir().unwrap();
    let body = json!({ "root": dir.path() }).to_string();
    assert_eq!(served.ask("POST", "/api/v1/projects", &body).code(), "not_a_repository");
    let relative = served.ask("POST", "/api/v1/projects", r#"{"root":"x"}"#);
    assert_eq!(relative.code(), "invalid_input");
    assert!(served.is_idle());
}
