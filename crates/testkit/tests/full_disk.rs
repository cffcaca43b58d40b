//! The simulation with commits that find the disk full. Fail points are shared by all threads of a
//! process, so it is the only test of this one, and takes one world after the other.

use tidegate_testkit::sim::{Options, run};

/// Seeds that are run.
const SHARE: u64 = 150;

#[test]
fn worlds_whose_disk_fills_hold() {
    let options = Options { threads: 1, disk_may_fill: true, ..Options::default() };
    let report = run(0..SHARE, &options);
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.seen.met.get("a full disk").is_some_and(|times| *times > 25), "{report}");
}
