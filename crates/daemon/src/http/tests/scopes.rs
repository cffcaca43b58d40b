//! What a process inside a job may do. It is a real child with the tag of a run in its environment.

use std::process::{Child, Command as Program, Stdio};

use serde_json::{Value, json};
use tidegate_core::ids::{JobId, RunId};

use super::served::{Served, exchange, request};
use crate::engine::Command;
use crate::views::tests::home::TestHome;
use crate::views::tests::works::launcher;

const SOCKET: &str = "TIDEGATE_TEST_SOCKET";
const REQUEST: &str = "TIDEGATE_TEST_REQUEST";
/// What stands before the child's answer on its standard output.
const MARK: &str = "answer:";

/// Not a test of its own: the client that [`JobClient`] starts.
#[test]
fn client_inside_a_job_when_asked_for() {
    let (Ok(socket), Ok(request)) = (std::env::var(SOCKET), std::env::var(REQUEST)) else {
        return;
    };
    let reply = exchange(socket.as_ref(), &request);
    println!("\n{MARK}{}", json!({ "status": reply.status, "body": reply.body }));
}

/// A client process that carries the tag of a job.
struct JobClient(Child);

impl JobClient {
    fn start(served: &Served, job: &JobId, method: &str, path: &str, body: &str) -> Self {
        let tag = format!("{}:{}:{job}", served.home.home_id(), job.run());
        let test = "http::tests::scopes::client_inside_a_job_when_asked_for";
        let child = Program::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(tidegate_process::RUN_TAG, tag)
            .env(SOCKET, served.socket())
            .env(REQUEST, request(method, path, &[], body))
            .stdout(Stdio::piped())
            .spawn();
        Self(child.unwrap())
    }

    /// The status and the code; the code is empty for an answer.
    fn answer(self) -> (u16, String) {
        let output = self.0.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(MARK));
        let told: Value = serde_json::from_str(line.unwrap_or_else(|| panic!("{text}"))).unwrap();
        let code = told["body"]["error"]["code"].as_str().unwrap_or_default().to_owned();
        (u16::try_from(told["status"].as_u64().unwrap()).unwrap(), code)
    }
}

struct Setting {
    served: Served,
    launcher: JobId,
    child: RunId,
    other: RunId,
}

/// A running launcher, a run that it submitted, and one of somebody else.
fn setting() -> Setting {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, launcher(None, None, 1));
    home.claim(&mut run);
    let child = home.submit_for("child", None, launcher(None, None, 1), Some(run.id.clone())).id;
    let other = home.submit("other", None, launcher(None, None, 1)).id;
    let launcher = run.jobs.keys().next().unwrap().clone();
    Setting { served: Served::of(home), launcher, child, other }
}

#[test]
fn job_reads_its_own_run_and_nothing_else() {
    let Setting { served, launcher, child, other } = setting();
    let own = launcher.run();
    let ask = |path: String| JobClient::start(&served, &launcher, "GET", &path, "").answer();
    for path in ["", "/jobs", "/features", "/explain"] {
        assert_eq!(ask(format!("/api/v1/runs/{own}{path}")), (200, String::new()), "{path}");
    }
    assert_eq!(ask(format!("/api/v1/events?run={own}")), (200, String::new()));
    let forbidden = (403, "forbidden_scope".to_owned());
    for path in [
        format!("/api/v1/runs/{other}"),
        format!("/api/v1/runs/{child}"),
        "/api/v1/runs/rzzz".into(),
        "/api/v1/runs".into(),
        format!("/api/v1/events?run={other}"),
        "/api/v1/waves/1".into(),
        "/api/v1/projects".into(),
        "/api/v1/daemon".into(),
    ] {
        assert_eq!(ask(path.clone()), forbidden, "{path}");
    }
}

#[test]
fn job_commands_little_and_never_for_itself_to_land() {
    let Setting { served, launcher, child, other } = setting();
    let own = launcher.run().clone();
    let forbidden = (403, "forbidden_scope".to_owned());
    let commit = "c".repeat(40);
    let approve = format!(r#"{{"feature":"a","commit":"{commit}"}}"#);
    for (path, body) in [
        (format!("/api/v1/runs/{own}/approve"), approve.as_str()),
        (format!("/api/v1/runs/{own}/deny"), approve.as_str()),
        (format!("/api/v1/runs/{own}/retry"), "{}"),
        (format!("/api/v1/runs/{own}/cancel"), "{}"),
        (format!("/api/v1/runs/{other}/cancel"), "{}"),
        (format!("/api/v1/runs/{other}/nudge"), "{}"),
        (format!("/api/v1/runs/{other}/agents"), r#"{"agentId":"a","argv":["true"]}"#),
        ("/api/v1/daemon/stop".into(), "{}"),
        ("/api/v1/projects".into(), r#"{"root":"/"}"#),
    ] {
        let told = JobClient::start(&served, &launcher, "POST", &path, body).answer();
        assert_eq!(told, forbidden, "{path}");
    }
    assert!(served.is_idle(), "nothing of it reached the engine");

    for (path, body) in [
        (format!("/api/v1/runs/{own}/nudge"), "{}"),
        (format!("/api/v1/runs/{own}/agents"), r#"{"agentId":"a","argv":["true"]}"#),
        (format!("/api/v1/runs/{child}/cancel"), r#"{"actor":"root"}"#),
    ] {
        let client = JobClient::start(&served, &launcher, "POST", &path, body);
        let (command, _) = served.engine(Ok(json!({})));
        assert_eq!(client.answer(), (200, String::new()), "{path}");
        if let Command::Cancel { actor, .. } = command {
            assert_eq!(actor, format!("job:{launcher}"), "it speaks for itself");
        }
    }
}
