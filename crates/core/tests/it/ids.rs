//! The grammar of names, and ids that sort.

use proptest::prelude::*;
use tidegate_core::ids::{
    AdhocId, BlobId, FeatureId, JobId, LaneName, NAME_BYTES_MAX, Oid, ProjectId, RunId, check_name,
};

use crate::fixture::config;

const HOSTILE: &[&str] = &[
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "/etc/passwd",
    "-rf",
    "--help",
    ".git",
    "a..b",
    "a.",
    "a.lock",
    "a.LOCK",
    "a b",
    "a\tb",
    "a\nb",
    "a\0b",
    "a\u{7f}",
    "\u{1b}[31m",
    "a:b",
    "a*",
    "a?",
    "a[0]",
    "a~1",
    "a^",
    "@{u}",
    "$(id)",
    "`id`",
    "a;b",
    "a|b",
    "a%2f",
    "é",
    "a\u{202e}b",
    "a\u{200b}",
    "%s",
    "{wave}",
];

#[test]
fn hostile_names_are_refused_by_every_identifier() {
    for text in HOSTILE {
        assert!(check_name("name", text).is_err(), "{text:?}");
        assert!(FeatureId::new(*text).is_err(), "{text:?}");
        assert!(LaneName::new(*text).is_err(), "{text:?}");
        assert!(ProjectId::new(*text).is_err(), "{text:?}");
        assert!(AdhocId::new(*text).is_err(), "{text:?}");
        assert!(RunId::new(*text).is_err(), "{text:?}");
        assert!(JobId::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn ordinary_names_are_accepted() {
    for text in ["a", "A9", "_x", "berths-2", "v1.2.3", "lock", "a.lock2", "0"] {
        assert_eq!(FeatureId::new(text).unwrap().as_str(), text);
    }
}

#[test]
fn name_at_the_limit_is_accepted_and_one_more_is_refused() {
    assert!(check_name("name", &"x".repeat(NAME_BYTES_MAX)).is_ok());
    assert!(check_name("name", &"x".repeat(NAME_BYTES_MAX + 1)).is_err());
}

#[test]
fn refusal_shows_no_control_character() {
    let told = check_name("lane", "a\u{1b}[2Jb").unwrap_err().to_string();
    assert!(told.chars().all(|c| !c.is_control()), "{told:?}");
}

#[test]
fn job_id_has_one_form() {
    let run = RunId::from_parts(1, 0);
    let id = JobId::new(run.clone(), 12);
    assert_eq!(JobId::parse(&id.to_string()).unwrap(), id);
    for tail in ["", "0", "012", "+1", "1-2", "4294967296", "x"] {
        assert!(JobId::parse(&format!("{run}-{tail}")).is_err(), "{tail:?}");
    }
}

#[test]
fn job_ids_sort_by_number_and_not_by_text() {
    let run = RunId::from_parts(1, 0);
    assert!(JobId::new(run.clone(), 9) < JobId::new(run, 10));
}

#[test]
fn run_id_prefixes_are_told_from_other_words() {
    let id = RunId::from_parts(77, 1234).to_string();
    assert!((1..=id.len()).all(|end| RunId::is_prefix(&id[..end])));
    for text in ["", "x", "r!", "rw", &format!("{id}0"), "R0"] {
        assert!(!RunId::is_prefix(text), "{text:?}");
    }
}

#[test]
fn object_ids_are_whole_and_lower_case() {
    assert!(Oid::new("a".repeat(40)).is_some() && Oid::new("0".repeat(64)).is_some());
    for text in ["a".repeat(39), "A".repeat(40), "g".repeat(40), "a".repeat(41), String::new()] {
        assert!(Oid::new(text.clone()).is_none() && BlobId::new(text).is_none());
    }
    assert!(BlobId::new("a".repeat(40)).is_none());
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn run_ids_sort_as_their_sequence_whatever_the_chance(
        a in 0..1_u64 << 30, b in 0..1_u64 << 30, x in any::<u64>(), y in any::<u64>(),
    ) {
        prop_assume!(a != b);
        let (first, second) = (RunId::from_parts(a, x), RunId::from_parts(b, y));
        prop_assert_eq!(first.as_str().cmp(second.as_str()), a.cmp(&b));
        prop_assert_eq!(RunId::new(first.to_string()).unwrap(), first);
    }

    #[test]
    fn accepted_names_are_one_plain_path_component(text in "\\PC{0,70}") {
        if check_name("name", &text).is_ok() {
            prop_assert!(text.is_ascii() && !text.is_empty() && text.len() <= NAME_BYTES_MAX);
            prop_assert!(!text.contains(['/', '\\', ':', ' ']) && !text.starts_with(['-', '.']));
        }
    }
}
