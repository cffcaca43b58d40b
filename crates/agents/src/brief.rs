//! What an agent is told of its role: the same task reads differently to a planner and to a reviewer.

use std::fmt::Write as _;

use tidegate_core::plan::Role;
use tidegate_core::run::{Answer, Feedback, Message, PlannedChange};

use crate::prompt;

/// Everything that an agent's prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// What it works for.
    pub role: Role,
    /// The feature's task.
    pub task: &'a str,
    /// What the config says to this role beside it.
    pub own: Option<&'a str>,
    /// What the planner said.
    pub planned: Option<&'a PlannedChange>,
    /// The commit that the branch began at, once there is one.
    pub base: Option<&'a str>,
    /// Short name of the target branch.
    pub target: &'a str,
    /// The paths in conflict with the target.
    pub conflict: &'a [String],
    /// What the last attempt is told.
    pub feedback: Option<&'a Feedback>,
    /// The end of the output of the gate that failed.
    pub evidence: &'a str,
    /// What agents of the feature asked, and what people answered.
    pub answers: &'a [(&'a str, &'a Answer)],
    /// What people told the feature's agents, and none is known to have acted on.
    pub messages: &'a [&'a Message],
    /// How it stands to what an agent did here before.
    pub before: Before<'a>,
}

/// How a job stands to an earlier one for the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Before<'a> {
    /// There is none, or it has nothing to say.
    #[default]
    Nothing,
    /// The same conversation was broken off.
    Interrupted,
    /// Its conversation is not taken up again, for this reason.
    Superseded(&'a str),
}

impl Brief<'_> {
    /// The prompt.
    pub fn text(&self) -> String {
        let mut text = match self.before {
            Before::Nothing => String::new(),
            Before::Interrupted => format!("{INTERRUPTED}\n\n---\n"),
            Before::Superseded(why) => format!("{}\n\n---\n", SUPERSEDED.replace("{why}", why)),
        };
        text.push_str(&prompt::compose(self.task, self.feedback, self.evidence));
        let part = match self.role {
            Role::Planner => PLANNER.to_owned(),
            Role::Builder => self.planned.map(plan_of).unwrap_or_default(),
            Role::Qa => self.with_base(QA),
            Role::Reviewer => self.with_base(REVIEWER),
            Role::Reconciler => self.conflict_of(),
        };
        let people = self.of_people();
        for more in [part.as_str(), self.own.unwrap_or_default(), people.as_str()] {
            if !more.trim().is_empty() {
                let _ = write!(text, "\n---\n{}\n", more.trim());
            }
        }
        text
    }

    fn of_people(&self) -> String {
        let mut text = String::new();
        for (question, answer) in self.answers {
            let (question, said) = (question.trim(), answer.text.trim());
            let _ = writeln!(text, "You asked: {question}\n{} answered: {said}\n", answer.by);
        }
        for message in self.messages {
            let _ = writeln!(text, "{} tells you: {}\n", message.by, message.text.trim());
        }
        text
    }

    fn with_base(&self, what: &str) -> String {
        let base = self.base.unwrap_or("the commit that the branch began at");
        let mut text = what.replace("{base}", base);
        if let Some(planned) = self.planned {
            text.push_str("\n\n");
            text.push_str(&plan_of(planned));
        }
        text
    }

    fn conflict_of(&self) -> String {
        let mut text = format!(
            "The change of this branch and the branch `{}` conflict. The merge is under way in this \
             worktree, with conflict markers in these files:\n\n",
            self.target
        );
        for path in self.conflict {
            let _ = writeln!(text, "- {path}");
        }
        text.push_str(
            "\nResolve every conflict so that what both sides wanted holds. `git log --merge -p` \
             shows the commits of both sides. Leave no markers, change nothing else, and do not abort \
             the merge; what you leave is committed for you.",
        );
        text
    }
}

const INTERRUPTED: &str = "\
You were interrupted while you worked on this task. Check the state first: `git status` and `git diff` \
show what is done in this worktree, and a command that you had started may have run or not. Then go on \
where you were. The task, once more:";

const SUPERSEDED: &str = "\
Another agent worked on this task before you, and its conversation is not taken up again: {why}. What it \
did is in this worktree: look at `git status`, `git diff` and `git log` first, and go on from there.";

const PLANNER: &str = "\
You are the planner: change no file. Write one JSON object to the file that the environment variable \
TIDEGATE_RESULT names, with these keys, of which only `summary` must be there:

- summary: what will change, in a few sentences
- allowed, forbidden: globs of paths that may and that must not change
- create, modify, delete: the files themselves, where you know them
- contracts: names of interfaces that others rely on and that change
- criteria: what must hold afterwards, a sentence each
- gates: names of further gates that the change must pass";

const QA: &str = "\
You are qa: this change is built and has passed its gates. `git diff {base}` shows it. Look for what the \
gates do not see: missing cases, missing tests, behaviour beside the task. Mend what you find in this \
worktree. If there is nothing to mend, change nothing.";

const REVIEWER: &str = "\
You are the reviewer: change no file. The change is what `git diff {base}` shows; its gates have passed. \
Judge whether it does the task, the whole task and nothing else, and whether its tests would catch a \
mistake. Write one JSON object to the file that the environment variable TIDEGATE_RESULT names:

{\"approved\": true or false, \"comments\": \"what is to be changed, or why it is good\"}";

/// What a planner said, for those who work by it.
fn plan_of(planned: &PlannedChange) -> String {
    let mut text = format!("The plan of this change: {}\n", planned.summary.trim());
    let lists = [
        ("may change", &planned.allowed),
        ("must not change", &planned.forbidden),
        ("to create", &planned.create),
        ("to modify", &planned.modify),
        ("to delete", &planned.delete),
        ("contracts that change", &planned.contracts),
        ("must hold afterwards", &planned.criteria),
    ];
    for (what, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let _ = writeln!(text, "\n{what}:");
        for item in list {
            let _ = writeln!(text, "- {item}");
        }
    }
    text
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use tidegate_core::ids::FeatureId;
    use tidegate_core::run::Delivery;
    use tidegate_core::time::WallMs;

    use super::*;

    fn brief(role: Role) -> Brief<'static> {
        Brief {
            role,
            task: "Show the berths.",
            own: None,
            planned: None,
            base: Some("abc123"),
            target: "main",
            conflict: &[],
            feedback: None,
            evidence: "",
            answers: &[],
            messages: &[],
            before: Before::Nothing,
        }
    }

    #[test]
    fn who_was_interrupted_is_told_to_look_first_and_then_the_task() {
        let text = Brief { before: Before::Interrupted, ..brief(Role::Builder) }.text();
        assert!(text.starts_with("You were interrupted"), "{text}");
        assert!(text.ends_with("---\nShow the berths.\n"), "{text}");
        let before = Before::Superseded("its history is gone");
        let text = Brief { before, ..brief(Role::Builder) }.text();
        assert!(text.contains("not taken up again: its history is gone."), "{text}");
    }

    #[test]
    fn a_builder_without_a_plan_is_told_the_task_alone() {
        assert_eq!(brief(Role::Builder).text(), "Show the berths.\n");
    }

    #[test]
    fn every_other_role_is_told_its_part_and_what_the_config_adds() {
        for role in [Role::Planner, Role::Qa, Role::Reviewer, Role::Reconciler] {
            let text = Brief { own: Some("Mind the tide."), ..brief(role) }.text();
            assert!(text.starts_with("Show the berths.\n\n---\n"), "{text}");
            assert!(text.ends_with("\n---\nMind the tide.\n"), "{text}");
        }
        assert!(brief(Role::Reviewer).text().contains("git diff abc123"));
    }

    #[test]
    fn a_builder_works_by_the_plan_and_a_reconciler_by_the_paths() {
        let planned = PlannedChange {
            summary: "Adds a list".to_owned(),
            forbidden: vec!["src/tide.rs".to_owned()],
            ..PlannedChange::default()
        };
        let text = Brief { planned: Some(&planned), ..brief(Role::Builder) }.text();
        assert!(text.contains("must not change:\n- src/tide.rs\n"), "{text}");
        let paths = ["src/a.rs".to_owned()];
        let text = Brief { conflict: &paths, ..brief(Role::Reconciler) }.text();
        assert!(text.contains("- src/a.rs\n"), "{text}");
    }

    #[test]
    fn an_agent_is_told_answers_and_messages_last() {
        let at = WallMs(1);
        let answer = Answer { text: "By name.".into(), choice: None, by: "ann".into(), at };
        let message = Message {
            feature: FeatureId::new("berths").unwrap(),
            text: "Mind the tide.".into(),
            interrupts: false,
            by: "bo".into(),
            at,
            told: None,
            typed: None,
            delivery: Delivery::Queued,
        };
        let answers = [("By name or by number?", &answer)];
        let text =
            Brief { answers: &answers, messages: &[&message], ..brief(Role::Builder) }.text();
        let told = "\n---\nYou asked: By name or by number?\nann answered: By name.\n\n\
                    bo tells you: Mind the tide.\n";
        assert!(text.ends_with(told), "{text}");
    }
}
