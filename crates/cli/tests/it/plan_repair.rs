//! Iterations and attempts: what a builder is told after a failure, and when it is given up.

use crate::plan_stage::{Stage, feature, one_wave};

#[test]
fn failed_gate_gives_its_evidence_to_the_next_builder() {
    let stage = Stage::new(
        r#"
case $prompt in
    *"water is too low"*) echo deep >a.txt ;;
    *) echo shallow >a.txt ;;
esac"#,
        "grep -q deep a.txt || { echo 'not ok: the water is too low'; exit 3; }",
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    let a = feature(&document, "a");
    assert_eq!((&a["iteration"], &a["attempts"]), (&2.into(), &2.into()));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("deep\n"));
    let first = stage.prompt("a", 1);
    let second = stage.prompt("a", 2);
    assert_eq!(first.trim_end(), "Do the work.");
    assert!(second.starts_with("Do the work."), "{second}");
    assert!(second.contains("not ok: the water is too low"), "{second}");
    assert!(second.contains("exit code 3"), "{second}");
    let failed = stage.home.events_of(&run, "gate-failed");
    assert_eq!(failed.len(), 1);
    // What did not pass is no parent of a landing of its own, but part of the branch's history.
    assert_eq!(stage.moments(&run, "landed", "a").len(), 1);
    stage.close();
}

#[test]
fn prompt_comes_by_stdin_by_file_and_by_argument() {
    let keep = |from: &str| format!("{from} >\"$T/got\"; echo x >a.txt");
    let cases = [
        (r#"prompt = "stdin""#, r#""exec sh \"$T/agent.sh\"""#, keep(r#"printf '%s\n' "$prompt""#)),
        (
            r#"prompt = "file""#,
            r#""exec sh \"$T/agent.sh\" \"$1\"", "sh", "{prompt_file}""#,
            keep(r#"cat "$1""#),
        ),
        (
            r#"prompt = "argv""#,
            r#""exec sh \"$T/agent.sh\" \"$1\"", "sh", "{prompt}""#,
            keep(r#"printf '%s\n' "$1""#),
        ),
    ];
    for (prompt, argv, agent) in cases {
        let stage = Stage::with(
            &agent,
            "true",
            &[(r#""exec sh \"$T/agent.sh\"""#, argv), (r#"prompt = "stdin""#, prompt)],
        );
        let told = "Mind the \\\"quotes\\\", $HOME and `ticks`.";
        let plan = one_wave(&["a"]).replace("Do the work.", told);
        let run = stage.submit(&plan);
        stage.ends(&run, "completed");
        let got = stage.home.appears("got");
        assert_eq!(got.trim_end(), "Mind the \"quotes\", $HOME and `ticks`.", "{prompt}");
        stage.close();
    }
}

#[test]
fn builder_without_a_change_fails_its_iterations() {
    let stage = Stage::new("true", "true");
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a; max_iterations = 2"]));
    let document = stage.ends(&run, "failed");
    let a = feature(&document, "a");
    assert_eq!((&a["state"], &a["iteration"]), (&"failed".into(), &2.into()));
    assert!(a["reason"].as_str().unwrap().contains("no_change"), "{a:#}");
    assert!(stage.prompt("a", 2).contains("without any change"), "{}", stage.prompt("a", 2));
    assert_eq!((stage.starts("a"), stage.tip()), (2, tip));
    stage.close();
}

#[test]
fn feature_that_may_change_nothing_lands_without_a_commit() {
    let stage = Stage::new("true", r#"echo "$TIDEGATE_COMMIT" >>"$T/checked""#);
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a; allow_no_change = true"]));
    let document = stage.ends(&run, "completed");
    let a = feature(&document, "a");
    assert_eq!((&a["landed"], &a["commit"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(stage.home.appears("checked").trim_end(), tip, "the gate runs on the base");
    assert_eq!(stage.tip(), tip);
    stage.close();
}

#[test]
fn refusal_of_the_commit_hook_is_evidence_and_is_repaired() {
    let stage = Stage::new(
        r#"
case $prompt in
    *"the hook wants a signature"*) echo signed >a.txt ;;
    *) echo plain >a.txt ;;
esac"#,
        "true",
    );
    let repo = stage.home.repo();
    let hook = "#!/bin/sh\ngit show :a.txt | grep -q signed || { echo 'the hook wants a signature' >&2; exit 1; }\n";
    repo.write(".git/hooks/pre-commit", hook);
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(repo.root().join(".git/hooks/pre-commit"))
        .status()
        .unwrap();
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("signed\n"));
    assert!(stage.home.events_of(&run, "gate-failed").is_empty());
    stage.close();
}

#[test]
fn commit_hook_sees_no_more_of_the_environment_than_an_agent() {
    let agent = "env | cut -d= -f1 | sort >\"$T/agents\"; echo new >a.txt";
    let stage = Stage::with(agent, "true", &[("pass = [\"T\"]", "pass = [\"T\", \"NPM_*\"]")]);
    let repo = stage.home.repo();
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\nenv >\"$T/hooks\"\n");
    let hook = repo.root().join(".git/hooks/pre-commit");
    assert!(std::process::Command::new("chmod").arg("+x").arg(&hook).status().unwrap().success());
    repo.write("plan.toml", &one_wave(&["a"]));
    let mut submit = stage.home.call(&["submit", "plan.toml", "--json"]);
    submit.envs([("SECRET_KEY", "hush"), ("NPM_CONFIG", "named"), ("GIT_AUTHOR_NAME", "Ada")]);
    let output = crate::harness::Output::new(format!("{submit:?}"), submit.output().unwrap());
    let output = output.ends_with(0);
    let run = output.data()["runId"].as_str().unwrap().to_owned();
    stage.ends(&run, "completed");
    let seen = std::fs::read_to_string(stage.home.beside("hooks")).unwrap();
    assert!(!seen.contains("hush"), "{seen}");
    assert!(seen.contains("NPM_CONFIG=named") && seen.contains("GIT_AUTHOR_NAME=Ada"), "{seen}");
    let agents = std::fs::read_to_string(stage.home.beside("agents")).unwrap();
    let of_git = |name: &str| {
        name.starts_with("GIT_") || name.starts_with("SSH_ASKPASS") || name == "LC_ALL"
    };
    let more = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
    let more: Vec<&str> =
        more.filter(|name| !of_git(name) && !agents.lines().any(|known| known == *name)).collect();
    assert_eq!(more, [""; 0], "{seen}");
    stage.close();
}

#[test]
fn builder_that_leaves_its_branch_is_told_and_repairs_it() {
    let stage = Stage::new(
        r#"
case $prompt in
    *"left the worktree"*) git checkout --quiet "tidegate/$TIDEGATE_RUN_ID/a"; echo back >a.txt ;;
    *) git checkout --quiet -b elsewhere; echo away >a.txt ;;
esac"#,
        "true",
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert!(stage.prompt("a", 2).contains("elsewhere"), "{}", stage.prompt("a", 2));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("back\n"));
    stage.close();
}

#[test]
fn builder_that_commits_by_itself_lands_its_own_commits() {
    let stage = Stage::new(
        r#"
for n in 1 2; do
    echo "$n" >"a$n.txt"; git add "a$n.txt"; git commit --quiet --message "step $n"
done
echo left >left.txt"#,
        "true",
    );
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let log = stage.home.repo().git(&["log", "--format=%s", "main"]);
    assert!(log.contains("step 1") && log.contains("step 2"), "{log}");
    assert_eq!(stage.on_target("left.txt").as_deref(), Some("left\n"), "leftovers are committed");
    let trailers = stage.home.repo().git(&[
        "log",
        "--format=%(trailers:key=Tidegate-Feature,valueonly)",
        "main",
    ]);
    assert!(trailers.lines().any(|line| line == "a"), "{trailers}");
    stage.close();
}

#[test]
fn agents_that_commit_alone_land_nothing_that_they_left_over() {
    let stage = Stage::with(
        r#"
case $prompt in
    *"without any change"*) echo 1 >one.txt; git add one.txt; git commit --quiet --message one ;;
esac
echo left >left.txt"#,
        "true",
        &[("on_failure = \"stop\"", "on_failure = \"stop\"\ncommit = \"agent\"")],
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert_eq!(stage.on_target("one.txt").as_deref(), Some("1\n"));
    assert_eq!(stage.on_target("left.txt"), None);
    let left = feature(&document, "a")["worktree"].as_str().unwrap().to_owned();
    assert!(std::path::Path::new(&left).join("left.txt").exists(), "it is not thrown away");
    stage.close();
}

#[test]
fn agent_that_fails_is_retried_up_to_its_bound_and_the_feature_fails() {
    let stage = Stage::new("exit 7", "true");
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "failed");
    let a = feature(&document, "a");
    assert_eq!((&a["iteration"], &a["attempts"]), (&1.into(), &3.into()));
    let reason = a["reason"].as_str().unwrap();
    assert!(reason.contains("exit code 7") && reason.contains('3'), "{reason}");
    assert!(document["detail"].as_str().unwrap().contains("exit code 7"), "{document:#}");
    assert_eq!(stage.starts("a"), 3);
    stage.close();
}

#[test]
fn agent_that_is_killed_goes_on_in_its_worktree_in_the_same_iteration() {
    let stage = Stage::new(
        r"
if [ -f half.txt ]; then cat half.txt >a.txt; exit 0; fi
echo half >half.txt
kill -9 $$",
        "true",
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    let a = feature(&document, "a");
    assert_eq!((&a["iteration"], &a["attempts"]), (&1.into(), &2.into()));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("half\n"));
    stage.close();
}

#[test]
fn gate_that_never_passes_fails_the_feature_with_its_word() {
    let stage = Stage::new(r"date +%s%N >>a.txt", "echo 'never good'; exit 1");
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a; max_iterations = 3"]));
    let document = stage.ends(&run, "failed");
    let a = feature(&document, "a");
    assert_eq!((&a["iteration"], stage.starts("a")), (&3.into(), 3));
    assert!(a["reason"].as_str().unwrap().contains("gate test failed"), "{a:#}");
    assert_eq!(a["evidence"][0]["passed"], false);
    let log = std::fs::read_to_string(a["evidence"][0]["logPath"].as_str().unwrap()).unwrap();
    assert_eq!(log, "never good\n");
    assert_eq!(stage.tip(), tip);
    stage.close();
}

#[test]
fn agent_over_its_time_is_ended_with_its_tree_and_counts_as_an_attempt() {
    let stage = Stage::with(
        r#"
if [ "$TIDEGATE_ATTEMPT" = 1 ]; then
    sh -c 'trap "" TERM; while :; do sleep 100; done' & wait
fi
echo x >a.txt"#,
        "true",
        &[("[limits]", "[limits]\nagent_timeout = \"2s\"\ngrace = \"100ms\"")],
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["attempts"], 2);
    let finished = stage.home.events_of(&run, "job-finished");
    assert!(finished.iter().any(|event| event.to_string().contains("timeout")), "{finished:#?}");
    assert_eq!(Stage::left(&run), Vec::<u32>::new());
    stage.close();
}

#[test]
fn gate_over_its_time_is_evidence() {
    let stage = Stage::with(
        r"
case $prompt in
    *timeout*) echo quick >a.txt ;;
    *) echo slow >a.txt ;;
esac",
        "! grep -q slow a.txt || exec sleep 100",
        &[("[limits]", "[limits]\ngate_timeout = \"2s\"\ngrace = \"100ms\"")],
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("quick\n"));
    stage.close();
}
