//! What a model does, and what comes in between. The place in a script follows from the conversation
//! that is asked about, never from a count of requests: a conversation that is taken up again goes on
//! where it was.

use std::sync::Mutex;

use super::{Question, Trouble};

/// One thing that a model does.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// Has a file written.
    Write { path: &'static str, text: &'static str },
    /// Has a command run.
    Run(&'static str),
    /// Has a tool called that neither writes nor runs anything: the end of its name, and its input.
    Call { tool: &'static str, input: &'static str },
    /// Says something, which ends its turn, until the conversation holds a text: then the next act is due.
    Await { say: &'static str, until: &'static str },
    /// Says something, which ends its turn.
    Say(&'static str),
}

/// The acts in their order, and troubles that are met on the way.
pub(crate) struct Script {
    acts: Vec<Act>,
    troubles: Mutex<Vec<Met>>,
}

/// A trouble, where it is met, and how often.
struct Met {
    at: usize,
    trouble: Trouble,
    left: usize,
}

impl Script {
    /// A script of these acts; the last one is played for ever.
    pub(crate) fn new(acts: &[Act]) -> Self {
        assert!(!acts.is_empty());
        Self { acts: acts.to_vec(), troubles: Mutex::default() }
    }

    /// The same, with a trouble that is met `times` when the act of number `at` is due.
    pub(crate) fn but(self, at: usize, times: usize, trouble: Trouble) -> Self {
        self.troubles.lock().unwrap().push(Met { at, trouble, left: times });
        self
    }

    /// No trouble is met any more.
    pub(super) fn mend(&self) {
        self.troubles.lock().unwrap().clear();
    }

    /// The trouble that is met now, if one is.
    pub(super) fn trouble(&self, at: usize) -> Option<Trouble> {
        let mut troubles = self.troubles.lock().unwrap();
        let met = troubles.iter_mut().find(|met| met.at == at && met.left > 0)?;
        met.left -= 1;
        Some(met.trouble.clone())
    }

    /// The act that is due after the results of tools that a question holds.
    pub(super) fn act(&self, question: &Question) -> &Act {
        let mut left = question.results().len();
        for act in &self.acts {
            match act {
                Act::Await { until, .. } if question.holds(until) => {}
                Act::Await { .. } => return act,
                Act::Write { .. } | Act::Run(_) | Act::Call { .. } | Act::Say(_) => {
                    if left == 0 {
                        return act;
                    }
                    left -= 1;
                }
            }
        }
        &self.acts[self.acts.len() - 1]
    }
}
