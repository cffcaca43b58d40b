//! Fail points that no scene comes to, each with the test that kills there or with why nobody can.

use std::collections::BTreeSet;
use std::path::Path;

/// Why a point is in no scene.
enum Why {
    /// This test kills there, and looks at what is left.
    Test(&'static str),
    /// No daemon and no shim comes to it.
    Never(&'static str),
    /// A scene comes to it in most runs, and is killed there then: why not in each.
    AtTimes(&'static str),
}

use Why::{AtTimes, Never, Test};

/// Every such point.
const ELSEWHERE: &[(&str, Why)] = &[
    ("daemon.log.before_rename", Test("log_whose_daemon_dies_while_it_is_set_aside_loses_no_line")),
    ("daemon.log.after_rename", Test("log_whose_daemon_dies_while_it_is_set_aside_loses_no_line")),
    (
        "conversing.before_input",
        Test("agent_hears_everything_once_although_a_daemon_dies_while_it_speaks"),
    ),
    (
        "conversing.after_input",
        Test("agent_hears_everything_once_although_a_daemon_dies_while_it_speaks"),
    ),
    (
        "daemon.takeover.before_kill",
        Test("replaced_daemon_that_takes_a_command_is_fenced_off_and_ends"),
    ),
    (
        "daemon.takeover.after_kill",
        Test("takeover_that_dies_once_the_old_daemon_is_dead_leaves_the_home_to_the_next"),
    ),
    (
        "git.forward.before_reclaim",
        Test("lock_of_a_dead_git_in_the_checkout_is_removed_although_its_remover_dies"),
    ),
    (
        "git.forward.after_reclaim",
        Test("lock_of_a_dead_git_in_the_checkout_is_removed_although_its_remover_dies"),
    ),
    (
        "git.remote.before_fetch",
        Test("rival_push_is_merged_upon_although_the_daemon_dies_while_it_fetches"),
    ),
    (
        "git.remote.after_fetch",
        Test("rival_push_is_merged_upon_although_the_daemon_dies_while_it_fetches"),
    ),
    (
        "git.restore.before_give_back",
        Test("restore_of_what_the_repository_lost_goes_on_after_its_daemon_died"),
    ),
    (
        "git.restore.after_give_back",
        Test("restore_of_what_the_repository_lost_goes_on_after_its_daemon_died"),
    ),
    (
        "git.vault.before_unlock",
        Test("lock_of_a_dead_git_among_the_snapshots_is_removed_although_its_remover_dies"),
    ),
    (
        "git.vault.after_unlock",
        Test("lock_of_a_dead_git_among_the_snapshots_is_removed_although_its_remover_dies"),
    ),
    ("input.before_append", Test("input_whose_shim_is_killed_is_kept_whole_or_not_at_all")),
    ("input.before_fsync", Test("input_whose_shim_is_killed_is_kept_whole_or_not_at_all")),
    ("input.after_fsync", Test("input_whose_shim_is_killed_is_kept_whole_or_not_at_all")),
    (
        "jobdir.before_withdraw",
        Test("job_that_is_withdrawn_by_a_daemon_that_dies_there_never_starts"),
    ),
    (
        "jobdir.after_withdraw",
        Test("job_that_is_withdrawn_by_a_daemon_that_dies_there_never_starts"),
    ),
    ("shim.before_refuse", Test("second_shim_of_a_job_that_dies_refusing_harms_nothing")),
    (
        "store.backup.before_rename",
        Test("backup_that_is_killed_anywhere_is_no_backup_or_a_whole_one"),
    ),
    (
        "store.backup.after_rename",
        Test("backup_that_is_killed_anywhere_is_no_backup_or_a_whole_one"),
    ),
    (
        "store.generation.before_commit",
        Test("generation_that_rises_while_its_daemon_dies_is_given_once"),
    ),
    (
        "store.generation.after_commit",
        Test("generation_that_rises_while_its_daemon_dies_is_given_once"),
    ),
    (
        "store.migrate.before_backup",
        Test("migration_that_is_killed_anywhere_is_done_whole_by_the_next_daemon"),
    ),
    (
        "store.migrate.after_backup",
        Test("migration_that_is_killed_anywhere_is_done_whole_by_the_next_daemon"),
    ),
    (
        "store.restore.after_mark",
        Test("restore_that_is_killed_anywhere_leaves_no_empty_store_and_can_be_begun_again"),
    ),
    (
        "store.restore.before_remove_log",
        Test("restore_that_is_killed_anywhere_leaves_no_empty_store_and_can_be_begun_again"),
    ),
    (
        "store.restore.before_rename",
        Test("restore_that_is_killed_anywhere_leaves_no_empty_store_and_can_be_begun_again"),
    ),
    (
        "store.restore.after_rename",
        Test("restore_that_is_killed_anywhere_leaves_no_empty_store_and_can_be_begun_again"),
    ),
    ("typing.before_input", Test("message_is_typed_once_although_its_daemon_dies_while_it_types")),
    ("typing.after_input", Test("message_is_typed_once_although_its_daemon_dies_while_it_types")),
    (
        "git.program.before_spawn",
        Never("the runner of tests of the git crate; a daemon's is `helper`"),
    ),
    (
        "git.program.after_spawn",
        Never("the runner of tests of the git crate; a daemon's is `helper`"),
    ),
    ("git.resolution.before_abandon", Never("no input of a run gives a resolution up so far")),
    ("shim.before_terminate", AtTimes("a cancel that comes before the job has begun withdraws it")),
    ("git.resolution.after_abandon", Never("no input of a run gives a resolution up so far")),
];

/// The points of the list.
///
/// # Panics
/// When one of them is none of `known`, or a test that is named does not exist or does not name the point.
pub(super) fn points(known: &BTreeSet<String>) -> BTreeSet<&'static str> {
    let mut texts = Vec::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut texts);
    for (point, why) in ELSEWHERE {
        assert!(known.contains(*point), "{point} is listed and is no fail point");
        match why {
            Test(name) => {
                let head = format!("fn {name}(");
                let names = |text: &&String| text.contains(&head) && text.contains(*point);
                assert!(texts.iter().any(|text| names(&text)), "{name} does not name {point}");
            }
            Never(why) | AtTimes(why) => assert!(!why.is_empty(), "{point}"),
        }
    }
    ELSEWHERE.iter().map(|(point, _)| *point).collect()
}

/// Whether no scene may come to a point of the list. One that a test kills at may be met in a scene, too.
pub(super) fn is_never(point: &str) -> bool {
    ELSEWHERE.iter().any(|(name, why)| *name == point && matches!(why, Never(_)))
}

/// The texts of all tests of the workspace.
fn read(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("src") {
            read(&path, texts);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with(file!()) {
            texts.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}
