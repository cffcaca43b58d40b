//! Shapes of size, through the pipeline. How long it takes is measured elsewhere.

use super::yards_place;
use crate::plan_stage::{Stage, one_wave};

const NO_CHECK: (&str, &str) = ("sh check.sh", "true");

#[test]
fn twenty_thousand_files_land_with_the_checkout_clean() {
    let agent = "echo a >d000/f00000.txt; git rm --quiet -r d001; mkdir new; echo a >new/a.txt";
    let stage = Stage::on(yards_place::many_files, agent, &[NO_CHECK]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("d000/f00000.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.home.repo().git(&["ls-files"]).lines().count(), 20_000 - 50 + 1);
    stage.clean();
    stage.home.close();
}

#[test]
fn huge_binary_with_its_versions_lands_whole() {
    const MIB: usize = 48;
    let make = |folder: &std::path::Path| yards_place::huge(folder, MIB);
    let stage = Stage::on(make, "git merge --quiet --ff-only work >&2; echo a >a.txt", &[NO_CHECK]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    // What three versions of the file would take is far above.
    let peak = peak_kib(stage.home.daemon().unwrap());
    assert!(peak < 64 * 1024, "the daemon once had {peak} KiB");
    let repo = stage.home.repo();
    assert_eq!(
        repo.git(&["rev-parse", "main:model.bin"]),
        repo.git(&["rev-parse", "work:model.bin"])
    );
    for verb in [&["status", &run][..], &["explain", &run], &["events", &run]] {
        stage.home.run(verb).ends_with(0);
    }
    stage.close();
}

/// The most memory that a process ever had, in KiB.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
