//! Agents that take many seconds a run: driven by `cargo xtask agents`, and by nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::pinned::Pinned;

/// The cases of each agent, and what the table of the documentation says of them.
macro_rules! cases {
    ($($name:literal { $($case:ident: $note:literal,)* })*) => {
        pub(super) const SHOWN: &[(&str, &[(&str, &str)])] =
            &[$(($name, &[$((stringify!($case), $note)),*])),*];

        fn run(name: &str, case: &str) {
            match (name, case) {
                $($(($name, stringify!($case)) => super::$case(name),)*)*
                _ => panic!("{name} has no case {case}"),
            }
        }
    };
}

cases! {
    "opencode" {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "it sits a wait of seconds out, and tells nothing of it",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
    }
    "gemini" {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "it sits a wait of seconds out",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes; it shows its model the last result twice",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
    }
    "qwen" {
        edits_and_lands: "yes",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "it sits a wait of seconds out",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
    }
    "copilot" {
        edits_and_lands: "yes; it tells no tokens",
        rate_limited_then_lands: "yes",
        server_error_then_lands: "yes",
        usage_limit_parks_and_counts_no_attempt: "it sits a wait of seconds out",
        refused_login_asks_once: "yes",
        killed_in_mid_turn_goes_on_in_the_same_conversation: "yes",
        cancelled_in_a_tool_leaves_nothing_alive: "yes",
        asks_a_person_and_goes_on_with_the_answer: "yes, by a tool",
    }
}

/// Runs the cases of each agent that `TIDEGATE_SLOW_AGENTS` names has.
#[test]
fn slow_agents_do_what_the_table_says() {
    let named = std::env::var("TIDEGATE_SLOW_AGENTS").unwrap_or_default();
    let mut failed = Vec::new();
    assert!(SHOWN.iter().all(|(name, _)| super::pinned::is_pinned(name)));
    for name in named.split_whitespace() {
        if let Err(why) = Pinned::find(name) {
            failed.push(why);
            continue;
        }
        let shown = SHOWN.iter().find(|(known, _)| *known == name);
        for (case, _) in shown.map_or(&[][..], |(_, cases)| cases) {
            let at = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| run(name, case)));
            let word = if outcome.is_ok() { "ok" } else { "FAILED" };
            println!("{name} {case}: {word}, {:.1} s", at.elapsed().as_secs_f64());
            if outcome.is_err() {
                failed.push(format!("{name} {case}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
