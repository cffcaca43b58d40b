//! What a process inside a job may do: its own run's verbs, and nothing that belongs to the user,
//! whatever it says of itself.

use serde_json::Value;

use crate::harness::Home;

/// The answer of a verb that a launcher called, by the name of its file.
fn answer(home: &Home, name: &str) -> Value {
    serde_json::from_str(&home.appears(name)).unwrap()
}

#[test]
fn launcher_may_not_touch_the_runs_of_others() {
    let home = Home::new();
    let other = home.script(&["--lane", "docks"], "mark other; await go");
    home.pid("other");
    let script = format!(
        "tidegate --json cancel {other} > $T/plain
         env -i PATH=\"$PATH\" HOME=\"$HOME\" TIDEGATE_HOME=\"$TIDEGATE_HOME\" \
             tidegate --json cancel {other} > $T/bare
         env -i PATH=\"$PATH\" HOME=\"$HOME\" TIDEGATE_HOME=\"$TIDEGATE_HOME\" \
             setsid tidegate --json cancel {other} > $T/session
         tidegate --json retry {other} > $T/retry
         tidegate --json submit -- true > $T/own-queue
         mark a; await go"
    );
    let run = home.script(&[], &script);
    home.pid("a");
    for name in ["plain", "bare", "session", "retry", "own-queue"] {
        let answer = answer(&home, name);
        assert_eq!(answer["error"]["code"], "forbidden_scope", "{name}: {answer}");
    }
    assert_eq!(home.status(&other)["status"], "running");
    assert!(home.events_of(&other, "cancel-requested").is_empty());
    home.go("go");
    home.ended(&run);
    home.ended(&other);
    home.close();
}

#[test]
fn launcher_may_submit_into_another_queue_and_cancel_its_own_children() {
    let home = Home::new();
    let run = home.script(
        &[],
        "tidegate --json submit --lane docks -- sh -c 'echo > $T/child; sleep 1000' > $T/submitted
         await child
         child=$(sed 's/.*\"runId\":\"\\([^\"]*\\)\".*/\\1/' $T/submitted)
         tidegate --json cancel $child > $T/cancelled
         tidegate --json status $TIDEGATE_RUN_ID > $T/own; mark a; await go",
    );
    home.pid("a");
    let child = answer(&home, "submitted")["data"]["runId"].as_str().unwrap().to_owned();
    assert_eq!(answer(&home, "cancelled")["ok"], true);
    assert_eq!(answer(&home, "own")["data"]["runId"], run.as_str());
    let document = home.ended(&child);
    assert_eq!(
        (&document["status"], &document["parentRunId"]),
        (&"cancelled".into(), &run.as_str().into())
    );
    home.go("go");
    assert_eq!(home.ended(&run)["status"], "completed");
    home.close();
}

#[test]
fn daemon_of_another_home_is_no_business_of_a_job() {
    let home = Home::new();
    let run = home.script(
        &[],
        "export TIDEGATE_HOME=$T/second; env -u TIDEGATE_JOB_DIR -u TIDEGATE_RUN_ID \
             tidegate daemon status > $T/status; echo $? > $T/code; mark a; await go",
    );
    home.pid("a");
    assert_eq!(home.appears("code").trim(), "0");
    assert!(home.appears("status").contains("not running"));
    home.go("go");
    home.ended(&run);
    home.close();
}
