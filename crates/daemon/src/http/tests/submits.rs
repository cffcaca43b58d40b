//! Submits: what is checked, what is pinned, and what a launcher may submit.

use std::path::Path;
use std::process::Command as Program;

use serde_json::{Value, json};
use tempfile::TempDir;
use tidegate_core::launcher::{Selection, SelectionStyle};
use tidegate_core::run::Work;

use super::served::{Reply, Served};
use crate::engine::{Command, Submit};
use crate::environment;

const CONFIG: &str = r#"target = "main"
[agent.scribe]
argv = ["./write.sh"]
prompt = "stdin"
[role.builder]
agent = "scribe"
[gate.test]
argv = ["true"]
[launcher.waves]
argv = ["waves"]
selection = "append"
[launcher.again]
argv = ["again"]
resume_argv = ["again", "--from", "{wave}"]
"#;

const PLAN: &str = r#"title = "Harbour board"
[[wave]]
name = "foundations"
  [[wave.feature]]
  id = "berths"
  prompt = "Make berths."
  paths = ["src/berths/**"]
  gates = ["test"]
[[wave]]
name = "surface"
  [[wave.feature]]
  id = "board"
  prompt = "Show them."
  paths = ["src/board/**"]
  gates = ["test"]
  needs = ["berths"]
"#;

fn git(dir: &Path, arguments: &[&str]) {
    let mut program = Program::new("git");
    program.current_dir(dir).args(["-c", "user.name=Ada", "-c", "user.email=ada@localhost"]);
    let done = program.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A repository, with a first commit on `main` unless it is to be unborn.
fn repository(born: bool) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "-b", "main"]);
    if born {
        git(dir.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
    }
    dir
}

fn body(cwd: &Path, work: &Value) -> Value {
    json!({
        "cwd": cwd,
        "actor": "ada",
        "env": [["PATH", "/usr/bin:/bin"], ["ODD", { "hex": "fffe" }]],
        "work": work,
    })
}

fn plan(selection: &Value) -> Value {
    json!({ "plan": {
        "bundle": {
            "planPath": "plan.toml",
            "plan": PLAN,
            "config": CONFIG,
            "configPath": "tidegate.toml",
            "specs": {},
        },
        "selection": selection,
    }})
}

fn refused(served: &Served, body: &Value) -> Reply {
    let reply = served.ask("POST", "/api/v1/runs", &body.to_string());
    assert!(served.is_idle(), "nothing of a refused submit reaches the engine");
    reply
}

fn accepted(served: &Served, body: &Value) -> Submit {
    let sent = served.send("POST", "/api/v1/runs", &body.to_string());
    let taken = served.message();
    let Some(crate::engine::Message::Request(request)) = taken else {
        panic!("{taken:?} {:?}", sent.join());
    };
    request.reply.send(Ok(json!({ "runId": "r0000010000" }))).unwrap();
    assert_eq!(sent.join().unwrap().data()["runId"], "r0000010000");
    let Command::Submit(submit) = request.command else { panic!("a submit") };
    *submit
}

fn trust(served: &Served) {
    let hash = tidegate_store::blob_id(CONFIG.as_bytes());
    std::fs::write(served.home.path().join("trusted").join(hash.as_str()), "").unwrap();
}

#[test]
fn launcher_is_pinned_with_its_whole_environment() {
    let served = Served::new();
    let repo = repository(true);
    let inner = repo.path().join("src");
    std::fs::create_dir(&inner).unwrap();
    let work = json!({ "launcher": { "argv": ["sh", "-c", "exit 3"], "startWave": 2 } });
    let mut request = body(&inner, &work);
    request["lane"] = "side".into();
    request["adhocRun"] = "night".into();
    let submit = accepted(&served, &request);
    let root = repo.path().canonicalize().unwrap();
    assert_eq!(submit.place.root, root.to_str().unwrap());
    assert_eq!(submit.place.common_dir, root.join(".git").to_str().unwrap());
    assert_eq!((submit.lane.as_str(), submit.actor.as_str()), ("side", "ada"));
    assert_eq!(submit.adhoc.as_ref().map(tidegate_core::ids::AdhocId::as_str), Some("night"));
    assert_eq!(submit.parent, None);
    let env = environment::decode(&submit.env);
    let pair = |name: &[u8], value: &[u8]| (name.to_vec(), value.to_vec());
    assert_eq!(env, [pair(b"PATH", b"/usr/bin:/bin"), pair(b"ODD", b"\xff\xfe")]);
    let Work::Launcher { spec, .. } = submit.work else { panic!("a launcher") };
    assert_eq!(spec.cwd, root.to_str().unwrap());
    assert_eq!(spec.selection, Selection { start_wave: Some(2), ..Selection::default() });
    assert_eq!((spec.style, spec.resumes_max), (SelectionStyle::EnvironmentOnly, 1));
}

#[test]
fn launcher_learns_its_selection_as_its_entry_says() {
    let served = Served::new();
    let repo = repository(true);
    let launcher = |argv: &[&str]| {
        let work = json!({ "launcher": { "argv": argv, "config": CONFIG, "resumeLimit": 4 } });
        body(repo.path(), &work)
    };
    let Work::Launcher { spec, .. } = accepted(&served, &launcher(&["waves", "x"])).work else {
        panic!("a launcher")
    };
    assert_eq!((spec.style, spec.resumes_max), (SelectionStyle::Append, 4));
    // A command that the settings bring in runs only once they are trusted.
    let again = launcher(&["again"]);
    assert_eq!(refused(&served, &again).code(), "untrusted_config");
    trust(&served);
    let Work::Launcher { spec, .. } = accepted(&served, &again).work else { panic!("a launcher") };
    assert!(matches!(spec.style, SelectionStyle::ResumeArgv(_)));
}

#[test]
fn submit_with_a_fault_is_refused_before_the_run_exists() {
    let served = Served::new();
    let repo = repository(true);
    let launcher = |argv: Value| json!({ "launcher": { "argv": argv } });
    let outside = tempfile::tempdir().unwrap();
    let mut bad_lane = body(repo.path(), &launcher(json!(["true"])));
    bad_lane["lane"] = "../x".into();
    let mut bad_env = body(repo.path(), &launcher(json!(["true"])));
    bad_env["env"] = json!([["A", "b\0c"]]);
    let mut unknown = body(repo.path(), &launcher(json!(["true"])));
    unknown["project"] = "nowhere".into();
    let mut bad_actor = body(repo.path(), &launcher(json!(["true"])));
    bad_actor["actor"] = "a\nb".into();
    let waves = json!({ "launcher": { "argv": ["true"], "startWave": 3, "endWave": 2 } });
    for (request, code) in [
        (body(outside.path(), &launcher(json!(["true"]))), "not_a_repository"),
        (body(repo.path(), &launcher(json!([]))), "invalid_input"),
        (body(repo.path(), &launcher(json!([""]))), "invalid_input"),
        (body(repo.path(), &launcher(json!(["a", { "hex": "ff" }]))), "invalid_input"),
        (body(repo.path(), &waves), "invalid_input"),
        (body(Path::new("relative"), &launcher(json!(["true"]))), "invalid_input"),
        (bad_lane, "invalid_input"),
        (bad_env, "invalid_input"),
        (bad_actor, "invalid_input"),
        (unknown, "not_found"),
    ] {
        assert_eq!(refused(&served, &request).code(), code, "{request}");
    }
}

#[test]
fn plan_is_pinned_once_it_is_trusted() {
    let served = Served::new();
    let repo = repository(true);
    let request = body(repo.path(), &plan(&json!({})));
    let untrusted = refused(&served, &request);
    assert_eq!(untrusted.code(), "untrusted_config");
    assert_eq!(untrusted.body["error"]["details"]["requires_human"], true);
    trust(&served);
    let submit = accepted(&served, &request);
    let Work::Plan { spec, state } = submit.work else { panic!("a plan") };
    assert_eq!((spec.title.as_str(), spec.target.as_str()), ("Harbour board", "refs/heads/main"));
    assert_eq!((spec.features.len(), state.features.len()), (2, 2));
    for feature in spec.features.values() {
        assert!(submit.blobs.iter().any(|(id, _)| *id == feature.prompt));
    }
    assert!(submit.blobs.iter().any(|(_, bytes)| bytes == PLAN.as_bytes()));
}

#[test]
fn plan_with_errors_tells_them_all() {
    let served = Served::new();
    let repo = repository(true);
    trust(&served);
    let mut request = body(repo.path(), &plan(&json!({})));
    let broken = PLAN
        .replace("\"berths\"]", "\"berth\"]")
        .replace("gates = [\"test\"]", "gates = [\"tset\"]");
    request["work"]["plan"]["bundle"]["plan"] = broken.into();
    let reply = refused(&served, &request);
    assert_eq!((reply.status, reply.code()), (422, "invalid_plan"));
    let found = reply.body["error"]["details"]["diagnostics"].as_array().unwrap().clone();
    assert!(found.len() >= 3, "{found:?}");
    assert!(
        found.iter().all(|one| one["line"].as_u64().unwrap() > 0 && one["file"] == "plan.toml")
    );
}

#[test]
fn plan_without_its_target_or_its_past_is_refused() {
    let served = Served::new();
    trust(&served);
    let unborn = repository(false);
    let request = body(unborn.path(), &plan(&json!({})));
    assert_eq!(refused(&served, &request).code(), "target_missing");
    let repo = repository(true);
    let request = body(repo.path(), &plan(&json!({ "startWave": 2 })));
    let reply = refused(&served, &request);
    assert_eq!(reply.code(), "invalid_plan");
    assert_eq!(reply.body["error"]["details"]["missing"][0]["need"], "berths");
}
