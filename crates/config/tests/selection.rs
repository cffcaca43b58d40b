//! Plans into core values, and the part of them that a run was asked for.

mod support;

use support::{CONFIG, bundle, corpus, resolved};
use tidegate_config::{Resolved, Selection, blob_id, check, resolve, resolve_after};

const PLAN: &str = r#"
gates = ["test"]
[[wave]]
name = "one"
[[wave.feature]]
id = "a"
prompt = "do a"
[[wave.feature]]
id = "b"
prompt = "do b"
needs = ["a"]
[[wave]]
number = 4
[[wave.feature]]
id = "c"
title = "The third"
prompt = "do c"
needs = ["b", "a", "b"]
[[wave]]
[[wave.feature]]
id = "d"
prompt = "do a"
needs = ["c"]
"#;

fn select(selection: &Selection) -> Result<Resolved, Vec<String>> {
    resolve(&bundle("plan.toml", PLAN.as_bytes(), CONFIG), selection)
        .map_err(|found| found.iter().map(ToString::to_string).collect())
}

fn waves(resolved: &Resolved) -> Vec<(u32, String, Vec<String>)> {
    let ids = |wave: &tidegate_core::plan::WaveSpec| {
        wave.features.iter().map(ToString::to_string).collect()
    };
    resolved.spec.waves.iter().map(|w| (w.number, w.name.clone(), ids(w))).collect()
}

#[test]
fn whole_plan_keeps_its_order_numbers_and_needs() {
    let got = resolved("plans/harbour.toml", PLAN, CONFIG);
    let expected: Vec<(u32, &str, &[&str])> =
        vec![(1, "one", &["a", "b"]), (4, "wave 4", &["c"]), (5, "wave 5", &["d"])];
    let found = waves(&got);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.0, found.1.as_str()), (expected.0, expected.1));
        assert_eq!(found.2, expected.2);
    }
    assert_eq!(got.spec.title, "harbour");
    assert_eq!(got.assumed, []);
    let needs: Vec<String> = got
        .spec
        .features
        .values()
        .map(|one| format!("{}<-{:?}", one.title, one.needs.len()))
        .collect();
    assert_eq!(needs, ["a<-0", "b<-1", "The third<-2", "d<-1"]);
    // Plan, config, and three different prompts; `a` and `d` share one.
    assert_eq!(got.blobs.len(), 5);
    assert!(got.blobs.iter().all(|(id, bytes)| *id == blob_id(bytes)));
    assert_eq!(got.spec.source, blob_id(PLAN.as_bytes()));
    assert_eq!(got.spec.config, Some(blob_id(CONFIG.as_bytes())));
}

#[test]
fn blob_id_is_the_sha_256_of_the_bytes() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(blob_id(b"").as_str(), empty);
}

#[test]
fn later_waves_alone_record_the_needs_that_they_assume() {
    let got = select(&Selection { start_wave: Some(4), ..Selection::default() });
    let got = got.unwrap_or_else(|found| panic!("{found:?}"));
    assert_eq!(waves(&got).iter().map(|wave| wave.0).collect::<Vec<_>>(), [4, 5]);
    let assumed: Vec<String> = got
        .assumed
        .iter()
        .map(|one| format!("{}<-{} of {}", one.feature, one.need, one.wave))
        .collect();
    assert_eq!(assumed, ["c<-b of 1", "c<-a of 1"]);
    let kept: Vec<usize> = got.spec.features.values().map(|one| one.needs.len()).collect();
    assert_eq!(kept, [0, 1]);
}

#[test]
fn selection_of_features_keeps_only_them() {
    let features = Some(vec!["c".to_owned()]);
    let got = select(&Selection { features, ..Selection::default() });
    assert_eq!(got.map(|got| waves(&got).len()), Ok(1));
    let features = Some(vec!["b".to_owned()]);
    let got = select(&Selection { features, ..Selection::default() });
    insta::assert_snapshot!(got.err().unwrap_or_default().join("\n"));
}

#[test]
fn selection_after_another_run_takes_what_landed_for_met() {
    let selection = Selection { features: Some(vec!["b".to_owned()]), ..Selection::default() };
    let bundle = bundle("plan.toml", PLAN.as_bytes(), CONFIG);
    let landed = resolved("plan.toml", PLAN, CONFIG).spec.waves[0].features[..1].to_vec();
    let got = resolve_after(&bundle, &selection, &landed);
    let assumed = got.map(|got| got.assumed.iter().map(|one| one.need.to_string()).collect());
    assert_eq!(assumed, Ok(vec!["a".to_owned()]));
}

#[test]
fn selection_of_what_is_not_there_is_refused() {
    let selection = Selection {
        start_wave: Some(2),
        end_wave: Some(9),
        features: Some(vec!["e".to_owned(), "a\u{1b}[0m".to_owned()]),
    };
    insta::assert_snapshot!(select(&selection).err().unwrap_or_default().join("\n"));
    let empty = Selection { start_wave: Some(5), end_wave: Some(4), features: None };
    insta::assert_snapshot!(select(&empty).err().unwrap_or_default().join("\n"));
}

#[test]
fn selection_does_not_hide_errors_elsewhere() {
    let plan = PLAN.replace("do a", " ");
    let last = Selection { start_wave: Some(4), end_wave: Some(4), features: None };
    let found = check(&bundle("plan.toml", plan.as_bytes(), CONFIG), &last);
    assert_eq!(found.iter().map(|one| one.code.as_str()).collect::<Vec<_>>(), ["no_prompt"; 2]);
}

#[test]
fn good_plans_of_the_corpus_give_their_prompts() {
    let read =
        |name: &str| std::fs::read_to_string(corpus(&format!("plans/{name}"))).unwrap_or_default();
    let toml = resolved("good.toml", &read("good.toml"), CONFIG);
    let text = |got: &Resolved, id: &str| {
        let feature = got.spec.features.iter().find(|(known, _)| known.as_str() == id);
        let blob = feature.map(|(_, one)| one.prompt.clone());
        let bytes = got.blobs.iter().find(|(known, _)| Some(known) == blob.as_ref());
        bytes.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    };
    assert_eq!(text(&toml, "board"), "Show the berths as a table.");
    assert!(text(&toml, "berths").starts_with("# Berths\n"));
    let markdown = resolved("good.md", &read("good.md"), CONFIG);
    insta::assert_snapshot!(text(&markdown, "board"));
    insta::assert_debug_snapshot!(markdown.spec.features);
    assert_eq!(waves(&markdown).iter().map(|wave| wave.0).collect::<Vec<_>>(), [1, 5]);
}
