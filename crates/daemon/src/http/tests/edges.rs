//! What every request meets: envelopes, limits, versions, a busy and an ending engine.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::routing::get;
use serde_json::Value;
use tidegate_protocol::BODY_BYTES_MAX;
use tower::ServiceExt;

use super::served::Served;
use crate::engine::Command;

#[test]
fn every_refusal_is_an_envelope() {
    let served = Served::new();
    for (method, path, status, code) in [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/api/v1/nothing", 404, "not_found"),
        ("GET", "/api/v1/runs/rzzz", 404, "not_found"),
        ("GET", "/api/v1/runs/%ff%fe", 400, "invalid_input"),
        ("PUT", "/api/v1/runs", 400, "unsupported_command"),
        ("GET", "/api/v1/runs?status=odd", 400, "invalid_input"),
        ("GET", "/api/v1/runs?limit=many", 400, "invalid_input"),
        ("GET", "/api/v1/runs?project=..%2Fx", 400, "invalid_input"),
        ("GET", "/api/v1/waves/none", 400, "invalid_input"),
        ("GET", "/api/v1/events?after=x", 400, "invalid_input"),
        ("GET", "/api/v1/events?odd=1", 400, "invalid_input"),
        ("GET", "/api/v1/events?feature=x", 400, "invalid_input"),
        ("DELETE", "/api/v1/projects/a%20b", 400, "invalid_input"),
    ] {
        let reply = served.ask(method, path, "");
        assert_eq!((reply.status, reply.code()), (status, code), "{method} {path}");
    }
    assert!(served.is_idle());
}

#[test]
fn reads_of_an_empty_home_answer() {
    let served = Served::new();
    assert_eq!(served.ask("GET", "/healthz", "").data()["healthy"], true);
    assert_eq!(served.ask("GET", "/readyz", "").data()["ready"], true);
    assert_eq!(served.ask("GET", "/api/v1/runs", "").data()["runs"], serde_json::json!([]));
    assert_eq!(served.ask("GET", "/api/v1/projects", "").data()["projects"], serde_json::json!([]));
    assert_eq!(*served.ask("GET", "/api/v1/waves/1", "").data(), Value::Null);
    assert_eq!(served.ask("GET", "/api/v1/daemon", "").data()["running"], false);
}

#[test]
fn body_that_does_not_fit_is_refused() {
    let served = Served::new();
    let path = "/api/v1/runs/r0000010000/approve";
    for body in ["{", "[]", "{\"feature\":1}", "{\"feature\":\"a\",\"commit\":\"HEAD\"}"] {
        assert_eq!(served.ask("POST", path, body).code(), "invalid_input", "{body}");
    }
    let unknown = r#"{"actor":"ada","force":true}"#;
    assert_eq!(
        served.ask("POST", "/api/v1/runs/r0000010000/cancel", unknown).code(),
        "invalid_input"
    );
    let huge = " ".repeat(BODY_BYTES_MAX + 1);
    let reply = served.ask("POST", path, &huge);
    assert_eq!((reply.status, reply.code()), (413, "body_too_large"));
    assert!(served.is_idle());
}

#[test]
fn client_of_another_version_may_only_read() {
    let served = Served::new();
    let headers = [("tidegate-version", "9.9.9")];
    let read = served.send_with("GET", "/api/v1/runs", &headers, "").join().unwrap();
    read.data();
    let path = "/api/v1/runs/r0000010000/cancel";
    let write = served.send_with("POST", path, &headers, "{}").join().unwrap();
    assert_eq!((write.status, write.code()), (426, "version_mismatch"));
    assert!(write.body["error"]["details"]["hint"].as_str().unwrap().contains("daemon restart"));
    assert!(served.is_idle());
}

#[test]
fn full_inbox_is_busy_and_retryable() {
    let served = Served::new();
    let run = tidegate_core::ids::RunId::from_parts(1, 1);
    let waiting: Vec<_> =
        (0..1024).map(|_| served.handle.call(Command::Nudge { run: run.clone() }, None)).collect();
    let reply = served.ask("POST", "/api/v1/runs/r0000010000/cancel", "{}");
    assert_eq!((reply.status, reply.code()), (503, "busy"));
    assert_eq!(reply.body["error"]["details"]["retryable"], true);
    drop(waiting);
}

#[test]
fn engine_that_is_gone_is_an_ending_daemon() {
    let served = Served::new();
    let sent = served.send("POST", "/api/v1/runs/r0000010000/cancel", "{}");
    // The request is taken and dropped unanswered.
    drop(served.message());
    let reply = sent.join().unwrap();
    assert_eq!((reply.status, reply.code()), (503, "daemon_stopping"));
}

async fn boom() -> String {
    std::iter::empty::<String>().next().unwrap()
}

#[test]
fn panic_is_an_internal_envelope() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = Served::new();
    let (_, stopping) = tokio::sync::watch::channel(false);
    let site = crate::http::Site {
        handle: served.handle.clone(),
        home_id: String::new(),
        git: tidegate_git::Git::new(std::sync::Arc::new(tidegate_git::StdExec)),
        version: "0",
        supervisor: String::new(),
        token: (0, 1),
        started_at: tidegate_core::time::WallMs(0),
    };
    let app = std::sync::Arc::new(crate::http::app::App::new(site, stopping));
    let guarded = axum::middleware::from_fn_with_state(app, crate::http::guard::guard);
    let router: Router = Router::new().route("/boom", get(boom)).layer(guarded);
    let request = Request::get("/boom").body(Body::empty()).unwrap();
    let response = runtime.block_on(router.oneshot(request)).unwrap();
    assert_eq!(response.status(), 500);
    let body = axum::body::to_bytes(response.into_body(), 10_000);
    let body: Value = serde_json::from_slice(&runtime.block_on(body).unwrap()).unwrap();
    assert_eq!(body["error"]["code"], "internal");
}

#[test]
fn server_that_stops_lets_requests_end() {
    let mut served = Served::new();
    let sent = served.send("POST", "/api/v1/runs/r0000010000/cancel", "{}");
    let request = served.message().unwrap();
    let stopping = std::thread::spawn(move || {
        served.stop();
        served
    });
    let crate::engine::Message::Request(request) = request else { panic!("a request") };
    request.reply.send(Ok(serde_json::json!({ "runId": "r" }))).unwrap();
    assert_eq!(sent.join().unwrap().data()["runId"], "r");
    let served = stopping.join().unwrap();
    let refused = std::os::unix::net::UnixStream::connect(served.socket());
    assert!(refused.is_err(), "nobody listens any more");
}
