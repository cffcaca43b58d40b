//! What happened lately, for the report of a failure. Costs nothing while it is off.

use std::collections::VecDeque;

/// Lines that are kept.
const LINES: usize = 400;

/// The newest lines.
#[derive(Debug, Default)]
pub(super) struct Trace {
    on: bool,
    lines: VecDeque<String>,
}

impl Trace {
    pub(super) fn new(on: bool) -> Self {
        Self { on, lines: VecDeque::new() }
    }

    pub(super) fn note(&mut self, now: u64, line: impl FnOnce() -> String) {
        if !self.on {
            return;
        }
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(format!("{now:>9} {}", line()));
    }

    pub(super) fn tail(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}
