//! The command line as clap sees it: its own checks, strict values, and the help that people read.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::ffi::OsString;
use std::fmt::Write;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::{Cli, in_one_line, wants_json};

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(std::iter::once("tidegate").chain(line.split_whitespace()))
}

fn refusal(line: &str) -> ErrorKind {
    match parse(line) {
        Ok(_) => panic!("`{line}` is accepted"),
        Err(error) => error.kind(),
    }
}

#[test]
fn command_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn lines_of_the_documents_are_accepted() {
    for line in [
        "init",
        "init --target develop",
        "run plan.toml",
        "run --ignore-attention -- sh -c x",
        "submit plan.md --start-wave 2 --end-wave 3 --feature a --feature b",
        "submit --project p --lane l --adhoc-run a --resume-limit 0 -- sh job.sh --json",
        "submit --start-wave 2 -- sh job.sh",
        "submit --auto-next --end-wave 4 -- sh job.sh",
        "list --status failed --project p --lane l --limit 5 --cursor 17",
        "status",
        "status r0000010000 --oneline",
        "status --wave 2 --agent docs --lane main --project p",
        "wait r1 --timeout 0 --exit-code --ignore-attention",
        "logs r1 -f --tail 20 --agent berths",
        "explain r1 --feature berths",
        "events r1 -f --kind submitted --after 7",
        "cancel r1 --wait --json",
        "retry r1 --feature berths",
        "ask which --choice a --choice b --wait --timeout 5m",
        "inbox --all --run r1",
        "inbox --done 1 --done 2",
        "answer r1-q1 text",
        "answer r1-q1 --choice 2",
        "send r1/berths text",
        "review r1/berths --stat",
        "approve r1/berths --token t",
        "deny berths -m text",
        "pause r1",
        "pause --lane docs --reason storm",
        "resume --all --lane docs",
        "hold r1 --release",
        "priority r1 -3",
        "submit --priority 7 plan.md",
        "lane list --json",
        "plan check plan.toml",
        "project list",
        "project move p /tmp",
        "project remove p",
        "daemon run --once",
        "daemon start --takeover",
        "daemon stop --drain",
        "daemon restart",
        "daemon status --json",
        "agent start --id a --role qa --wait -- sh x",
        "agent register --id a --pid 7 --log f --session s",
        "agent register --id a --remote",
        "agent heartbeat --id a --run-id r1",
        "agent exit --id a --code 3",
        "agent exit --id a --disposition terminated",
        "progress --wave 2 --phase building",
        "progress --phase building --run-id r1",
        "progress --finalized failed --exit-code 3",
        "config show --origin",
        "config trust",
        "doctor --verify",
        "doctor --audit",
        "doctor --restore",
        "doctor --quarantine stop r000001abcd-1",
        "completions bash",
        "man /tmp/x",
        "--home /tmp/h status",
        "status --home /tmp/h",
    ] {
        if let Err(error) = parse(line) {
            panic!("`{line}`: {error}");
        }
    }
}

#[test]
fn lines_that_cannot_be_meant_are_usage_errors() {
    for line in [
        "submit",
        "submit plan.toml -- sh x",
        "submit plan.toml --resume-limit 1",
        "submit --resume-limit -1 -- sh x",
        "submit --resume-limit 5abc -- sh x",
        "submit --start-wave two -- sh x",
        "submit --auto-next --start-wave 2 -- sh x",
        "submit --lane ../x -- sh x",
        "submit --lane= -- sh x",
        "submit --project a/b -- sh x",
        "submit --adhoc-run .hidden -- sh x",
        "submit --unknown -- sh x",
        "status r1 --wave 2",
        "status --agent a",
        "status ../../etc/passwd",
        "wait",
        "wait r1 --timeout 5abc",
        "wait r1 --timeout=",
        "wait r1 --timeout -1",
        "logs r1 --job j --agent a",
        "logs r1 --tail x",
        "events --feature a",
        "events -f --limit 5",
        "list --status done",
        "list --limit 0",
        "daemon",
        "daemon pause",
        "agent start --id a",
        "agent register",
        "agent register --id a --pid 0",
        "agent register --id a --pid 7 --remote",
        "agent exit --id a",
        "progress",
        "progress --exit-code 3 --wave 1",
        "progress --finalized maybe",
        "completions",
        "pause",
        "pause r1 --all",
        "pause --project p --all",
        "hold r1 --release --reason x",
        "priority r1 high",
        "--home= status",
    ] {
        let kind = refusal(line);
        assert!(!matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion), "{line}");
    }
}

#[test]
fn refused_value_names_its_flag() {
    for (line, flag) in [
        ("wait r1 --timeout 5abc", "--timeout"),
        ("submit --lane ../x -- sh x", "--lane"),
        ("agent register --id a/b", "--id"),
    ] {
        let text = parse(line).unwrap_err().to_string();
        assert!(text.contains(flag), "{text}");
    }
}

#[test]
fn refusal_in_one_line_keeps_the_names_of_arguments() {
    for (line, names) in [
        ("progress", &["--wave", "--phase", "--finalized"][..]),
        ("progress --run-id r1", &["--wave", "--phase", "--finalized"]),
        ("agent register", &["--id"]),
        ("wait", &["RUN"]),
        ("wait r1 --timeout 5abc", &["--timeout"]),
        ("wait r1 --tineout 5", &["--tineout", "--timeout"]),
    ] {
        let text = in_one_line(&parse(line).unwrap_err());
        assert!(names.iter().all(|name| text.contains(name)), "{line}: {text}");
        assert!(!text.contains("Usage") && !text.starts_with("error"), "{line}: {text}");
    }
}

#[test]
fn refusal_of_a_duration_says_what_one_looks_like() {
    insta::assert_snapshot!(parse("wait r1 --timeout 5abc").unwrap_err().to_string());
}

#[test]
fn json_counts_before_the_command_of_a_launcher_only() {
    let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    assert!(wants_json(&words("tidegate wait --json --timeout 5abc")));
    assert!(!wants_json(&words("tidegate submit -- job --json")));
}

#[test]
fn help_of_every_verb_reads_as_it_was_reviewed() {
    let mut command = Cli::command().term_width(100);
    command.build();
    let mut text = command.render_long_help().to_string();
    let names: Vec<String> = command
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .filter(|name| name != "help")
        .collect();
    for name in names {
        let verb = command.find_subcommand_mut(&name).unwrap();
        let _ = write!(text, "\n======== {name}\n{}", verb.render_long_help());
    }
    insta::assert_snapshot!(text);
}

#[test]
fn every_verb_that_people_use_has_examples() {
    for verb in Cli::command().get_subcommands() {
        let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(after.contains("Examples:"), "{}", verb.get_name());
    }
}
