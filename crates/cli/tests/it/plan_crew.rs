//! Agents in other roles than the builder's: planner, qa, reviewer, reconciler; and what a person says.

use crate::plan_stage::{Stage, feature, one_wave, waves};

/// The config's end with a role for each of these names, all of the same crew.
fn roles(names: &[&str]) -> String {
    let tables: Vec<String> =
        names.iter().map(|name| format!("[role.{name}]\nagent = \"scribe\"\n")).collect();
    format!("{}[gate.test]", tables.concat())
}

fn crew(agent: &str, names: &[&str]) -> Stage {
    Stage::with(agent, "true", &[("[gate.test]", &roles(names))])
}

#[test]
fn planner_qa_and_reviewer_work_in_their_order_and_the_change_lands() {
    let agent = r#"
echo "$TIDEGATE_ROLE" >>"$T/roles"
case $TIDEGATE_ROLE in
    planner) echo '{"summary":"adds a","create":["a.txt"],"criteria":["a is there"]}' >"$TIDEGATE_RESULT" ;;
    builder) echo built >a.txt ;;
    qa) echo checked >>a.txt ;;
    reviewer) echo '{"approved":true,"comments":"good"}' >"$TIDEGATE_RESULT" ;;
esac"#;
    let tables = roles(&["planner", "qa", "reviewer"]);
    let words = [("[gate.test]", tables.as_str()), ("policy = \"auto\"", "policy = \"agent\"")];
    let stage = Stage::with(agent, "true", &words);
    let run = stage.submit(&one_wave(&["a; roles = [\"planner\", \"builder\", \"qa\"]"]));
    stage.ends(&run, "completed");
    let order = std::fs::read_to_string(stage.home.beside("roles")).unwrap();
    assert_eq!(order, "planner\nbuilder\nqa\nreviewer\n");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("built\nchecked\n"));
    let planned = stage.home.events_of(&run, "planned");
    assert_eq!(planned[0]["planned"]["create"][0], "a.txt", "{planned:#?}");
    assert!(stage.home.events_of(&run, "approved")[0]["by"].as_str().unwrap().contains("reviewer"));
    stage.close();
}

#[test]
fn reviewer_that_refuses_sends_the_builder_back_with_its_words() {
    let agent = r#"
case $TIDEGATE_ROLE in
    builder) case $prompt in
        *"name it deep"*) echo deep >a.txt ;;
        *) echo shallow >a.txt ;;
    esac ;;
    reviewer) if grep -q deep a.txt
        then echo '{"approved":true}' >"$TIDEGATE_RESULT"
        else echo '{"approved":false,"comments":"name it deep"}' >"$TIDEGATE_RESULT"
    fi ;;
esac"#;
    let tables = roles(&["reviewer"]);
    let words = [("[gate.test]", tables.as_str()), ("policy = \"auto\"", "policy = \"agent\"")];
    let stage = Stage::with(agent, "true", &words);
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("deep\n"));
    stage.close();
}

#[test]
fn planner_that_says_nothing_usable_is_told_so() {
    let agent = r#"
case $TIDEGATE_ROLE-$TIDEGATE_ATTEMPT in
    planner-1) : ;;
    planner-*) echo '{"summary":"adds a"}' >"$TIDEGATE_RESULT" ;;
    *) echo built >a.txt ;;
esac"#;
    let stage = crew(agent, &["planner"]);
    let run = stage.submit(&one_wave(&["a; roles = [\"planner\", \"builder\"]"]));
    stage.ends(&run, "completed");
    let refused = stage.home.events_of(&run, "result-refused");
    assert_eq!(refused.len(), 1, "{refused:#?}");
    assert!(refused[0]["feedback"]["detail"].as_str().unwrap().contains("TIDEGATE_RESULT"));
    stage.close();
}

/// Two features of one wave that change the same line; the second one to land conflicts.
const SAME_LINE: &str = r#"
case $TIDEGATE_ROLE in
    builder) echo "$feature" >shared.txt ;;
    reconciler)
        grep -q '^<<<<<<<' shared.txt || exit 9
        if [ "$TIDEGATE_ATTEMPT" -gt "${LEAVE:-0}" ]; then printf 'a\nb\n' >shared.txt; fi ;;
esac"#;

#[test]
fn reconciler_resolves_a_conflict_and_both_changes_land() {
    let stage = crew(SAME_LINE, &["reconciler"]);
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("shared.txt").as_deref(), Some("a\nb\n"));
    assert_eq!(stage.home.events_of(&run, "conflict-found").len(), 1);
    assert_eq!(stage.home.events_of(&run, "landed").len(), 2);
    stage.close();
}

#[test]
fn markers_that_a_reconciler_leaves_never_land() {
    let agent = SAME_LINE.replace("${LEAVE:-0}", "1");
    let stage = crew(&agent, &["reconciler"]);
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.ends(&run, "completed");
    let refused = stage.home.events_of(&run, "result-refused");
    assert_eq!(refused.len(), 1, "{}", stage.story(&run));
    assert_eq!(stage.on_target("shared.txt").as_deref(), Some("a\nb\n"));
    for commit in stage.home.repo().git(&["rev-list", "--first-parent", "main"]).lines() {
        let text = stage.at(commit, "shared.txt").unwrap_or_default();
        assert!(!text.contains("<<<<<<<"), "{commit}: {text}");
    }
    stage.close();
}

#[test]
fn denied_commit_comes_back_as_its_builder_was_told() {
    let agent = r#"
case $prompt in
    *"name it deep"*) echo deep >a.txt ;;
    *) echo shallow >a.txt ;;
esac"#;
    let stage = Stage::with(agent, "true", &[("policy = \"auto\"", "policy = \"person\"")]);
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let commit = feature(&document, "a")["commit"].as_str().unwrap().to_owned();
    let deny = ["deny", &run, "--feature", "a", "--commit", &commit, "--message", "name it deep"];
    stage.home.run(&deny).ends_with(0);
    let document = stage.needs_person(&run);
    let second = feature(&document, "a")["commit"].as_str().unwrap().to_owned();
    assert_ne!(second, commit);
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", &second]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("deep\n"));
    stage.close();
}

#[test]
fn change_that_deletes_a_test_waits_for_a_person() {
    let stage = Stage::new("git rm --quiet tests/test_tide.py; echo x >a.txt", "true");
    let repo = stage.home.repo();
    repo.write("tests/test_tide.py", "def test_tide():\n    assert tide() == 3\n");
    repo.git(&["add", "tests"]);
    repo.git(&["commit", "--quiet", "--message", "a test"]);
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let asked = document["attention"][0]["message"].as_str().unwrap();
    assert!(asked.contains("deleted_test") && asked.contains("tests/test_tide.py"), "{asked}");
    assert_eq!(stage.tip(), tip);
    let commit = feature(&document, "a")["commit"].as_str().unwrap().to_owned();
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", &commit]).ends_with(0);
    stage.ends(&run, "completed");
    stage.close();
}

#[test]
fn stale_copy_that_takes_back_what_landed_waits_for_a_person() {
    // `b` waits until `a` has landed, and then writes the file as it was at its own base.
    let agent = r#"
case $feature in
    a) sed -i 's/low/high/' tide.txt ;;
    b) cp tide.txt "$T/stale"; read _ <"$T/landed"
       git merge --quiet main 2>/dev/null; cp "$T/stale" tide.txt; echo x >b.txt ;;
esac"#;
    let stage = Stage::new(agent, "true");
    let repo = stage.home.repo();
    repo.write("tide.txt", "one\ntide is low\nthree\n");
    repo.git(&["add", "tide.txt"]);
    repo.git(&["commit", "--quiet", "--message", "tide"]);
    let bell = stage.bell("landed");
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.until_feature(&run, "a", "landed");
    bell.ring();
    let document = stage.needs_person(&run);
    let b = feature(&document, "b");
    assert_eq!(b["blocked"]["reason"], "silent_revert", "{b:#}");
    assert_eq!(stage.on_target("tide.txt").as_deref(), Some("one\ntide is high\nthree\n"));
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn rebase_lands_the_branchs_commits_one_by_one_with_the_configs_message_unused() {
    let agent = r#"
for n in 1 2; do echo $n >>"$feature.txt"; git add .; git commit --quiet --message "$feature $n"; done"#;
    let stage = Stage::with(agent, "true", &[("strategy = \"merge\"", "strategy = \"rebase\"")]);
    let run = stage.submit(&waves(&[&["a"], &["b"]]));
    stage.ends(&run, "completed");
    let subjects = stage.home.repo().git(&["log", "--format=%s", "-4", "main"]);
    assert_eq!(subjects, "b 2\nb 1\na 2\na 1");
    assert_eq!(stage.home.repo().git(&["rev-list", "--merges", "--count", "main"]), "0");
    stage.close();
}
