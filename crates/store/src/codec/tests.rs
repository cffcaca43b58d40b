//! Every fact survives the way into the store and back, and nothing else is taken for one.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;
use tidegate_core::run::{Event, Subject};

use super::event::{KINDS, TALK_KINDS, TELLING_KINDS};
use super::{event_body, home_body, read_event, read_home_event, samples};

#[test]
fn every_fact_of_a_run_survives_the_way_there_and_back() {
    for event in samples::events() {
        let body = event_body(&event);
        let back =
            read_event(event.kind(), &body).unwrap_or_else(|error| panic!("{body}: {error}"));
        assert_eq!(back, event);
        assert_eq!(event_body(&back), body, "one form only");
    }
}

#[test]
fn samples_hold_every_kind_that_the_codec_knows() {
    // The codec's own list is complete: its match over the events has no wildcard.
    let known: BTreeSet<&str> =
        KINDS.iter().chain(TALK_KINDS).chain(TELLING_KINDS).copied().collect();
    let sampled: BTreeSet<&str> = samples::events().iter().map(Event::kind).collect();
    assert_eq!(sampled, known);
    let all = KINDS.len() + TALK_KINDS.len() + TELLING_KINDS.len();
    assert_eq!(known.len(), all, "no kind twice");
}

#[test]
fn every_fact_of_the_home_survives_the_way_there_and_back() {
    let sampled: BTreeSet<&str> =
        samples::home_events().iter().map(tidegate_core::home::HomeEvent::kind).collect();
    assert_eq!(sampled, super::HOME_KINDS.iter().copied().collect());
    for event in samples::home_events() {
        assert_eq!(read_home_event(event.kind(), &home_body(&event)).unwrap(), event);
    }
}

#[test]
fn fact_with_a_missing_an_extra_or_a_changed_part_is_refused() {
    for event in samples::events() {
        let Value::Object(body) = serde_json::from_str(&event_body(&event)).unwrap() else {
            panic!("a body is an object");
        };
        let refused = |body: &serde_json::Map<String, Value>| {
            let text = Value::Object(body.clone()).to_string();
            assert!(read_event(event.kind(), &text).is_err(), "{}: {text}", event.kind());
        };
        for key in body.keys() {
            let mut less = body.clone();
            less.remove(key);
            // A key that came later than the first bodies may be absent: that is a form of its own.
            let text = Value::Object(less.clone()).to_string();
            match read_event(event.kind(), &text) {
                Ok(read) => assert_eq!(event_body(&read), text, "{key} is not told by its absence"),
                Err(_) => refused(&less),
            }
            let mut other = body.clone();
            other.insert(key.clone(), serde_json::json!([{"odd": 1.5}]));
            refused(&other);
        }
        let mut more = body.clone();
        more.insert("surprise".into(), Value::Null);
        refused(&more);
    }
}

#[test]
fn unknown_words_kinds_and_versions_are_refused() {
    let refused = |kind: &str, body: &str| {
        read_event(kind, body).map(|event| event.kind()).unwrap_err().to_string()
    };
    assert_eq!(refused("run-mended", "{\"v\":1}"), "unknown kind \"run-mended\"");
    assert_eq!(refused("verified", "{\"v\":2,\"feature\":\"f\"}"), "v: unknown version 2");
    assert!(refused("verified", "{\"v\":1,\"feature\":\"../f\"}").starts_with("feature: "));
    assert!(refused("verified", "{\"v\":1").starts_with("is not JSON"));
    let block = "{\"v\":1,\"feature\":\"f\",\"block\":{\"reason\":\"mood\"}}";
    assert_eq!(refused("feature-blocked", block), "block: reason: unknown word \"mood\"");
}

#[test]
fn documented_fields_stand_at_the_top_of_the_bodies() {
    let documented = [
        ("submitted", &["project", "lane", "adhocRunId"][..]),
        ("daemon-claimed", &["supervisorId"]),
        ("daemon-adopted", &["supervisorId"]),
        ("launcher-started", &["launcherPid", "resumed"]),
        ("launcher-status-reconciled", &["exitCode", "source"]),
        ("agent-runtime-adopted", &["agentIds"]),
        ("failed-before-status", &["launcherPid"]),
    ];
    for (kind, keys) in documented {
        let event = samples::events().into_iter().find(|event| event.kind() == kind).unwrap();
        let body: Value = serde_json::from_str(&event_body(&event)).unwrap();
        for key in keys {
            assert!(body.get(key).is_some(), "{kind}: {key} in {body}");
        }
    }
}

#[test]
fn bodies_of_one_sample_per_kind_keep_their_form() {
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    for event in samples::events() {
        if seen.insert(event.kind()) {
            let of = match event.subject() {
                Subject::Run => "run",
                Subject::Feature(_) => "feature",
            };
            writeln!(text, "{} ({of}): {}", event.kind(), event_body(&event)).unwrap();
        }
    }
    insta::assert_snapshot!(text);
}
