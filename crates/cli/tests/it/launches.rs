//! Features without a plan: they join what a lane runs, or make a run in its background, one at a
//! time; and features that are gone on with.

use serde_json::{Value, json};

use crate::harness::{Home, end, post};
use crate::plan_stage::{Stage, feature, one_wave};

const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;
/// Feature `a` waits for the bell `go`; the others are done at once.
const A_WAITS: &str =
    r#"if [ "$feature" = a ]; then read _ <"$T/go"; fi; echo "$feature" >"$feature.txt""#;

fn spec(stage: &Stage, id: &str, text: &str) -> String {
    stage.home.repo().write(&format!("specs/{id}.md"), text);
    format!("{id}=specs/{id}.md")
}

fn launch(home: &Home, items: &[String]) -> crate::harness::Output {
    let mut words = vec!["submit"];
    words.extend(items.iter().flat_map(|item| ["--add", item]));
    home.json(&words)
}

fn started(stage: &Stage, items: &[String]) -> Value {
    launch(&stage.home, items).ends_with(0).data()
}

#[test]
fn launched_features_make_a_run_of_one_wave_with_the_specs_of_their_launch() {
    let stage = Stage::new(OWN_FILE, "true");
    let (a, b) = (spec(&stage, "a", "Build a.\n"), spec(&stage, "b", "Build b.\n"));
    let answer = started(&stage, &[b, a]);
    spec(&stage, "a", "Something else.\n");
    let told = |key: &str| answer[key].clone();
    assert_eq!(told("mode"), "runtime_start", "{answer:#}");
    assert_eq!(told("feature_ids"), json!(["a", "b"]), "sorted by id");
    assert_eq!(told("feature_id"), "a");
    assert_eq!((told("started"), told("already_running")), (json!(true), json!(false)));
    assert_eq!((told("handoff_started"), told("request_status")), (json!(true), json!("started")));
    let run = answer["run_id"].as_str().unwrap();
    let document = stage.ends(run, "completed");
    assert!(stage.prompt("a", 1).contains("Build a."));
    assert!(["a", "b"].iter().all(|id| feature(&document, id)["state"] == "landed"));
    // The gate of the config judged them, although nobody named it.
    assert!(stage.moments(run, "gate-passed", "a").len() >= 2, "{}", stage.story(run));
    let command = stage.home.data(&["daemon", "commands", answer["requestId"].as_str().unwrap()]);
    assert_eq!(
        (&command["status"], &command["background"]),
        (&json!("completed"), &json!("completed"))
    );
    // The lane is free at once: there is no grace in which a run that has ended looks active.
    let again = started(&stage, &[spec(&stage, "c", "Build c.\n")]);
    assert_eq!(again["mode"], "runtime_start", "{again:#}");
    stage.ends(again["run_id"].as_str().unwrap(), "completed");
    stage.close();
}

#[test]
fn features_join_the_active_run_and_land_with_it_whatever_dies() {
    let stage = Stage::new(A_WAITS, "true");
    let bell = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.until(&run, "a builds", |d| feature(d, "a")["state"] == "building");
    end(stage.home.daemon().unwrap());
    let late = spec(&stage, "late", "Build late.\n");
    let answer = started(&stage, std::slice::from_ref(&late));
    end(stage.home.daemon().unwrap());
    assert_eq!(answer["mode"], "active_run_enrollment", "{answer:#}");
    assert_eq!((&answer["run_id"], &answer["enrolled"]), (&json!(run), &json!(["late"])));
    let again = started(&stage, std::slice::from_ref(&late));
    assert_eq!(again["run_id"], run.as_str());
    assert_eq!((&again["already_running"], &again["enrolled"]), (&json!(true), &json!([])));
    let other = launch(&stage.home, &[spec(&stage, "late", "Something else.\n")]);
    assert_eq!((other.code, &other.envelope()["error"]["code"]), (1, &json!("collision_detected")));
    let added = stage.home.events_of(&run, "features-added");
    assert_eq!(added.len(), 1, "{added:#?}");
    bell.ring();
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "late")["state"], "landed");
    assert!(stage.prompt("late", 1).contains("Build late."));
    assert_eq!(stage.on_target("late.txt").as_deref(), Some("late\n"));
    stage.close();
}

#[test]
fn launch_beside_a_launcher_is_refused_and_bad_items_are_named_by_index() {
    let stage = Stage::new(OWN_FILE, "true");
    let run = stage.home.script(&[], "mark a; await go");
    stage.home.pid("a");
    let refused = launch(&stage.home, &[spec(&stage, "a", "Build a.\n")]);
    assert_eq!(refused.envelope()["error"]["code"], "run_already_active", "{refused:?}");
    assert_eq!(refused.envelope()["error"]["details"]["run_id"], run.as_str());
    stage.home.go("go");
    stage.home.ended(&run);
    let ask = |features: Value| {
        let body = json!({ "cwd": stage.home.repo().root(), "features": features });
        post(&stage.home.path(), "/launches", &[], &body).unwrap().body["error"].clone()
    };
    assert_eq!(ask(json!([]))["code"], "invalid_input");
    let good = json!({ "feature_id": "a", "spec_path": "specs/a.md" });
    for bad in [
        json!({ "feature_id": "b" }),
        json!({ "spec_path": "specs/a.md" }),
        json!({ "feature_id": "../x", "spec_path": "specs/a.md" }),
        json!({ "feature_id": "b", "spec_path": "/etc/passwd" }),
        json!({ "feature_id": "b", "spec_path": "../out.md" }),
        json!({ "feature_id": "b", "spec_path": "specs/none.md" }),
    ] {
        let error = ask(json!([good, bad]));
        assert_eq!(error["code"], "invalid_input", "{bad}: {error:#}");
        assert_eq!(error["details"]["index"], 1, "{bad}: {error:#}");
    }
    assert_eq!(stage.home.data(&["list"])["runs"].as_array().unwrap().len(), 1);
    stage.close();
}

#[test]
fn background_work_of_a_lane_is_one_and_its_failure_is_kept() {
    let stage = Stage::with("exit 3", "true", &[("max_attempts = 3", "max_attempts = 1")]);
    let home = &stage.home;
    home.start_daemon();
    // The repository is known from here on, and its lane stands still.
    let first = home.submit(&[], &["true"]);
    home.ended(&first);
    home.run(&["pause", "--lane", "main"]).ends_with(0);
    let (a, b) = (spec(&stage, "a", "Build a.\n"), spec(&stage, "b", "Build b.\n"));
    let answer = started(&stage, std::slice::from_ref(&a));
    let run = answer["run_id"].as_str().unwrap();
    let status = home.data(&["daemon", "status"]);
    let active = &status["active_background_command"];
    assert_eq!((&active["command"], &active["run_id"]), (&json!("launch.submit"), &json!(run)));
    end(home.daemon().unwrap());
    let same = started(&stage, std::slice::from_ref(&a));
    assert_eq!((&same["run_id"], &same["already_running"]), (&json!(run), &json!(true)));
    let other = launch(home, &[b]);
    let error = other.envelope()["error"].clone();
    assert_eq!(error["code"], "runtime_busy", "{error:#}");
    let details = &error["details"];
    assert_eq!(
        (&details["active_command"], &details["active_feature_id"]),
        (&json!("launch.submit"), &json!("a"))
    );
    assert_eq!((&details["retryable"], &details["requires_human"]), (&json!(true), &json!(false)));
    let resumed = home.json(&["resume", "--feature", "b"]);
    assert_eq!(resumed.envelope()["error"]["code"], "runtime_busy", "{resumed:?}");
    home.run(&["resume", "--lane", "main"]).ends_with(0);
    stage.ends(run, "failed");
    let last = home.data(&["daemon", "status"])["last_background_error"].clone();
    assert_eq!((&last["command"], &last["feature_id"]), (&json!("launch.submit"), &json!("a")));
    assert_eq!(last["code"], "merge_disabled", "{last:#}");
    assert!(last["message"].is_string() && last["at"].is_string(), "{last:#}");
    let events = home.data(&["events", "--kind", "background-ended"]);
    assert_eq!(events["events"][0]["code"], "merge_disabled", "{events:#}");
    stage.close();
}

#[test]
fn feature_is_gone_on_with_in_its_run_or_in_one_of_its_own() {
    let stage = Stage::with(
        r#"if [ ! -e "$T/mended" ]; then exit 3; fi; echo "$feature" >"$feature.txt""#,
        "true",
        &[
            ("max_attempts = 3", "max_attempts = 1"),
            ("on_failure = \"stop\"", "on_failure = \"continue\""),
        ],
    );
    let home = &stage.home;
    let none = home.json(&["resume", "--feature", "a"]);
    assert_eq!(none.envelope()["error"]["code"], "not_found", "{none:?}");
    let old = stage.submit(&one_wave(&["a", "b"]));
    stage.ends(&old, "failed");
    std::fs::write(home.beside("mended"), "").unwrap();
    let answer = home.data(&["resume", "--feature", "a"]);
    assert_eq!(answer["handoff_target"], "runtime", "{answer:#}");
    let run = answer["run_id"].as_str().unwrap();
    assert_ne!(run, old);
    let document = stage.ends(run, "completed");
    assert_eq!(document["features"].as_array().unwrap().len(), 1, "only what was asked for");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    let landed = home.json(&["resume", "--feature", "a"]);
    assert_eq!(landed.envelope()["error"]["code"], "invalid_status_transition", "{landed:?}");
    std::fs::remove_file(home.beside("mended")).unwrap();
    // In a run that is under way the feature that failed is tried again there.
    stage.agent(
        r#"if [ "$feature" = hold ]; then read _ <"$T/go"; echo x >hold.txt; exit 0; fi
           if [ ! -e "$T/mended" ]; then exit 3; fi; echo "$feature" >"$feature.txt""#,
    );
    let bell = stage.bell("go");
    let run = stage.submit(&one_wave(&["hold", "c"]));
    stage.until_feature(&run, "c", "failed");
    std::fs::write(home.beside("mended"), "").unwrap();
    let answer = home.data(&["resume", "--feature", "c"]);
    assert_eq!((&answer["mode"], &answer["run_id"]), (&json!("active_run"), &json!(run)));
    bell.ring();
    stage.ends(&run, "completed");
    stage.close();
}
