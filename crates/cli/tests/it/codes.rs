//! The ends of main processes as the kernel tells them: every exit code, every fatal signal, and
//! programs that cannot be executed.

use crate::harness::Home;

/// Runs side by side in one batch: each in a queue of its own.
const SIDE_BY_SIDE: usize = 16;

#[test]
fn every_exit_code_is_recorded_as_it_is() {
    let home = Home::new();
    home.start_daemon();
    let codes: Vec<u8> = (0..=255).collect();
    for batch in codes.chunks(SIDE_BY_SIDE) {
        let runs: Vec<(u8, String)> = std::thread::scope(|scope| {
            let submits: Vec<_> = batch
                .iter()
                .map(|code| {
                    let home = &home;
                    scope.spawn(move || {
                        let queue = format!("q{code}");
                        (
                            *code,
                            home.submit(
                                &["--adhoc-run", &queue],
                                &["sh", "-c", &format!("exit {code}")],
                            ),
                        )
                    })
                })
                .collect();
            submits.into_iter().map(|submit| submit.join().unwrap()).collect()
        });
        for (code, run) in runs {
            let document = home.ended(&run);
            assert_eq!(document["exitCode"], code, "{document}");
            let status = if code == 0 { "completed" } else { "failed" };
            assert_eq!(document["status"], status, "{code}");
            assert!(document["signal"].is_null(), "{code}");
        }
    }
    home.close();
}

#[test]
fn every_fatal_signal_is_told_and_is_no_exit_code() {
    let home = Home::new();
    // HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM
    // PROF IO PWR SYS and two real-time ones.
    let signals =
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 25, 26, 27, 29, 30, 31, 34, 64];
    // bash would ignore QUIT.
    let runs = signals.map(|signal| {
        let script = format!("ulimit -c 0; kill -{signal} $$; sleep 5");
        (signal, home.submit(&["--adhoc-run", &format!("s{signal}")], &["sh", "-c", &script]))
    });
    for (signal, run) in runs {
        let document = home.ended(&run);
        assert_eq!(document["signal"], signal, "{document}");
        assert!(document["exitCode"].is_null(), "{signal}");
        assert_eq!(document["status"], "failed");
        assert_eq!(document["terminalDisposition"], "launcher-lost-before-status");
    }
    home.close();
}

#[test]
fn program_that_cannot_be_executed_fails_with_its_reason_and_never_with_success() {
    let home = Home::new();
    home.repo().write("plain.txt", "not a program\n");
    home.repo().write("folder/file", "x");
    let bad = home.program("bad", "exit 0");
    std::fs::write(&bad, "#!/no/such/interpreter\n").unwrap();
    for (queue, program) in
        [("a", "nowhere-to-be-found"), ("b", "./plain.txt"), ("c", "./folder"), ("d", bad.as_str())]
    {
        let document = home.ended(&home.submit(&["--adhoc-run", queue], &[program, "--flag"]));
        assert_eq!(document["status"], "failed", "{program}");
        assert!(document["exitCode"].is_null(), "{program}: {document}");
        let detail = document["detail"].as_str().unwrap();
        assert!(detail.starts_with("exec_failed"), "{program}: {detail}");
    }
    home.close();
}
