//! Where a target and its worktrees may lie, and who else works there.

use std::process::Command;

use crate::plan_stage::{Stage, feature, one_wave, waves};

const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;

fn git(folder: &std::path::Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

#[test]
fn target_in_a_linked_worktree_is_forwarded_there_when_that_is_clean() {
    let stage = Stage::new(OWN_FILE, "true");
    let repo = stage.home.repo();
    repo.git(&["checkout", "--quiet", "-b", "mine"]);
    let linked = stage.home.beside("linked");
    repo.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
    std::fs::write(linked.join("README.md"), "work of mine\n").unwrap();
    let run = stage.submit(&one_wave(&["a"]));
    let a = stage.until_feature(&run, "a", "blocked");
    assert_eq!(a["blocked"]["reason"], "target_dirty", "{a:#}");
    assert_eq!(git(&linked, &["status", "--porcelain"]), " M README.md");
    git(&linked, &["checkout", "--quiet", "README.md"]);
    stage.ends(&run, "completed");
    assert_eq!(std::fs::read_to_string(linked.join("a.txt")).unwrap(), "a\n");
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
    stage.close();
}

#[test]
fn worktree_that_its_agent_removed_is_made_again_for_the_next_iteration() {
    let stage = Stage::with(
        r#"
if [ "$TIDEGATE_ATTEMPT" = 1 ]; then rm -rf "$PWD"; exit 0; fi
echo x >a.txt"#,
        "true",
        &[],
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert!(stage.prompt("a", 2).contains("its worktree was removed"), "{}", stage.prompt("a", 2));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("x\n"));
    stage.close();
}

#[test]
fn runs_of_two_lanes_land_on_one_target_one_after_the_other() {
    let stage = Stage::new(
        r#"
case $feature in
    a) echo hello >"$T/to-b"; read -r _ <"$T/to-a" ;;
    b) read -r _ <"$T/to-b"; echo hello >"$T/to-a" ;;
esac
echo "$feature" >"$feature.txt""#,
        "true",
    );
    for name in ["to-a", "to-b"] {
        assert!(Command::new("mkfifo").arg(stage.home.beside(name)).status().unwrap().success());
    }
    let submit = |lane: &str, id: &str| {
        stage.home.repo().write("plan.toml", &one_wave(&[id]));
        let data = stage.home.data(&["submit", "plan.toml", "--lane", lane]);
        data["runId"].as_str().unwrap().to_owned()
    };
    // Each agent waits for the other: the lanes run together.
    let runs = [submit("main", "a"), submit("docks", "b")];
    for run in &runs {
        stage.ends(run, "completed");
    }
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.on_target("b.txt").as_deref(), Some("b\n"));
    stage.close();
}

#[test]
fn repository_below_the_working_directory_of_the_user_is_found_from_a_folder_of_it() {
    let stage = Stage::new(OWN_FILE, "true");
    let repo = stage.home.repo();
    repo.write("plan.toml", &one_wave(&["a"]));
    let folder = repo.root().join("deep/er");
    std::fs::create_dir_all(&folder).unwrap();
    let mut call = stage.home.call(&["--json", "submit", "../../plan.toml"]);
    let output = call.current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    stage.ends(answer["data"]["runId"].as_str().unwrap(), "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    stage.close();
}

#[test]
fn git_that_collects_garbage_meanwhile_loses_nothing() {
    let stage = Stage::new(
        r#"git -C "$T/harbour" gc --quiet --prune=now || true; echo "$feature" >"$feature.txt""#,
        r"git gc --quiet --prune=now || true",
    );
    let run = stage.submit(&waves(&[&["a", "b"], &["c"]]));
    stage.ends(&run, "completed");
    for id in ["a", "b", "c"] {
        assert_eq!(stage.on_target(&format!("{id}.txt")), Some(format!("{id}\n")));
    }
    stage.close();
}

#[test]
fn stop_of_the_daemon_lets_git_come_to_the_end_of_its_command() {
    let stage = Stage::new(OWN_FILE, "true");
    let hook = stage.home.repo().root().join(".git/hooks/pre-commit");
    let (begun, done) = (stage.home.beside("begun"), stage.home.beside("done"));
    let script = format!(
        "#!/bin/sh\n[ ! -e {begun} ] || exit 0\necho begun >{begun}\nsleep 0.5\necho done >{done}\n",
        begun = begun.display(),
        done = done.display()
    );
    std::fs::write(&hook, script).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&hook).status().unwrap().success());
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("begun");
    stage.home.run(&["daemon", "stop"]).ends_with(0);
    assert!(done.exists(), "the commit was cut off");
    stage.ends(&run, "completed");
    assert_eq!(stage.starts("a"), 1);
    stage.close();
}
