//! What a launcher's files say of other runs, and of processes that are no agents: nothing.

use serde_json::Value;

use crate::harness::Home;

/// The answer of a verb that a launcher called, by the name of its file.
fn answer(home: &Home, name: &str) -> Value {
    serde_json::from_str(&home.appears(name)).unwrap()
}

#[test]
fn launcher_may_not_speak_for_the_run_of_another() {
    let home = Home::new();
    let other = home.script(&["--lane", "docks"], "mark other; await go");
    home.pid("other");
    let place = home.status(&other)["statePath"].as_str().unwrap().to_owned();
    let script = format!(
        "tidegate --json progress --run-id {other} --wave 9 > $T/progress
         echo $? > $T/code
         env -u TIDEGATE_RUN_ID -u TIDEGATE_JOB_DIR \
             tidegate --json progress --run-id {other} --wave 9 > $T/bare
         TIDEGATE_RUN_ID={other} TIDEGATE_JOB_DIR={place} \
             tidegate --json progress --wave 9 > $T/borrowed
         TIDEGATE_JOB_DIR={place} tidegate --json progress --wave 9 > $T/elsewhere
         tidegate --json agent register --run-id {other} --id x > $T/register
         tidegate --json agent heartbeat --run-id {other} --id x > $T/heartbeat
         tidegate --json agent exit --run-id {other} --id x --code 0 > $T/exit
         tidegate --json progress --run-id $TIDEGATE_RUN_ID --wave 2 > $T/own
         mark a; await go"
    );
    let run = home.script(&[], &script);
    home.pid("a");
    for name in ["progress", "bare", "borrowed", "elsewhere", "register", "heartbeat", "exit"] {
        let answer = answer(&home, name);
        assert_eq!(answer["error"]["code"], "forbidden_scope", "{name}: {answer}");
    }
    assert_eq!(home.appears("code").trim(), "1");
    assert_eq!(answer(&home, "own")["ok"], true);
    assert!(home.events_of(&other, "progress").is_empty());
    assert!(!std::path::Path::new(&place).join("agents/x.json").exists());
    // The user, outside of any job, may.
    assert_eq!(home.data(&["progress", "--run-id", &other, "--wave", "3"])["wave"], 3);
    home.go("go");
    home.ended(&run);
    home.ended(&other);
    home.close();
}

#[test]
fn shim_of_a_launcher_is_no_agent() {
    let home = Home::new();
    let run = home.script(
        &[],
        "tidegate --json agent register --id a --pid $PPID > $T/named; mark a; await go
         exec tidegate --json agent register --id b > $T/calling",
    );
    home.pid("a");
    let shim = home.status(&run)["shimIdentity"]["pid"].clone();
    let named = answer(&home, "named");
    assert_eq!(named["error"]["code"], "foreign_process", "{shim}: {named}");
    home.go("go");
    let calling = answer(&home, "calling");
    assert_eq!(calling["error"]["code"], "foreign_process", "{calling}");
    assert_eq!(home.ended(&run)["exitCode"], 1);
    home.close();
}
