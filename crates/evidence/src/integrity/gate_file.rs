//! What the gates run: scripts by path, targets of make and scripts of npm by name.

use std::collections::BTreeSet;

use super::change::GateCommand;

/// The words of all gates.
#[derive(Debug, Default)]
pub(super) struct Gates {
    words: BTreeSet<String>,
}

impl Gates {
    pub(super) fn of(gates: &[GateCommand]) -> Self {
        let apart = |letter: char| letter.is_whitespace() || ";&|()<>\"'=`".contains(letter);
        let words = gates.iter().flat_map(|gate| &gate.argv).flat_map(|word| word.split(apart));
        Self { words: words.filter(|word| !word.is_empty()).map(str::to_owned).collect() }
    }

    /// Whether a gate names this word.
    pub(super) fn name(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether a gate runs this file.
    pub(super) fn runs(&self, path: &str) -> bool {
        self.words.iter().any(|word| {
            let word = word.trim_start_matches("./").trim_start_matches("../");
            // `./check` stands in the gate's directory, `tests/` names a folder and runs no file.
            let is_path = word.contains('.') || word.contains('/') || word == path;
            is_path
                && !word.is_empty()
                && path
                    .strip_suffix(word)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{GateCommand, Gates};

    #[test]
    fn scripts_that_a_gate_names_are_known() {
        let argv = vec!["bash".into(), "-c".into(), "cd app && ./check.sh; tools/lint".into()];
        let gates = Gates::of(&[GateCommand { name: "t".into(), argv }]);
        assert!(gates.runs("app/check.sh") && gates.runs("tools/lint"));
        assert!(!gates.runs("app/precheck.sh") && !gates.runs("src/lint"));
    }
}
