//! Commands that have not ended, in memory: read at the start, renewed after each durable group.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tidegate_core::command::{Awaits, CommandId};
use tidegate_core::ids::{FeatureId, RunId};
use tidegate_store::{Background, CommandRecord};

use super::live::Live;

/// One command that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenCommand {
    pub(super) id: CommandId,
    pub(super) verb: String,
    pub(super) actor: String,
    pub(super) run: Option<RunId>,
    pub(super) feature: Option<FeatureId>,
    pub(super) awaits: Awaits,
}

/// Work that a command started in the background of a lane: a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenBackground {
    pub(super) id: CommandId,
    pub(super) verb: String,
    pub(super) actor: String,
    pub(super) run: RunId,
    pub(super) feature: Option<FeatureId>,
    /// The features that it was asked for.
    pub(super) features: Vec<String>,
}

impl OpenBackground {
    /// What goes on of a record; `None` when nothing does.
    pub(super) fn of(record: &CommandRecord) -> Option<Self> {
        if record.background != Some(Background::Running) {
            return None;
        }
        let answer: Value = serde_json::from_str(&record.response_json).unwrap_or_default();
        let features = answer["data"]["feature_ids"].as_array().map_or(&[][..], Vec::as_slice);
        let features = features.iter().filter_map(Value::as_str).map(str::to_owned);
        Some(Self {
            id: record.id.clone(),
            verb: record.verb.clone(),
            actor: record.actor.clone(),
            run: record.run.clone()?,
            feature: record.feature.clone(),
            features: features.collect(),
        })
    }
}

/// All of them, by what moves them.
#[derive(Debug, Default)]
pub(super) struct OpenCommands {
    of_runs: BTreeMap<RunId, Vec<OpenCommand>>,
    others: Vec<OpenCommand>,
    backgrounds: BTreeMap<RunId, OpenBackground>,
}

impl OpenCommand {
    /// What is open of a record; `None` when nothing is.
    pub(super) fn of(record: &CommandRecord) -> Option<Self> {
        Some(Self {
            id: record.id.clone(),
            verb: record.verb.clone(),
            actor: record.actor.clone(),
            run: record.run.clone(),
            feature: record.feature.clone(),
            awaits: record.awaits?,
        })
    }
}

impl OpenCommands {
    /// Takes one that has begun.
    pub(super) fn put(&mut self, command: OpenCommand) {
        match (&command.run, command.awaits) {
            (Some(run), Awaits::RunEnd | Awaits::Landing | Awaits::Rollback) => {
                self.of_runs.entry(run.clone()).or_default().push(command);
            }
            (
                _,
                Awaits::RunEnd
                | Awaits::Landing
                | Awaits::Rollback
                | Awaits::Cleanup(_)
                | Awaits::Restore(_),
            ) => self.others.push(command),
        }
    }

    /// Takes what is open of a record.
    pub(super) fn put_record(&mut self, record: &CommandRecord) {
        if let Some(command) = OpenCommand::of(record) {
            self.put(command);
        }
    }

    /// Takes work that goes on in the background.
    pub(super) fn put_background(&mut self, background: OpenBackground) {
        self.backgrounds.insert(background.run.clone(), background);
    }

    /// The work in the background that is this run.
    pub(super) fn background(&self, run: &RunId) -> Option<&OpenBackground> {
        self.backgrounds.get(run)
    }

    /// All work in the background.
    pub(super) fn backgrounds(&self) -> impl Iterator<Item = &OpenBackground> {
        self.backgrounds.values()
    }

    /// Those that nothing will bring to an end any more: what they hang on is not open.
    pub(super) fn orphans(&self, live: &Live) -> Vec<OpenCommand> {
        let of_ended = self.of_runs.iter().filter(|(run, _)| live.get(run).is_none());
        let others = self.others.iter().filter(|command| match command.awaits {
            Awaits::Cleanup(number) => !live.home.cleanups.contains_key(&number),
            Awaits::Restore(number) => !live.home.restorations.contains_key(&number),
            Awaits::RunEnd | Awaits::Landing | Awaits::Rollback => true,
        });
        of_ended.flat_map(|(_, commands)| commands).chain(others).cloned().collect()
    }

    /// Forgets those that have ended.
    pub(super) fn take_out(&mut self, ended: &BTreeSet<CommandId>) {
        if ended.is_empty() {
            return;
        }
        for commands in self.of_runs.values_mut() {
            commands.retain(|command| !ended.contains(&command.id));
        }
        self.of_runs.retain(|_, commands| !commands.is_empty());
        self.others.retain(|command| !ended.contains(&command.id));
        self.backgrounds.retain(|_, background| !ended.contains(&background.id));
    }

    /// Those about this run.
    pub(super) fn of_run(&self, run: &RunId) -> &[OpenCommand] {
        self.of_runs.get(run).map_or(&[], Vec::as_slice)
    }

    /// Those that hang on something of the home.
    pub(super) fn others(&self) -> &[OpenCommand] {
        &self.others
    }
}
