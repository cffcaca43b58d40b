//! What a person decides about a run's turn: holding it, releasing it, and its priority.

use super::event::Event;
use super::input::Rejected;
use super::state::{Run, Status, Work};
use super::step::Draft;
use crate::pause::Pause;

impl Run {
    /// Whether admission may give it anything: it runs, nobody holds it or asked for its end.
    pub(crate) fn goes_on(&self) -> bool {
        self.hold.is_none() && matches!(self.status, Status::Running { cancel: None, .. })
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts about turns are handed here, by a match that lists them all"
    )]
    pub(super) fn apply_order(&mut self, event: &Event) {
        match event {
            Event::Held { pause } => self.hold = Some(pause.clone()),
            Event::Released { .. } => self.hold = None,
            Event::PriorityChanged { priority, .. } => self.priority = *priority,
            _ => {}
        }
    }
}

impl Draft {
    /// Keeps the run from beginning anything more. What runs goes on.
    pub(super) fn hold(&mut self, actor: &str, reason: Option<&str>) -> Result<(), Rejected> {
        match (&self.run.status, &self.run.work) {
            (Status::Running { cancel: Some(_), .. }, _) => {
                return Err(Rejected::NotWhile("it is being cancelled".to_owned()));
            }
            (Status::Pending, _) | (Status::Running { .. }, Work::Plan { .. }) => {}
            (Status::Running { .. }, Work::Launcher { .. }) => {
                let why = "its launcher runs: what a launcher begins is its own business";
                return Err(Rejected::NotWhile(why.to_owned()));
            }
            (
                Status::Completed { .. } | Status::Failed { .. } | Status::Cancelled { .. },
                Work::Plan { .. } | Work::Launcher { .. },
            ) => return Err(Rejected::NotWhile(self.run.status.word().to_owned())),
        }
        if self.run.hold.is_some() {
            return Err(Rejected::Already("held"));
        }
        let reason = reason.map(str::to_owned);
        let pause = Pause { by: actor.to_owned(), at: self.now.wall, reason };
        self.emit(Event::Held { pause });
        Ok(())
    }

    /// Lets a held run begin again.
    pub(super) fn release(&mut self, actor: &str) -> Result<(), Rejected> {
        if self.run.status.is_terminal() {
            return Err(Rejected::NotWhile(self.run.status.word().to_owned()));
        }
        if self.run.hold.is_none() {
            return Err(Rejected::Already("released"));
        }
        self.emit(Event::Released { actor: actor.to_owned(), at: self.now.wall });
        Ok(())
    }

    /// Changes the run's place among those that wait in its queue.
    pub(super) fn prioritise(&mut self, priority: i32, actor: &str) -> Result<(), Rejected> {
        match &self.run.status {
            Status::Pending => {}
            Status::Running { .. }
            | Status::Completed { .. }
            | Status::Failed { .. }
            | Status::Cancelled { .. } => {
                return Err(Rejected::NotWhile(self.run.status.word().to_owned()));
            }
        }
        if self.run.priority == priority {
            return Err(Rejected::Already("of this priority"));
        }
        self.emit(Event::PriorityChanged { priority, actor: actor.to_owned() });
        Ok(())
    }
}
