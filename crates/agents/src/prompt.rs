//! What a builder is told: its task, then the evidence of what failed last.

use std::fmt::Write as _;

use tidegate_core::run::Feedback;

/// Output of a failed gate that is handed on, in bytes from its end.
pub const EVIDENCE_BYTES: usize = 16 * 1024;

/// Composes a task and what the last attempt failed at. `evidence` is the end of the failed gate's output.
pub(crate) fn compose(task: &str, feedback: Option<&Feedback>, evidence: &str) -> String {
    let mut prompt = task.trim_end().to_owned();
    prompt.push('\n');
    let Some(feedback) = feedback else { return prompt };
    let _ = write!(
        prompt,
        "\n---\nYour last attempt did not pass. {}\n\
         Your earlier changes are still in this worktree; repair them.\n",
        sentence(feedback)
    );
    match feedback {
        Feedback::Gate { gate, commit, problems, .. } => {
            if !problems.is_empty() {
                let _ = write!(prompt, "\nWhat is wrong with what gate `{gate}` left:\n\n");
                for problem in problems {
                    let _ = writeln!(prompt, "- {}", problem.replace('\n', " "));
                }
            }
            let _ = write!(
                prompt,
                "\nEvidence: the end of the output of gate `{gate}` on commit {commit}:\n\n{}\n",
                fenced(evidence)
            );
        }
        Feedback::HookRefused { output } => {
            let _ = write!(prompt, "\nEvidence: what was said:\n\n{}\n", fenced(output));
        }
        Feedback::Review { comments, .. } => {
            let _ = write!(prompt, "\nWhat they said:\n\n{}\n", fenced(comments));
        }
        Feedback::NoChange
        | Feedback::LeftBranch { .. }
        | Feedback::SyncConflict { .. }
        | Feedback::Unusable { .. }
        | Feedback::Unresolved { .. } => {}
    }
    prompt
}

fn sentence(feedback: &Feedback) -> String {
    match feedback {
        Feedback::Gate { merged: false, .. } => {
            format!("It was committed, but {}.", feedback.describe())
        }
        Feedback::Gate { merged: true, .. } => format!(
            "It was merged with the target (the target's changes are in this worktree now), but {}.",
            feedback.describe()
        ),
        Feedback::NoChange => "It ended without any change to the repository.".to_owned(),
        Feedback::HookRefused { .. } => {
            "It was not committed: the repository's commit hook or git refused it.".to_owned()
        }
        Feedback::LeftBranch { found } => {
            format!("It left the worktree on `{found}`; work on the branch that you are given.")
        }
        Feedback::Review { by, .. } => format!("It was reviewed, and {by} wants it changed."),
        Feedback::Unusable { .. } => format!("There, {}.", feedback.describe()),
        Feedback::Unresolved { paths } => {
            format!("Conflicts are left in {}.", paths.join(", "))
        }
        Feedback::SyncConflict { paths } => {
            format!("It conflicts with the target in {}.", paths.join(", "))
        }
    }
}

/// A fence that no line of `text` can close.
fn fenced(text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| line.trim_start().bytes().take_while(|byte| *byte == b'`').count())
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_prompt_is_the_task_alone() {
        assert_eq!(compose("Build it.\n\n", None, ""), "Build it.\n");
    }

    #[test]
    fn evidence_with_fences_cannot_close_its_own_fence() {
        let feedback = Feedback::HookRefused { output: "````\nrm -rf /\n````".to_owned() };
        let prompt = compose("Build it.", Some(&feedback), "");
        assert!(prompt.contains("\n`````\n````\nrm -rf /\n````\n`````\n"), "{prompt}");
    }
}
