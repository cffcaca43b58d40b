//! What the end of a failed gate's output says, without what differs from run to run.
//!
//! Numbers, identifiers, places of checkouts, colours and the order of lines are left out, so that
//! two failures for one reason have one fingerprint. It must not know what the output is about.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Bytes of a fingerprint that are kept: enough to tell a handful of failures apart.
const BYTES: usize = 12;

/// The fingerprint of an output, written in `root`.
pub fn fingerprint(output: &str, root: &str) -> String {
    let mut lines = BTreeSet::new();
    for line in output.lines() {
        let line = plain(line);
        let line = if root.is_empty() { line } else { line.replace(root, "") };
        let line = steady(&line);
        if line.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            lines.insert(line);
        }
    }
    let mut hash = Sha256::new();
    for line in &lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    let mut text = String::with_capacity(2 * BYTES);
    for byte in hash.finalize().iter().take(BYTES) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A line without the sequences that colour it.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\u{1b}' {
            text.push(character);
        } else if rest.next_if_eq(&'[').is_some() {
            while rest.next().is_some_and(|next| !next.is_ascii_alphabetic()) {}
        }
    }
    text
}

/// A line whose words with a digit in them are all the same word: times, counts, addresses, ids.
fn steady(line: &str) -> String {
    let mut steady = String::with_capacity(line.len());
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = rest.find(|c| !of_word(c)).unwrap_or(rest.len());
        if end == 0 {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            steady.push_str(&rest[..first]);
            rest = &rest[first..];
            continue;
        }
        let (word, then) = rest.split_at(end);
        // A name with a number is a name; what begins with a digit, or is long and hexadecimal, is not.
        let number = word.starts_with(|c: char| c.is_ascii_digit())
            || (word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
        steady.push_str(if number { "#" } else { word });
        rest = then;
    }
    steady
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn outputs_of_one_failure_have_one_fingerprint() {
        let first = "running 3 tests in /home/a/branch-0\n\u{1b}[31mtest quay_2 FAILED\u{1b}[0m in 0.12s\n\
                     thread 4711 at 0x7ffe12ab\nid 9f8e7d6c5b4a\n";
        let second = "test quay_2 FAILED in 1.5s\nid 0011aabbccdd\nrunning 3 tests in /x/branch-7\n\
                      thread 9 at 0x11\n";
        let one = fingerprint(first, "/home/a/branch-0");
        assert_eq!(one, fingerprint(second, "/x/branch-7"));
        assert_ne!(one, fingerprint(&first.replace("quay_2", "quay_3"), "/home/a/branch-0"));
        assert_eq!(fingerprint("", ""), fingerprint("---\n12\n", "/x"));
    }
}
