//! The person who decides about turns: holds runs, pauses lanes, changes priorities, and lets all of
//! it go on in the end.

use tidegate_core::pause::Scope;
use tidegate_core::run::{Run, Status};
use tidegate_daemon::engine::Command;

use super::course::World;

impl World {
    /// Looks at the turns of `runs` and changes some; once all is calm, everything goes on.
    pub(super) fn order_turns(&mut self, runs: &[Run]) {
        let actor = || "person".to_owned();
        if self.calm {
            for run in runs.iter().filter(|run| run.hold.is_some()) {
                let (run, held, reason) = (run.id.clone(), false, None);
                self.order("person", Command::Hold { run, held, reason, actor: actor() });
            }
            let pauses = self.daemon.as_ref().map(|daemon| daemon.engine.home().pauses.clone());
            for scope in pauses.unwrap_or_default().into_keys() {
                self.order("person", Command::ResumeLanes { scope, actor: actor() });
            }
            return;
        }
        for run in runs {
            if self.dice.percent(4) {
                let (held, reason) = (run.hold.is_none(), Some("tide".to_owned()));
                let run = run.id.clone();
                self.order("person", Command::Hold { run, held, reason, actor: actor() });
            } else if run.status == Status::Pending && self.dice.percent(4) {
                let priority = i32::from(self.dice.percent(50)) * 5;
                let run = run.id.clone();
                self.order("person", Command::Prioritise { run, priority, actor: actor() });
            }
        }
        if self.dice.percent(4) {
            let scope = Scope::default();
            self.order("person", Command::PauseLanes { scope, reason: None, actor: actor() });
        } else if self.dice.percent(15) {
            self.order("person", Command::ResumeLanes { scope: Scope::default(), actor: actor() });
        }
    }
}
