//! Live progress of the demo, on standard error: a table that is painted again on a terminal, else a line for each change.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};

use tidegate_protocol::{FeatureDoc, RunDoc};

use crate::render::style;

/// Tells how the run goes.
#[derive(Debug)]
pub(super) struct Narrator {
    repaints: bool,
    painted: usize,
    told: BTreeMap<String, String>,
}

impl Narrator {
    /// For the standard error of this process.
    pub(super) fn new() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_none_or(|terminal| terminal == "dumb");
        let repaints = io::stderr().is_terminal() && set("NO_COLOR").is_none() && !dumb;
        Self { repaints, painted: 0, told: BTreeMap::new() }
    }

    /// Says one line.
    pub(super) fn say(&mut self, line: &str) {
        let mut text = self.erase();
        text.push_str(line);
        text.push('\n');
        write(&text);
    }

    /// Shows where the features are.
    pub(super) fn show(&mut self, run: &RunDoc) {
        if self.repaints {
            let mut text = self.erase();
            for feature in &run.features {
                text.push_str(&row(feature));
            }
            self.painted = run.features.len();
            write(&text);
            return;
        }
        for feature in &run.features {
            let line = words(feature);
            if self.told.get(&feature.id) != Some(&line) {
                write(&format!("  {:<8} {line}\n", feature.id));
                self.told.insert(feature.id.clone(), line);
            }
        }
    }

    /// What takes the table off the screen.
    fn erase(&mut self) -> String {
        let lines = std::mem::take(&mut self.painted);
        if lines == 0 { String::new() } else { format!("\x1b[{lines}A\x1b[J") }
    }
}

/// Nobody may be listening: that stops nothing.
fn write(text: &str) {
    let mut stream = io::stderr().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

fn words(feature: &FeatureDoc) -> String {
    let mut line = feature.state.clone();
    if feature.iteration > 1 && !feature.landed {
        line.push_str(" again, with the evidence of its gate");
    } else if feature.attempts > feature.iteration && !feature.landed {
        line.push_str(" again, after its agent was lost");
    }
    line
}

fn row(feature: &FeatureDoc) -> String {
    let colour = match feature.state.as_str() {
        "landed" => style::GOOD,
        "failed" | "blocked" | "cancelled" | "skipped" => style::BAD,
        "queued" => style::FAINT,
        _ => style::LIVE,
    };
    let step = feature.step.as_deref().unwrap_or_default();
    let step = if feature.landed { &feature.title } else { step };
    format!("  {colour}{:<8} {:<48}{colour:#} {step}\n", feature.id, words(feature))
}
