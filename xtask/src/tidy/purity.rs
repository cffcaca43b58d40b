//! The core touches nothing: no clock, file, environment, thread, network, process, and no order by chance.

use super::Finding;
use super::source::Source;

const BANNED: [(&str, &str); 15] = [
    ("SystemTime", "no clock in the core"),
    ("Instant", "no clock in the core"),
    ("std::fs", "no file system in the core"),
    ("std::env", "no environment in the core"),
    ("env!", "no environment in the core"),
    ("std::thread", "no thread in the core"),
    ("thread_local!", "no thread in the core"),
    ("std::net", "no network in the core"),
    ("std::os", "no operating system in the core"),
    ("std::process", "no process in the core"),
    ("std::io", "no input or output in the core"),
    ("println!", "no output in the core"),
    ("RandomState", "nothing random in the core"),
    ("HashMap", "its order is random: BTreeMap in the core"),
    ("HashSet", "its order is random: BTreeSet in the core"),
];

/// What the core must not use, its unit tests included.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    if !source.is_in("crates/core/src") {
        return Vec::new();
    }
    BANNED
        .iter()
        .flat_map(|(word, why)| {
            source
                .uses(word)
                .into_iter()
                .map(move |line| Finding::new(&source.path, line, format!("`{word}`: {why}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, check};

    #[test]
    fn clock_in_the_core_is_found_and_elsewhere_not() {
        let text = "fn now() { std::time::SystemTime::now() } // SystemTime";
        let source = |path: &str| Source::new(Path::new(path), text.to_owned());
        assert_eq!(check(&source("crates/core/src/a.rs")).len(), 1);
        assert!(check(&source("crates/store/src/a.rs")).is_empty());
    }
}
