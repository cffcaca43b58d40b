//! Facts and refusals in a few words, for snapshots.

use tidegate_core::launcher::End;
use tidegate_core::run::{Event, Input, Run, step};

use crate::fixture::NOW;

/// What an input leads to: the facts, or why it was refused.
pub(crate) fn tell(run: &Run, input: &Input) -> Result<String, String> {
    match step(run, input, NOW) {
        Ok(next) if next.events.is_empty() => Ok("nothing".to_owned()),
        Ok(next) => {
            let words: Vec<String> = next.events.iter().map(words).collect();
            Ok(words.join(", "))
        }
        Err(refused) => Err(refused.to_string()),
    }
}

/// A fact by its kind and what matters most about it.
fn words(event: &Event) -> String {
    let kind = event.kind();
    match event {
        Event::JobCreated { job, purpose, attempt, .. } => {
            format!("{kind}({}, {} #{attempt})", job.number(), purpose.word())
        }
        Event::JobStopping { job, .. } => format!("{kind}({})", job.number()),
        Event::AttemptFailed { counted, .. } => format!("{kind}(counted: {counted})"),
        Event::IterationFailed { feature, feedback, .. } => {
            format!("{kind}({feature}: {})", feedback.describe())
        }
        Event::FeatureFailed { feature, reason } => format!("{kind}({feature}: {reason})"),
        Event::FeatureSkipped { feature, cause } => format!("{kind}({feature}, by {cause})"),
        Event::FeatureCancelled { feature, .. } | Event::FeatureRetried { feature, .. } => {
            format!("{kind}({feature})")
        }
        Event::Blocked { block, .. } => format!("{kind}({})", block.word()),
        Event::Landed { commit: None, .. } => format!("{kind}(without a change)"),
        Event::Resuming { wave } => format!("{kind}({wave})"),
        Event::AgentsAdopted { agents, .. } => format!("{kind}({})", agents.len()),
        Event::AgentExited { agent, end } => format!("{kind}({agent}: {:?})", end.disposition),
        Event::StatusReconciled { settled } | Event::FailedBeforeStatus { settled, .. } => {
            let end = match settled.end {
                End::Completed => "completed",
                End::Failed => "failed",
                End::Cancelled { .. } => "cancelled",
            };
            format!("{kind}({end}, code {:?}, wave {:?})", settled.code, settled.wave)
        }
        _ => kind.to_owned(),
    }
}

/// A state with everything that may happen in it: what is accepted, one a line, then what is
/// refused, by reason.
pub(crate) fn table(state: &str, run: &Run, inputs: &[(&str, Input)]) -> String {
    let mut lines = vec![state.to_owned()];
    let mut refused: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, input) in inputs {
        match tell(run, input) {
            Ok(facts) => lines.push(format!("  {name} → {facts}")),
            Err(why) => match refused.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(name),
                None => refused.push((why, vec![name])),
            },
        }
    }
    let refused = refused.iter();
    lines.extend(refused.map(|(why, names)| format!("  rejected, {why}: {}", names.join(", "))));
    lines.join("\n") + "\n"
}
