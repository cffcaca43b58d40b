//! What real shells complete: the words of the line, and the ids of a home without a daemon.

use std::process::Command;

use crate::harness::digest;
use crate::plan_stage::{Stage, one_wave};

/// What bash offers for the last of `words`, by the script of the product.
fn bash(stage: &Stage, words: &[&str]) -> Vec<String> {
    let script = stage.home.run(&["completions", "bash"]).ends_with(0).text();
    let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let last = words.last().unwrap();
    let ask = format!(
        "{script}\nCOMP_WORDS=({line}); COMP_CWORD={}; COMP_TYPE=9\n\
         _clap_complete_tidegate tidegate '{last}' ''\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.len() - 1
    );
    let mut shell = Command::new("bash");
    shell.args(["--norc", "--noprofile", "-c", &ask]);
    stage.home.place(&mut shell);
    let output = shell.output().unwrap();
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    assert_eq!(String::from_utf8_lossy(&said), "", "{text}");
    // One word with candidates comes apart at the separator of the script.
    let words = text.split(['\n', '\u{b}']).map(str::trim).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[test]
fn bash_completes_the_ids_of_a_home_without_a_daemon_and_without_a_write() {
    let stage = Stage::new("echo new >$TIDEGATE_FEATURE.txt", "true");
    let first = stage.submit(&one_wave(&["berths", "board"]));
    stage.ends(&first, "completed");
    let second = stage.submit(&one_wave(&["cranes"]));
    stage.ends(&second, "completed");
    stage.home.run(&["daemon", "stop"]).ends_with(0);
    let before = digest(&stage.home.path());
    let mut both = vec![first.clone(), second.clone()];
    both.sort();
    let mut offered = bash(&stage, &["tidegate", "status", ""]);
    offered.retain(|word| !word.starts_with('-'));
    offered.sort();
    assert_eq!(offered, both);
    assert_eq!(bash(&stage, &["tidegate", "status", &second[..8]]), [second.as_str()]);
    let features =
        |run: &str, begin: &str| bash(&stage, &["tidegate", "explain", run, "--feature", begin]);
    assert_eq!(features(&first, "b"), ["berths", "board"]);
    assert_eq!(features(&second, ""), ["cranes"]);
    assert_eq!(bash(&stage, &["tidegate", "list", "--lane", "m"]), ["main"]);
    let snapshots = bash(&stage, &["tidegate", "restore", &second, "--snapshot", ""]);
    assert!(snapshots.contains(&"1".to_owned()), "{snapshots:?}");
    assert_eq!(bash(&stage, &["tidegate", "expl"]), ["explain"]);
    let elsewhere = ["tidegate", "--home", "/nowhere", "status", "r0"];
    assert_eq!(bash(&stage, &elsewhere), [""; 0], "another home");
    assert_eq!(digest(&stage.home.path()), before, "completing wrote");
    assert_eq!(stage.home.data(&["daemon", "status"])["running"], false);
    stage.close();
}

#[test]
fn scripts_of_all_shells_ask_the_product() {
    let stage = Stage::new("true", "true");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stage.home.run(&["completions", shell]).ends_with(0).text();
        assert!(
            script.contains("TIDEGATE_COMPLETE") && script.contains(shell),
            "{shell}: {script}"
        );
    }
    stage.home.close();
}
