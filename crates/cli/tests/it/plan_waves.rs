//! Waves, needs and slots: what runs when, and what runs together.

use crate::plan_stage::{Stage, feature, one_wave, waves};

#[test]
fn second_wave_starts_after_the_first_has_landed_and_builds_on_it() {
    let stage = Stage::new(
        r#"
case $feature in
    c) cat a.txt b.txt >c.txt ;;
    d) cat c.txt >d.txt ;;
    *) echo "$feature" >"$feature.txt" ;;
esac"#,
        "true",
    );
    // `e` needs nothing and still waits for the wave.
    let run = stage
        .submit(&waves(&[&["a", "b"], &["c; needs = [\"a\", \"b\"]", "d; needs = [\"c\"]", "e"]]));
    let document = stage.ends(&run, "completed");
    for id in ["a", "b", "c", "d", "e"] {
        let feature = feature(&document, id);
        assert_eq!((feature["state"].as_str(), &feature["iteration"]), (Some("landed"), &1.into()));
        let commit = feature["commit"].as_str().unwrap();
        stage.home.repo().git(&["merge-base", "--is-ancestor", commit, "main"]);
        assert_eq!(stage.starts(id), 1, "{id}");
    }
    let landed = |id: &str| stage.moments(&run, "landed", id)[0];
    let admitted = |id: &str| stage.moments(&run, "feature-admitted", id)[0];
    for (early, late) in
        [("a", "c"), ("b", "c"), ("a", "e"), ("b", "e"), ("a", "d"), ("b", "d"), ("c", "d")]
    {
        assert!(landed(early) < admitted(late), "{late} started before {early} had landed");
    }
    assert_eq!(stage.on_target("d.txt").as_deref(), Some("a\nb\n"));
    assert_eq!(document["activeWave"], 2);
    stage.close();
}

#[test]
fn features_of_a_wave_work_at_the_same_time() {
    // Each waits for the other one: without an overlap neither would ever end.
    let stage = Stage::new(
        r#"
case $feature in
    a) echo hello >"$T/to-b"; read -r word <"$T/to-a" ;;
    b) read -r word <"$T/to-b"; echo hello >"$T/to-a" ;;
esac
echo "$word" >"$feature.txt""#,
        "true",
    );
    for name in ["to-a", "to-b"] {
        let path = stage.home.beside(name);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("hello\n"));
    assert_eq!(stage.on_target("b.txt").as_deref(), Some("hello\n"));
    stage.close();
}

#[test]
fn features_beyond_the_slots_wait_for_one() {
    let stage = Stage::with(
        r#"echo up >"$T/up.$feature"; read -r _ <"$T/go"; echo "$feature" >"$feature.txt""#,
        "true",
        &[("[limits]", "[limits]\nactive_features = 1")],
    );
    let bell = stage.bell("go");
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.home.appears("up.a");
    let document = stage.home.status(&run);
    assert_eq!(feature(&document, "b")["state"], "queued");
    assert!(feature(&document, "b")["waitsFor"].is_string(), "{document:#}");
    bell.ring();
    bell.ring();
    stage.ends(&run, "completed");
    // A slot is free once the gates have passed: a landing holds none.
    let verified = stage.moments(&run, "verified", "a")[0];
    assert!(verified < stage.moments(&run, "feature-admitted", "b")[0]);
    stage.close();
}

#[test]
fn selection_of_waves_builds_on_what_earlier_runs_landed() {
    let stage = Stage::new(r#"echo "$feature" >"$feature.txt""#, "true");
    let plan = waves(&[&["a"], &["b; needs = [\"a\"]"]]);
    stage.home.repo().write("plan.toml", &plan);
    let submit = |flags: &[&str]| {
        let mut words = vec!["submit", "plan.toml"];
        words.extend(flags);
        stage.home.json(&words)
    };
    let early = submit(&["--start-wave", "2", "--end-wave", "2"]);
    assert_ne!(early.code, 0, "a need that has not landed: {early:?}");
    let first = submit(&["--start-wave", "1", "--end-wave", "1"]).ends_with(0).data();
    let document = stage.ends(first["runId"].as_str().unwrap(), "completed");
    assert_eq!(document["features"].as_array().unwrap().len(), 1);
    let second = submit(&["--start-wave", "2", "--end-wave", "2"]).ends_with(0).data();
    stage.ends(second["runId"].as_str().unwrap(), "completed");
    assert_eq!((stage.starts("a"), stage.starts("b")), (1, 1));
    stage.close();
}

#[test]
fn markdown_plan_with_specs_runs_as_the_toml_one() {
    let stage = Stage::new(r#"echo "$prompt" >"$feature.txt""#, "true");
    let repo = stage.home.repo();
    repo.write("specs/berths.md", "Show the berths.\n");
    let plan = waves(&[&["berths; spec = \"specs/berths.md\""]]);
    let run = stage.submit(&plan);
    stage.ends(&run, "completed");
    assert!(stage.on_target("berths.txt").unwrap().contains("Show the berths."));
    stage.close();
}
