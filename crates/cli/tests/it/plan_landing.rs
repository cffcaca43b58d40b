//! Landing: how a commit reaches the target, what sends it back, and what stops it.

use crate::plan_stage::{Stage, feature, one_wave, waves};

const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;

#[test]
fn merge_keeps_the_commits_of_the_branch_and_squash_makes_one() {
    for (strategy, parents, commits) in [("merge", 2, 3), ("squash", 1, 1)] {
        let words = [("strategy = \"merge\"", format!("strategy = \"{strategy}\""))];
        let words: Vec<(&str, &str)> = words.iter().map(|(a, b)| (*a, b.as_str())).collect();
        let agent = r"
echo 1 >one.txt; git add one.txt; git commit --quiet --message one
echo 2 >two.txt";
        let stage = Stage::with(agent, "true", &words);
        let before = stage.tip();
        let run = stage.submit(&one_wave(&["a; title = \"Ships at the quay\""]));
        let document = stage.ends(&run, "completed");
        let repo = stage.home.repo();
        assert_eq!(feature(&document, "a")["commit"], stage.tip().as_str());
        let line = repo.git(&["rev-list", "--parents", "-n", "1", "main"]);
        assert_eq!(line.split(' ').count(), 1 + parents, "{strategy}: {line}");
        assert_eq!(repo.git(&["rev-parse", "main^1"]), before);
        let range = format!("{before}..main");
        assert_eq!(repo.git(&["rev-list", "--count", &range]), commits.to_string(), "{strategy}");
        let body = repo.git(&["log", "-1", "--format=%B", "main"]);
        assert!(body.contains(&format!("Tidegate-Run: {run}")), "{body}");
        assert!(body.contains("Tidegate-Feature: a"), "{body}");
        assert_eq!(
            repo.git(&["log", "-1", "--format=%an <%ae>", "main"]),
            "harbour <harbour@example.org>"
        );
        stage.close();
    }
}

#[test]
fn features_that_break_each_other_are_found_on_the_merged_tree_and_repaired() {
    // Each is good alone; together they are two, which the gate does not take.
    let stage = Stage::new(
        r#"
case $prompt in
    *"merged with the target"*) ls ./*.pilot >"$T/seen.$feature"; rm "$feature.pilot"; echo "$feature" >"$feature.txt" ;;
    *) echo "$feature" >"$feature.pilot" ;;
esac"#,
        "[ \"$(ls ./*.pilot | wc -l)\" -le 1 ] || { echo 'two pilots on one ship'; exit 1; }",
    );
    let run = stage.submit(&one_wave(&["a", "b"]));
    let document = stage.ends(&run, "completed");
    let (a, b) = (feature(&document, "a"), feature(&document, "b"));
    let (first, second) = if a["iteration"] == 1 { (a, b) } else { (b, a) };
    assert_eq!((&first["iteration"], &second["iteration"]), (&1.into(), &2.into()));
    let (first, second) = (first["id"].as_str().unwrap(), second["id"].as_str().unwrap());
    let prompt = stage.prompt(second, 2);
    assert!(prompt.contains("two pilots on one ship"), "{prompt}");
    let seen = stage.home.appears(&format!("seen.{second}"));
    assert!(seen.contains(&format!("{first}.pilot")), "the target was merged in: {seen}");
    assert!(stage.on_target(&format!("{first}.pilot")).is_some());
    assert!(stage.on_target(&format!("{second}.txt")).is_some());
    assert!(stage.on_target(&format!("{second}.pilot")).is_none());
    stage.close();
}

#[test]
fn conflict_waits_for_a_person_who_resolves_it_and_retries() {
    let stage = Stage::new(r#"echo "$feature" >README.md"#, "true");
    let run = stage.submit(&one_wave(&["a", "b"]));
    let document = stage.needs_person(&run);
    let states = |id: &str| feature(&document, id)["state"].as_str().unwrap().to_owned();
    let (landed, blocked) = if states("a") == "landed" { ("a", "b") } else { ("b", "a") };
    assert_eq!((states(landed).as_str(), states(blocked).as_str()), ("landed", "blocked"));
    let doc = feature(&document, blocked);
    assert_eq!(doc["blocked"]["reason"], "conflict");
    assert_eq!(doc["blocked"]["paths"], serde_json::json!(["README.md"]));
    let attention = &document["attention"][0];
    assert_eq!(
        (&attention["reason"], &attention["feature"]),
        (&"conflict".into(), &blocked.into())
    );
    assert!(attention["unblocks"].as_str().unwrap().contains("retry"), "{attention}");
    assert_eq!(document["status"], "running");
    stage.clean();
    // The person merges in the feature's worktree, and lets the feature go on.
    let worktree = doc["worktree"].as_str().unwrap().to_owned();
    let repo = stage.home.repo();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(&worktree).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap()
    };
    assert!(!git(&["merge", "main"]).status.success(), "it conflicts");
    std::fs::write(format!("{worktree}/README.md"), "a and b\n").unwrap();
    assert!(git(&["commit", "--all", "--quiet", "--message", "both"]).status.success());
    stage.agent("true");
    stage.home.run(&["retry", &run, "--feature", blocked]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("README.md").as_deref(), Some("a and b\n"));
    repo.git(&["merge-base", "--is-ancestor", &format!("tidegate/{run}/{blocked}"), "main"]);
    stage.close();
}

#[test]
fn target_that_is_checked_out_nowhere_moves_and_the_checkout_stays() {
    let stage = Stage::new(OWN_FILE, "true");
    let repo = stage.home.repo();
    repo.git(&["checkout", "--quiet", "-b", "mine"]);
    repo.write("README.md", "work of mine\n");
    repo.write("new.txt", "untracked\n");
    let (mine, status) = (repo.git(&["rev-parse", "mine"]), repo.git(&["status", "--porcelain"]));
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), mine);
    assert_eq!(repo.git(&["status", "--porcelain"]), status);
    assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/mine");
    repo.git(&["fsck", "--no-dangling"]);
    stage.home.close();
}

#[test]
fn gate_speaks_of_the_commit_and_no_later_change_lands_with_it() {
    let stage = Stage::with(
        OWN_FILE,
        r#"echo "$TIDEGATE_COMMIT $(git rev-parse HEAD)" >"$T/at"; read -r _ <"$T/go""#,
        &[("merge_gates = [\"test\"]", "merge_gates = []")],
    );
    let bell = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    let at = stage.home.appears("at");
    let (tested, head) = at.trim().split_once(' ').unwrap();
    assert_eq!(tested, head, "the gate's checkout");
    let document = stage.home.status(&run);
    let worktree = feature(&document, "a")["worktree"].as_str().unwrap().to_owned();
    std::fs::write(format!("{worktree}/a.txt"), "changed later\n").unwrap();
    std::fs::write(format!("{worktree}/late.txt"), "late\n").unwrap();
    let mut git = std::process::Command::new("git");
    git.arg("-C").arg(&worktree).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
    git.args(["commit", "--all", "--quiet", "--message", "behind the gate's back"]);
    assert!(git.status().unwrap().success());
    bell.ring();
    // That somebody did so is named, and a person says whether what passed may land.
    let asked = stage.home.until(&run, "a question", |d| d["attention"][0]["reason"] == "review");
    let message = asked["attention"][0]["message"].as_str().unwrap();
    assert!(message.contains("commits_after_gate"), "{message}");
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", tested]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.on_target("late.txt"), None);
    assert_eq!(stage.home.repo().git(&["rev-parse", "main^2"]), tested);
    stage.close();
}

#[test]
fn cache_of_a_gate_is_kept_and_a_merge_gate_starts_without_it() {
    let stage = Stage::with(
        OWN_FILE,
        r#"mkdir -p target; echo x >>target/runs; echo "$(wc -l <target/runs)" >>"$T/counts"; touch waste; ls waste* | wc -l >>"$T/waste""#,
        &[("run = \"sh check.sh\"", "run = \"sh check.sh\"\ncache = [\"target\"]")],
    );
    let run = stage.submit(&waves(&[&["a"], &["b"]]));
    stage.ends(&run, "completed");
    let counts = std::fs::read_to_string(stage.home.beside("counts")).unwrap();
    let counts: Vec<&str> = counts.lines().collect();
    assert_eq!(counts, ["1", "1", "2", "1"], "branch, merge, branch with its cache, merge");
    stage.close();
}

#[test]
fn target_that_a_person_moves_meanwhile_keeps_his_commit() {
    let stage = Stage::new(
        OWN_FILE,
        r#"[ "$(git rev-list --count HEAD)" -gt 3 ] || exit 0; echo up >>"$T/up"; read -r _ <"$T/go""#,
    );
    let bell = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    // The merged tree is being checked: the person commits to the target.
    stage.home.appears("up");
    let repo = stage.home.repo();
    repo.write("person.txt", "person\n");
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "--message", "rival"]);
    let rival = stage.tip();
    bell.ring();
    bell.ring();
    stage.ends(&run, "completed");
    repo.git(&["merge-base", "--is-ancestor", &rival, "main"]);
    assert_eq!(stage.on_target("person.txt").as_deref(), Some("person\n"));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.moments(&run, "target-moved", "a").len(), 1);
    stage.close();
}

#[test]
fn target_that_is_gone_waits_for_a_person() {
    let stage = Stage::new(OWN_FILE, "read -r _ <\"$T/go\"");
    let bell = stage.bell("go");
    let repo = stage.home.repo();
    repo.git(&["checkout", "--quiet", "--detach"]);
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "verifying");
    repo.git(&["branch", "--quiet", "-D", "main"]);
    bell.ring();
    let document = stage.needs_person(&run);
    assert_eq!(feature(&document, "a")["blocked"]["reason"], "target_missing");
    repo.git(&["branch", "main", &tip]);
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    bell.ring();
    bell.ring();
    bell.ring();
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    stage.home.close();
}
