//! What a worktree has beside the files of its commit, and what the programs in it are told.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::harness::until;
use crate::plan_stage::{Stage, feature, one_wave, waves};

fn with(keys: &str) -> String {
    format!("[worktree]\n{keys}\n[review]")
}

/// What the log says that a feature's worktree got.
fn furnished(stage: &Stage, run: &str) -> Value {
    let events = stage.home.events_of(run, "worktree-furnished");
    assert_eq!(events.len(), 1, "{}", stage.story(run));
    events[0]["furnished"].clone()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn ignored_files_that_the_list_names_are_copied_and_never_committed() {
    let agent = r#"
stat -c '%a %F' .env >"$T/stat"; cat .env sub/.env >"$T/copy"
echo changed >>.env; echo '!.env' >>.gitignore; git add --force .env; echo a >a.txt"#;
    let stage = Stage::new(agent, "true");
    let repo = stage.home.repo();
    repo.write(".gitignore", ".env\nbig.bin\nlink\n");
    repo.write(".worktreeinclude", ".env\nnotes.txt\nbig.bin\nlink\nREADME.md\n");
    repo.commit("ignore");
    repo.write(".env", "secret\n");
    fs::set_permissions(repo.root().join(".env"), PermissionsExt::from_mode(0o600)).unwrap();
    repo.write("sub/.env", "deeper\n");
    repo.write("notes.txt", "not ignored\n");
    fs::File::create(repo.root().join("big.bin")).unwrap().set_len(65 << 20).unwrap();
    symlink("/etc/passwd", repo.root().join("link")).unwrap();
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let told = furnished(&stage, &run);
    assert_eq!(told["included"], serde_json::json!([".env", "sub/.env"]), "{told:#}");
    let left: BTreeMap<&str, &str> = told["leftOut"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), one["why"].as_str().unwrap()))
        .collect();
    assert!(left["notes.txt"].contains("does not ignore it"), "{left:#?}");
    assert!(left["big.bin"].contains("64 MiB"), "{left:#?}");
    assert!(left["link"].contains("symbolic link"), "{left:#?}");
    assert_eq!(left.len(), 3);
    assert_eq!(stage.home.appears("stat"), "600 regular file\n");
    assert_eq!(stage.home.appears("copy"), "secret\ndeeper\n");
    assert_eq!(stage.on_target(".env"), None, "whatever the agent did to the ignore file");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(fs::read_to_string(repo.root().join(".env")).unwrap(), "secret\n", "a copy");
    assert_eq!(mode(&repo.root().join(".env")), 0o600);
    let explained = stage.home.run(&["explain", &run, "--feature", "a"]).ends_with(0).text();
    assert!(explained.contains("copied from your checkout: .env, sub/.env"), "{explained}");
    assert!(explained.contains("notes.txt: git does not ignore it"), "{explained}");
    stage.home.close();
}

#[test]
fn nothing_is_copied_where_the_config_says_so() {
    let words = with("include = false");
    let stage = Stage::with("test ! -e .env; echo a >a.txt", "true", &[("[review]", &words)]);
    let repo = stage.home.repo();
    repo.write(".gitignore", ".env\n");
    repo.write(".worktreeinclude", ".env\n");
    repo.commit("ignore");
    repo.write(".env", "secret\n");
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    stage.close();
}

#[test]
fn jobs_see_the_allow_list_and_what_is_theirs_and_no_more() {
    let hooks =
        with("setup = \"env >$T/env.setup\"\nports = 1\nteardown = \"env >$T/env.teardown\"");
    let agent = r#"env >"$T/env.agent"; echo a >a.txt"#;
    let stage = Stage::with(agent, "env >$T/env.gate", &[("[review]", &hooks)]);
    stage.home.repo().write("plan.toml", &one_wave(&["a"]));
    let mut submit = stage.home.call(&["--json", "submit", "plan.toml"]);
    submit.envs([
        ("GIT_DIR", "/nowhere"),
        ("GIT_INDEX_FILE", "/nowhere"),
        ("GIT_CONFIG_COUNT", "0"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("TIDEGATE_RUN_ID", "another"),
        ("TIDEGATE_TOKEN", "another"),
        ("CARGO_HOME", "/cargo"),
        ("LC_ALL", "C"),
    ]);
    let answer: Value = serde_json::from_slice(&submit.output().unwrap().stdout).unwrap();
    let run = answer["data"]["runId"].as_str().unwrap().to_owned();
    stage.ends(&run, "completed");
    let mut seen: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for who in ["setup", "agent", "gate", "teardown"] {
        let text = fs::read_to_string(stage.home.beside(&format!("env.{who}"))).unwrap();
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        seen.insert(who, pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).collect());
    }
    for (who, env) in &seen {
        let has = |name: &str| env.contains_key(name);
        for name in ["PATH", "HOME", "LANG", "LC_ALL", "CARGO_HOME", "T", "TIDEGATE_PORT"] {
            assert!(has(name), "{who} has no {name}: {env:#?}");
        }
        assert!(!env.keys().any(|name| name.starts_with("GIT_")), "{who}: {env:#?}");
        assert!(!has("AWS_SECRET_ACCESS_KEY"), "{who}");
        assert_eq!(env["TIDEGATE_RUN_ID"], run, "{who}");
        assert_eq!(env["TIDEGATE_FEATURE"], "a", "{who}");
        assert_eq!(has("TIDEGATE_TOKEN"), *who == "agent", "{who}");
        assert_eq!(has("TIDEGATE_SOCKET"), *who == "agent", "{who}");
        assert!(env.get("TIDEGATE_TOKEN").is_none_or(|token| token != "another"), "{who}");
    }
    assert_eq!(seen["agent"]["TIDEGATE_WORKTREE"], seen["setup"]["PWD"]);
    stage.close();
}

#[test]
fn each_living_feature_has_ports_of_its_own_and_gives_them_back() {
    let words = with("ports = 2\nport_range = \"21300-21303\"");
    let agent = r#"
echo "$TIDEGATE_PORT $TIDEGATE_PORT_1 $TIDEGATE_PORT_2" >"$T/ports.$feature"
if [ "$feature" != c ]; then read -r _ <"$T/go"; fi
echo "$feature" >"$feature.txt""#;
    let stage = Stage::with(agent, "true", &[("[review]", &words)]);
    let bell = stage.bell("go");
    let run = stage.submit(&waves(&[&["a", "b"], &["c"]]));
    let ports = |id: &str| -> Vec<u32> {
        let line = stage.home.appears(&format!("ports.{id}"));
        let numbers: Vec<u32> = line.split_whitespace().map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers[0], numbers[1]);
        numbers[1..].to_vec()
    };
    let (a, b) = (ports("a"), ports("b"));
    let mut all: Vec<u32> = a.iter().chain(&b).copied().collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4, "{a:?} {b:?}");
    assert!(all.iter().all(|port| (21300..=21303).contains(port)));
    stage.home.kill_daemon();
    stage.home.start_daemon();
    bell.ring();
    bell.ring();
    // The range is full: what the first wave had is the second's, although its run goes on.
    stage.ends(&run, "completed");
    assert!(ports("c").iter().all(|port| all.contains(port)));
    let told = stage.home.events_of(&run, "worktree-furnished");
    assert_eq!(told.len(), 3);
    until("the leases are given back", || {
        let left = fs::read_dir(stage.home.path().join("ports")).unwrap().count();
        (left == 0).then_some(())
    });
    stage.close();
}

#[test]
fn feature_without_a_free_port_is_blocked_and_says_why() {
    let stranger = std::net::TcpListener::bind("127.0.0.1:21311").unwrap();
    let words = with("ports = 2\nport_range = \"21310-21311\"");
    let stage = Stage::with("echo a >a.txt", "true", &[("[review]", &words)]);
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let blocked = &feature(&document, "a")["blocked"];
    assert_eq!(blocked["reason"], "resources", "{blocked:#}");
    assert!(blocked["detail"].as_str().unwrap().contains("21310-21311"), "{blocked:#}");
    drop(stranger);
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    stage.ends(&run, "completed");
    stage.close();
}

#[test]
fn sparse_checkout_of_the_user_is_that_of_the_worktree_and_gates_see_all() {
    let agent = r#"ls >"$T/seen"; echo "$feature" >"in/$feature.txt""#;
    let gate = "test -e out/o.txt; echo x >>cache/n; cp cache/n $T/runs";
    let words = [("run = \"sh check.sh\"", "run = \"sh check.sh\"\ncache = [\"cache\"]")];
    let stage = Stage::with(agent, gate, &words);
    let repo = stage.home.repo();
    repo.write("in/i.txt", "in\n");
    repo.write("out/o.txt", "out\n");
    repo.write("check.sh", &format!("mkdir -p cache; {gate}\n"));
    repo.commit("folders");
    repo.git(&["sparse-checkout", "set", "in"]);
    assert!(!repo.root().join("out").exists());
    let run = stage.submit(&waves(&[&["a"], &["b"]]));
    stage.ends(&run, "completed");
    let seen = stage.home.appears("seen");
    assert!(seen.contains("in\n") && !seen.contains("out\n"), "{seen}");
    assert_eq!(stage.on_target("out/o.txt").as_deref(), Some("out\n"), "nothing was deleted");
    assert!(!repo.root().join("out").exists(), "the user's checkout is as sparse as it was");
    assert_eq!(fs::read_to_string(repo.root().join("in/b.txt")).unwrap(), "b\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    stage.home.close();
}

#[test]
fn pointers_of_git_lfs_stay_pointers_and_are_named() {
    let stage = Stage::new("echo a >a.txt", "true");
    let repo = stage.home.repo();
    // No filter is defined: as on a machine where it was never installed.
    repo.write(".gitattributes", "*.psd filter=lfs diff=lfs merge=lfs -text\n");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    repo.write("art/logo.psd", pointer);
    repo.write("real.psd", "content\n");
    repo.commit("art");
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let told = furnished(&stage, &run);
    assert_eq!(told["pointers"], serde_json::json!(["art/logo.psd"]));
    assert_eq!(stage.on_target("art/logo.psd").as_deref(), Some(pointer));
    // Fetching is asked for, and there is nothing that could.
    let words = with("lfs = \"pull\"");
    stage.config(&[("[review]", &words)]);
    let run = stage.submit(&one_wave(&["b"]));
    let document = stage.needs_person(&run);
    let blocked = feature(&document, "b")["blocked"].to_string();
    assert!(blocked.contains("Git LFS could not be fetched"), "{blocked}");
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn submodules_stay_empty_where_the_config_says_so() {
    let words = [("[review]", &*with("submodules = \"off\"")), ("sh check.sh", "true")];
    let agent = r#"ls third/a | wc -l >"$T/count"; echo a >a.txt"#;
    let stage = Stage::on(crate::shapes::submodules, agent, &words);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.home.appears("count").trim(), "0");
    stage.close();
}

#[test]
fn submodule_whose_commit_the_user_does_not_have_needs_a_person() {
    let stage = Stage::on(crate::shapes::submodules, "echo a >a.txt", &[]);
    let repo = stage.home.repo();
    let missing = "1234567890123456789012345678901234567890";
    repo.git(&["update-index", "--cacheinfo", &format!("160000,{missing},third/b")]);
    repo.git(&["commit", "--quiet", "-m", "a commit that nobody has"]);
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let blocked = feature(&document, "a")["blocked"].to_string();
    assert!(blocked.contains("third/b is not ready"), "{blocked}");
    assert!(blocked.contains("git submodule update --init"), "{blocked}");
    assert_eq!(stage.starts("a"), 0);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.home.close();
}
