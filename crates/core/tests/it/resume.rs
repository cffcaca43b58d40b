//! How a launcher learns its selection, at its start and at a resume.

use proptest::prelude::*;
use tidegate_core::launcher::{
    Journal, LauncherSpec, Selection, SelectionStyle, final_wave, resume_argv, start_argv,
};

use crate::fixture::{config, launcher_spec};
use crate::launcher_fixture::journal;

fn spec(argv: &str, start: Option<u32>, end: Option<u32>, auto_next: bool) -> LauncherSpec {
    LauncherSpec {
        argv: argv.split(' ').map(str::to_owned).collect(),
        selection: Selection { start_wave: start, end_wave: end, auto_next },
        style: SelectionStyle::Append,
        ..launcher_spec()
    }
}

#[test]
fn start_appends_what_was_selected() {
    let start = |start, end, auto| start_argv(&spec("wave -v", start, end, auto)).join(" ");
    assert_eq!(start(None, None, false), "wave -v");
    assert_eq!(start(Some(2), None, false), "wave -v --start-wave 2");
    assert_eq!(start(Some(2), Some(4), false), "wave -v --start-wave 2 --end-wave 4");
    assert_eq!(start(None, Some(4), true), "wave -v --auto-next --end-wave 4");
    assert_eq!(start(Some(2), None, true), "wave -v --start-wave 2 --auto-next");
}

#[test]
fn resume_states_the_selection_anew() {
    let resume =
        |argv, start, end, auto| resume_argv(&spec(argv, start, end, auto), "r0", 3).join(" ");
    let told = resume("wave -v", Some(1), Some(4), false);
    assert_eq!(told, "wave -v --start-wave 3 --end-wave 4 --resume-control-state");
    let told = resume("wave", Some(1), None, false);
    assert_eq!(told, "wave --start-wave 3 --resume-control-state");
    let told = resume("wave", Some(1), Some(4), true);
    assert_eq!(told, "wave --auto-next --end-wave 4 --resume-control-state");
}

#[test]
fn resume_takes_own_flags_out_of_the_argv_in_either_form() {
    let argv = "wave --start-wave 1 -x --end-wave=9 --auto-next --resume-control-state --keep=1 y";
    let told = resume_argv(&spec(argv, None, Some(4), false), "r0", 3).join(" ");
    assert_eq!(told, "wave -x --keep=1 y --auto-next --end-wave 4 --resume-control-state");
}

#[test]
fn resume_keeps_a_bound_that_only_the_argv_has() {
    let told = resume_argv(&spec("wave --start-wave=2 --end-wave 5", None, None, false), "r0", 3);
    assert_eq!(told.join(" "), "wave --start-wave 3 --end-wave 5 --resume-control-state");
}

#[test]
fn resume_takes_neither_the_program_nor_a_flag_for_a_value() {
    let told =
        resume_argv(&spec("--start-wave x --end-wave --verbose", None, None, false), "r0", 1);
    assert_eq!(told.join(" "), "--start-wave x --verbose --start-wave 1 --resume-control-state");
}

#[test]
fn resume_by_environment_leaves_the_argv_alone() {
    let mut plain = spec("sh job.sh --start-wave 7", Some(1), None, false);
    plain.style = SelectionStyle::EnvironmentOnly;
    assert_eq!(resume_argv(&plain, "r0", 3), plain.argv);
    assert_eq!(start_argv(&plain), plain.argv);
}

#[test]
fn resume_by_template_fills_it_in() {
    let mut own = spec("wave", Some(1), Some(4), false);
    let template = ["wave", "again", "{run}", "{wave}..{end_wave}"].map(str::to_owned).to_vec();
    own.style = SelectionStyle::ResumeArgv(template);
    assert_eq!(resume_argv(&own, "r0", 3).join(" "), "wave again r0 3..4");
    own.selection.end_wave = None;
    assert_eq!(resume_argv(&own, "r0", 3).join(" "), "wave again r0 3..");
}

#[test]
fn final_wave_follows_its_order_of_sources() {
    let both = Selection { start_wave: Some(1), end_wave: Some(3), auto_next: false };
    let wave = |journal: Option<Journal>, selection: &Selection, recorded| {
        final_wave(journal.as_ref(), selection, recorded)
    };
    assert_eq!(wave(Some(journal(2)), &both, Some(9)), Some(2), "the journal first");
    assert_eq!(wave(None, &both, Some(2)), Some(3), "then the selection's end");
    let backwards = Selection { start_wave: Some(4), ..both.clone() };
    assert_eq!(wave(None, &backwards, Some(2)), Some(2), "but not before its start");
    let auto = Selection { auto_next: true, ..both.clone() };
    assert_eq!(wave(None, &auto, Some(2)), Some(2), "nor when it is automatic");
    let no_start = Selection { start_wave: None, ..both.clone() };
    assert_eq!(wave(None, &no_start, Some(2)), Some(2), "nor without a start");
    let no_end = Selection { end_wave: None, ..both };
    assert_eq!(wave(None, &no_end, None), Some(1), "the start at last");
    assert_eq!(wave(None, &Selection::default(), None), None, "unknown stays unknown");
}

/// What an argv asks for: its bounds, and whether it is automatic.
fn asked(argv: &[String]) -> (Option<u32>, Option<u32>, bool) {
    let value = |flag: &str| {
        let inline = format!("{flag}=");
        argv.iter().enumerate().rev().find_map(|(n, part)| match part.strip_prefix(&inline) {
            Some(value) => value.parse().ok(),
            None if part == flag => argv.get(n + 1)?.parse().ok(),
            None => None,
        })
    };
    (value("--start-wave"), value("--end-wave"), argv.iter().any(|part| part == "--auto-next"))
}

fn part() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        (0..9_u32).prop_map(|n| vec!["--start-wave".to_owned(), n.to_string()]),
        (0..9_u32).prop_map(|n| vec![format!("--start-wave={n}")]),
        (0..9_u32).prop_map(|n| vec!["--end-wave".to_owned(), n.to_string()]),
        (0..9_u32).prop_map(|n| vec![format!("--end-wave={n}")]),
        Just(vec!["--auto-next".to_owned()]),
        Just(vec!["--resume-control-state".to_owned()]),
        "[a-z-]{1,6}(=[a-z]{0,3})?".prop_map(|text| vec![text]),
    ]
}

prop_compose! {
    fn any_spec()(
        parts in prop::collection::vec(part(), 0..6),
        start in prop::option::of(0..9_u32),
        end in prop::option::of(0..9_u32),
        auto in any::<bool>(),
    ) -> LauncherSpec {
        let argv: Vec<String> =
            std::iter::once("wave".to_owned()).chain(parts.into_iter().flatten()).collect();
        spec(&argv.join(" "), start, end, auto)
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn resume_never_widens_the_selection(spec in any_spec(), wave in 0..9_u32) {
        let (_, first_end, first_auto) = asked(&start_argv(&spec));
        let (start, end, auto) = asked(&resume_argv(&spec, "r0", wave));
        prop_assert_eq!(end, first_end);
        prop_assert_eq!(auto, first_auto);
        prop_assert_eq!(start, (!auto).then_some(wave));
    }

    #[test]
    fn resume_of_a_resume_is_the_same(spec in any_spec(), wave in 0..9_u32) {
        let once = resume_argv(&spec, "r0", wave);
        let again = LauncherSpec { argv: once.clone(), ..spec };
        prop_assert_eq!(resume_argv(&again, "r0", wave), once);
    }

    #[test]
    fn resume_keeps_every_other_word_in_its_order(spec in any_spec(), wave in 0..9_u32) {
        let resumed = resume_argv(&spec, "r0", wave);
        let mut rest = resumed.iter();
        let own = ["--start-wave", "--end-wave", "--auto-next", "--resume-control-state"];
        let words = spec.argv.iter().filter(|part| {
            let name = part.split('=').next().unwrap_or_default();
            !own.contains(&name) && part.parse::<u32>().is_err()
        });
        for word in words {
            prop_assert!(rest.any(|found| found == word), "{} is gone", word);
        }
    }
}
