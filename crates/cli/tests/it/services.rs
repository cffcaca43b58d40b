//! The daemon as a service: what the service manager is told, the unit, and the daemon's log.

use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use crate::harness::{Fence, Home, signal, until};

/// What was told next, to a manager that waits for it.
fn told(manager: &UnixDatagram) -> String {
    let mut buffer = [0; 256];
    let count = manager.recv(&mut buffer).expect("nothing is told");
    String::from_utf8_lossy(&buffer[..count]).into_owned()
}

/// A service manager beside the home, and the path of its socket.
fn manager(home: &Home) -> (UnixDatagram, String) {
    let path = home.beside("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    (socket, path.display().to_string())
}

#[test]
fn service_manager_hears_of_a_daemon_when_it_answers_lives_and_stops() {
    let home = Home::new();
    let (manager, path) = manager(&home);
    let mut call = home.call(&["daemon", "run"]);
    call.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "60000");
    let mut daemon = Fence::start(call.stderr(Stdio::null()));
    let first = told(&manager);
    // It may hear that the engine works before it hears that all is ready.
    let ready = if first == "WATCHDOG=1\n" { told(&manager) } else { first };
    assert_eq!(ready, "READY=1\n");
    let run = home.script(&[], "env > \"$T/variables\"");
    assert_eq!(home.ended(&run)["status"], "completed");
    for _ in 0..3 {
        assert_eq!(told(&manager), "WATCHDOG=1\n");
    }
    signal(daemon.pid(), Signal::TERM);
    until("the word of its stop", || (told(&manager) == "STOPPING=1\n").then_some(()));
    assert_eq!(daemon.code(), 0);
    let variables = std::fs::read_to_string(home.beside("variables")).unwrap();
    assert!(!variables.contains("NOTIFY_SOCKET") && !variables.contains("WATCHDOG"), "{variables}");
    home.close();
}

#[test]
fn service_manager_whose_engine_hangs_hears_no_beat() {
    let home = Home::new();
    let (manager, path) = manager(&home);
    let daemon = home.daemon_with(&[("NOTIFY_SOCKET", path.as_str()), ("WATCHDOG_USEC", "90000")]);
    until("a beat", || (told(&manager) == "WATCHDOG=1\n").then_some(()));
    home.freeze_daemon();
    manager.set_nonblocking(true).unwrap();
    let mut buffer = [0; 64];
    while manager.recv(&mut buffer).is_ok() {}
    manager.set_nonblocking(false).unwrap();
    manager.set_read_timeout(Some(Duration::from_millis(400))).unwrap();
    assert!(manager.recv(&mut buffer).is_err(), "a stopped daemon told that it lives");
    signal(daemon.pid(), Signal::CONT);
    manager.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(told(&manager), "WATCHDOG=1\n");
    drop(daemon);
    home.close();
}

#[test]
fn daemon_beside_a_living_one_is_no_failed_service() {
    let home = Home::new();
    home.start_daemon();
    let (manager, path) = manager(&home);
    let mut second = home.call(&["daemon", "run"]);
    second.env("NOTIFY_SOCKET", &path).stdout(Stdio::null());
    assert_eq!(Fence::start(&mut second).code(), 0);
    let said = told(&manager);
    assert!(said.starts_with("READY=1\n") && said.ends_with("STOPPING=1\n"), "{said:?}");
    home.close();
}

#[test]
fn daemon_that_a_verb_of_a_service_starts_does_not_speak_for_it() {
    let home = Home::new();
    let (manager, path) = manager(&home);
    let mut start = home.call(&["daemon", "start"]);
    start.env("NOTIFY_SOCKET", &path).stdout(Stdio::null());
    assert_eq!(Fence::start(&mut start).code(), 0);
    home.run(&["daemon", "stop"]).ends_with(0);
    manager.set_nonblocking(true).unwrap();
    let mut buffer = [0; 64];
    assert!(manager.recv(&mut buffer).is_err(), "the daemon spoke for another service");
    home.close();
}

#[test]
fn unit_of_a_daemon_runs_this_program_and_spares_its_jobs() {
    let home = Home::new();
    let unit = home.run(&["daemon", "unit", "--print"]).ends_with(0).text();
    let start = format!("ExecStart=\"{}\" --home", env!("CARGO_BIN_EXE_tidegate"));
    assert!(unit.contains(&start), "{unit}");
    assert!(unit.contains(&format!("\"{}\" daemon run\n", home.path().display())), "{unit}");
    for line in ["Type=notify", "KillMode=process", "Restart=on-failure"] {
        assert!(unit.lines().any(|of| of == line), "{line} in {unit}");
    }
    assert_eq!(home.data(&["daemon", "unit"])["unit"], unit);
    assert!(!home.path().exists(), "printing made the home");
    home.close();
}

#[test]
fn full_log_of_the_daemon_is_set_aside_whole() {
    let home = Home::new();
    std::fs::create_dir(home.path()).unwrap();
    let line = "what an earlier daemon said\n";
    let full = line.repeat((8 << 20) / line.len() + 1);
    std::fs::write(home.path().join("daemon.log"), &full).unwrap();
    home.start_daemon();
    let aside = std::fs::read_to_string(home.path().join("daemon.log.1")).unwrap();
    assert!(aside == full, "the log that was set aside is another one");
    let new = until("the new log", || {
        let text = std::fs::read_to_string(home.path().join("daemon.log")).ok()?;
        text.contains("the daemon runs").then_some(text)
    });
    assert!(new.ends_with('\n'), "{new:?}");
    let checks = home.json(&["doctor"]).data()["checks"].clone();
    let log = checks.as_array().unwrap().iter().find(|check| check["name"] == "log").unwrap();
    assert_eq!(log["ok"], true, "{log}");
    home.close();
}
