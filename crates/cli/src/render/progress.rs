//! The progress of a plan run: a line for every feature that moved since it was last looked at.

use std::collections::BTreeMap;
use std::fmt::Write;

use tidegate_protocol::{FeatureDoc, RunDoc};

use super::age::age;
use super::style;
use crate::error::printable;

/// What was said already.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    said: BTreeMap<String, String>,
}

impl Progress {
    /// The lines that are new at this sight of the run.
    pub(crate) fn lines(&mut self, run: &RunDoc) -> Vec<String> {
        let faint = style::FAINT;
        let since = age(run.ages.submitted_ms);
        let mut lines = Vec::new();
        for feature in &run.features {
            let text = standing(feature);
            if self.said.get(&feature.id) == Some(&text) {
                continue;
            }
            // That everything waits at first goes without saying.
            if feature.state != "queued" || self.said.contains_key(&feature.id) {
                lines.push(format!("{faint}{since:>7}{faint:#} {}: {text}", feature.id));
            }
            self.said.insert(feature.id.clone(), text);
        }
        lines
    }
}

/// Where a feature stands, in a few words.
fn standing(feature: &FeatureDoc) -> String {
    let style = match feature.state.as_str() {
        "landed" => style::GOOD,
        "failed" => style::BAD,
        "blocked" => style::ATTENTION,
        _ => anstyle::Style::new(),
    };
    let mut text = format!("{style}{}{style:#}", feature.state);
    if let Some(step) = feature.step.as_ref().filter(|step| **step != feature.state) {
        let _ = write!(text, " ({step})");
    }
    if feature.iteration > 1 {
        let _ = write!(text, ", iteration {}", feature.iteration);
    }
    if feature.landed {
        let commit: String = feature.commit.iter().flat_map(|oid| oid.chars().take(10)).collect();
        let commit = if commit.is_empty() { "without a change".to_owned() } else { commit };
        let _ = write!(text, " {commit}");
    }
    let blocked = feature.blocked.as_ref();
    let why = blocked.map(|blocked| format!("{}: {}", blocked.reason, blocked.unblocks));
    if let Some(why) = why.or_else(|| feature.reason.clone()) {
        let _ = write!(text, ": {}", printable(&why));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    fn feature(state: &str, step: Option<&str>) -> FeatureDoc {
        FeatureDoc {
            id: "berths".into(),
            wave: 1,
            title: "Berths".into(),
            state: state.into(),
            step: step.map(str::to_owned),
            iteration: 2,
            attempts: 1,
            blocked: None,
            commit: Some("0123456789abcdef".into()),
            landed: state == "landed",
            base: None,
            worktree: None,
            branch: None,
            needs: Vec::new(),
            locks: Vec::new(),
            reason: None,
            cause: None,
            job_id: None,
            evidence: Vec::new(),
            waits_for: None,
            usage: None,
            said: None,
        }
    }

    #[test]
    fn progress_says_each_step_once() {
        let mut progress = Progress::default();
        let mut run = sample();
        let mut all = Vec::new();
        for (state, step) in [
            ("queued", None),
            ("building", Some("agent")),
            ("building", Some("agent")),
            ("verifying", Some("test")),
            ("landed", None),
        ] {
            run.features = vec![feature(state, step)];
            all.extend(progress.lines(&run));
        }
        let text = anstream::adapter::strip_str(&all.join("\n")).to_string();
        insta::assert_snapshot!(text, @r"
        1.5s berths: building (agent), iteration 2
        1.5s berths: verifying (test), iteration 2
        1.5s berths: landed, iteration 2 0123456789
        ");
    }
}
