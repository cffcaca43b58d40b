//! A wall clock that is wrong by a day, either way: nothing that is decided depends on it.

use serde_json::json;

use crate::harness::{Home, is_gone};

/// Where Debian's package `faketime` has its library.
const LIBRARIES: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];

#[test]
fn daemon_whose_wall_clock_is_a_day_off_decides_the_same() {
    let library = LIBRARIES.iter().find(|path| std::path::Path::new(path).exists());
    let Some(library) = library else {
        println!("skipped: the library of the package `faketime` is not installed");
        return;
    };
    let home = Home::new();
    let first = home.script(&[], "count starts; mark a; await go; exit 3");
    let launcher = home.pid("a");
    let behind: Vec<String> =
        (0..2).map(|n| home.script(&[], &format!("echo {n} >> $T/order"))).collect();
    let mut queue = behind;
    for (n, shift) in ["+1d", "-1d", "+1d"].iter().enumerate() {
        home.kill_daemon();
        let wrong = [
            ("LD_PRELOAD", *library),
            ("FAKETIME", *shift),
            ("DONT_FAKE_MONOTONIC", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let mut daemon = home.daemon_with(&wrong);
        let document = home
            .until(&first, "adopted", |_| home.events_of(&first, "daemon-adopted").len() == n + 1);
        assert_eq!(
            (&document["status"], &document["launcherPid"]),
            (&json!("running"), &json!(launcher))
        );
        assert_eq!(document["recoveryState"], "healthy");
        queue.push(home.script(&[], &format!("echo {} >> $T/order", n + 2)));
        let beside = home.script(&["--lane", "docks"], "mark beside; await never");
        home.run(&["wait", &beside, "--timeout", "100ms"]).ends_with(5);
        home.run(&["cancel", &beside, "--wait"]).ends_with(0);
        assert_eq!(home.events_of(&beside, "daemon-claimed").len(), 1);
        assert!(!is_gone(launcher) && !is_gone(daemon.pid()));
        home.run(&["daemon", "stop"]).ends_with(0);
        assert_eq!(daemon.code(), 0);
    }
    let days = |event: &serde_json::Value| event["recordedAt"].as_str().unwrap()[..10].to_owned();
    let adopted: Vec<String> = home.events_of(&first, "daemon-adopted").iter().map(days).collect();
    assert!(
        adopted[0] > adopted[1] && adopted[1] < adopted[2],
        "the clocks were right: {adopted:?}"
    );
    home.start_daemon();
    home.go("go");
    assert_eq!(home.ended(&first)["exitCode"], 3);
    for run in &queue {
        assert_eq!(home.ended(run)["status"], "completed");
    }
    let order = std::fs::read_to_string(home.beside("order")).unwrap();
    assert_eq!(
        order.lines().collect::<Vec<_>>(),
        ["0", "1", "2", "3", "4"],
        "the clock reordered it"
    );
    assert_eq!(home.lines("starts"), 1);
    home.close();
}
