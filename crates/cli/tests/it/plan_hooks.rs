//! The hooks of a worktree: what runs before an agent, and after its feature.

use std::fs;

use crate::harness::{end, until};
use crate::plan_stage::{Stage, feature, one_wave};

const OWN_FILE: &str = r#"cp ready.txt "$T/saw.$feature"; echo "$feature" >"$feature.txt""#;

fn with(hooks: &str) -> String {
    format!("[worktree]\n{hooks}\n[review]")
}

#[test]
fn agent_finds_its_worktree_set_up_and_the_end_is_torn_down() {
    let hooks = with(
        r#"
setup = ["sh", "-c", "echo $TIDEGATE_HOOK $TIDEGATE_FEATURE >ready.txt; echo ready.txt >>.git-none; rm .git-none; echo up >>$T/ups"]
teardown = { run = "test $TIDEGATE_WORKTREE = $PWD; echo $TIDEGATE_FEATURE >>$T/downs", timeout = "20s" }
"#,
    );
    let stage = Stage::with(OWN_FILE, "test ! -e ready.txt", &[("[review]", &hooks)]);
    stage.home.repo().write(".git/info/exclude", "/tidegate.toml\n/plan.toml\nready.txt\n");
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.ends(&run, "completed");
    assert_eq!(fs::read_to_string(stage.home.beside("saw.a")).unwrap(), "setup a\n");
    assert_eq!(stage.home.lines("ups"), 2);
    assert_eq!(stage.home.lines("downs"), 2);
    let explained = stage.home.run(&["explain", &run, "--feature", "a"]).ends_with(0).text();
    assert!(explained.contains("setup ") && explained.contains("teardown "), "{explained}");
    stage.close();
}

#[test]
fn setup_that_fails_lets_no_agent_in_and_the_feature_fails_with_the_log_named() {
    let hooks = with(
        r#"setup = "echo half >half.txt; [ ! -e old ]; echo half >old; echo no such registry; exit 3""#,
    );
    let words = [("[review]", hooks.as_str()), ("max_attempts = 3", "max_attempts = 2")];
    let stage = Stage::with("echo a >a.txt", "true", &words);
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "failed");
    assert_eq!(stage.starts("a"), 0, "no agent was in a half-made worktree");
    let reason = feature(&document, "a")["reason"].as_str().unwrap();
    assert!(reason.contains("exit code 3 after 2 attempts"), "{reason}");
    let job = reason.split("log of job ").nth(1).unwrap().split(')').next().unwrap();
    let log = fs::read_to_string(stage.home.path().join("jobs").join(job).join("output.0"));
    // Each attempt had a worktree of its own: what the first left was not there.
    assert_eq!(log.unwrap(), "no such registry\n");
    stage.close();
}

#[test]
fn setup_is_run_once_although_daemon_and_agent_are_killed() {
    let hooks = with(r#"setup = "echo $$ >>$T/ups; : >$T/up; read -r _ <$T/go""#);
    let agent = r#"
if [ "$TIDEGATE_ATTEMPT" = 1 ]; then echo $$ >"$T/first"; read -r _ <"$T/never"; fi
echo a >a.txt"#;
    let stage = Stage::with(agent, "true", &[("[review]", &hooks)]);
    let (bell, _never) = (stage.bell("go"), stage.bell("never"));
    let run = stage.submit(&one_wave(&["a"]));
    until("the setup", || stage.home.beside("up").exists().then_some(()));
    stage.home.kill_daemon();
    stage.home.start_daemon();
    bell.ring();
    let agent = stage.home.pid("first");
    end(agent);
    stage.ends(&run, "completed");
    assert_eq!(stage.home.lines("ups"), 1);
    assert_eq!(stage.starts("a"), 2);
    stage.close();
}

#[test]
fn setup_that_was_killed_is_run_again_in_a_new_worktree() {
    let hooks = with(
        r#"setup = "echo $$ >>$T/ups; [ ! -e half.txt ]; : >half.txt; [ -e $T/once ] || { echo $$ >$T/once; read -r _ <$T/never; }""#,
    );
    let stage = Stage::with("rm half.txt; echo a >a.txt", "true", &[("[review]", &hooks)]);
    let _never = stage.bell("never");
    let run = stage.submit(&one_wave(&["a"]));
    let setup = stage.home.pid("once");
    end(setup);
    stage.ends(&run, "completed");
    assert_eq!(stage.home.lines("ups"), 2);
    assert_eq!(stage.on_target("half.txt"), None);
    stage.close();
}

#[test]
fn cancel_of_a_setup_tears_down_and_leaves_nothing() {
    let hooks = with(
        "setup = \"echo $$ >$T/up; read -r _ <$T/never\"\nteardown = \"echo down >>$T/downs\"",
    );
    let stage = Stage::with("echo a >a.txt", "true", &[("[review]", &hooks)]);
    let _never = stage.bell("never");
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.pid("up");
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.ends(&run, "cancelled");
    assert_eq!(stage.home.lines("downs"), 1);
    assert_eq!(Stage::left(&run), [0; 0]);
    assert_eq!(stage.starts("a"), 0);
    stage.close();
}

#[test]
fn gates_are_set_up_where_the_config_says_so() {
    let hooks = with("setup = [\"sh\", \"-c\", \"echo 'a b' >ready.txt\"]\nsetup_gates = true");
    let agent = r#"rm ready.txt; echo "$feature" >"$feature.txt""#;
    let stage = Stage::with(agent, "grep -q 'a b' ready.txt", &[("[review]", &hooks)]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    stage.close();
}

#[test]
fn hooks_are_those_that_were_pinned_and_trusted() {
    let hooks = with(r#"setup = "echo pinned >>$T/ups; read -r _ <$T/go""#);
    let stage = Stage::with("echo a >a.txt", "true", &[("[review]", &hooks)]);
    let bell = stage.bell("go");
    let path = stage.home.repo().root().join("tidegate.toml");
    let trusted = fs::read_to_string(&path).unwrap();
    // Between the trust and the submit, another hand changes what a hook does.
    fs::write(&path, trusted.replace("echo pinned", "echo evil")).unwrap();
    stage.home.repo().write("plan.toml", &one_wave(&["a"]));
    let refused = stage.home.json(&["submit", "plan.toml"]).ends_with(1);
    assert_eq!(refused.error(), "untrusted_config");
    assert!(!stage.home.beside("ups").exists());
    fs::write(&path, &trusted).unwrap();
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("ups");
    fs::write(&path, trusted.replace("echo pinned", "echo evil")).unwrap();
    stage.home.kill_daemon();
    bell.ring();
    stage.ends(&run, "completed");
    assert_eq!(fs::read_to_string(stage.home.beside("ups")).unwrap(), "pinned\n");
    stage.close();
}
