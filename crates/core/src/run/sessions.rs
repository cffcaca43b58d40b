//! The conversations of agents: an id is chosen before a job is spawned where the agent lets us,
//! else learned from its stream; the next attempt for the same work takes the conversation up
//! again. None is ever cleared, only superseded by a later one.

use super::backoff::spread;
use super::event::Event;
use super::state::{Job, Purpose, Run};
use super::step::Draft;
use super::telling::Telling;
use crate::ids::{AgentName, FeatureId, JobId, RoleName};
use crate::manifest::Manifest;
use crate::plan::Role;
use crate::told::{Class, Outcome};

/// The conversation that a job was started for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Its id; `None` where the agent finds it by its folder.
    pub id: Option<String>,
    /// Whether it was begun by an earlier job.
    pub resumed: bool,
    /// Why an earlier one is not taken up again, when there is one.
    pub superseded: Option<String>,
}

impl Draft {
    /// Decides which conversation the job of an agent is for, and records it with the job: so it is
    /// durable before anything is spawned.
    pub(super) fn begin_session(&mut self, feature: &FeatureId, job: &JobId) {
        let Some(manifest) = self.run.manifest_of(job) else { return };
        let last = self.run.last_of_same_work(job);
        let role = self.feature(feature).and_then(|(_, feature)| feature.state.role());
        let goes_on = |last: &JobId| {
            // Whoever has judged, judges anew; a builder goes on with what it knows.
            role == Some(Role::Builder) || self.run.waits_for_an_answer(last)
        };
        let mine = self.run.stand_in_of(job);
        let last = last.map(|(id, last)| {
            if self.run.stand_in_of(id) != mine {
                return (Err(Some("another agent takes over")), last);
            }
            (taken_up(manifest, last, goes_on(id)), last)
        });
        let conversation = match last {
            Some((Ok(id), _)) if !manifest.resume.is_empty() => {
                Conversation { id, resumed: true, superseded: None }
            }
            Some((Err(why), last)) if last.conversation_id().is_some() => {
                let id = self.given(manifest, job);
                Conversation { id, resumed: false, superseded: why.map(str::to_owned) }
            }
            Some(_) | None if manifest.session.given => {
                let id = self.given(manifest, job);
                Conversation { id, resumed: false, superseded: None }
            }
            Some(_) | None => return,
        };
        let job = job.clone();
        self.emit(Event::Telling(Telling::SessionBegun { job, conversation }));
    }

    fn given(&self, manifest: &Manifest, job: &JobId) -> Option<String> {
        let nonce = &self.run.jobs.get(job)?.nonce;
        manifest.session.given.then(|| uuid(&format!("{}/{job}/{nonce}", self.run.id)))
    }
}

/// The id to take up again, or why a new conversation is begun: `None` for no reason to tell.
fn taken_up(
    manifest: &Manifest,
    last: &Job,
    goes_on: bool,
) -> Result<Option<String>, Option<&'static str>> {
    let told = last.told.as_ref();
    if told.is_some_and(|told| told.gone) {
        return Err(Some("its history is gone"));
    }
    match told.map(|told| told.outcome) {
        Some(Outcome::Failed(Class::TooLong)) => {
            return Err(Some("it had become too long for the model"));
        }
        Some(Outcome::Failed(Class::BadRequest)) => return Err(Some("it was refused as it stood")),
        Some(Outcome::Completed) if !goes_on => return Err(None),
        Some(
            Outcome::Completed
            | Outcome::Failed(_)
            | Outcome::Interrupted
            | Outcome::Limit
            | Outcome::Unknown,
        )
        | None => {}
    }
    if last.state.started().is_none() {
        return Err(None);
    }
    let by_folder = manifest.is_found_by_folder();
    match last.conversation_id() {
        Some(id) => Ok(Some(id.to_owned())),
        None if by_folder => Ok(None),
        None => Err(None),
    }
}

/// An id in the form of a random UUID that names give.
fn uuid(name: &str) -> String {
    let high = spread(name, 1);
    let low = spread(name, 2);
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

impl Job {
    /// The id of its conversation: what it told, else what it was given.
    pub fn conversation_id(&self) -> Option<&str> {
        let told = self.told.as_ref().and_then(|told| told.session.as_deref());
        told.or_else(|| self.session.as_ref()?.id.as_deref())
    }
}

impl Run {
    /// The manifest of the agent that a job of a plan runs.
    pub fn manifest_of(&self, job: &JobId) -> Option<&Manifest> {
        let Purpose::Agent { feature, role, .. } = &self.jobs.get(job)?.purpose else {
            return None;
        };
        let (spec, _) = self.plan()?;
        let (_, own) = spec.role_named(spec.features.get(feature)?, role)?;
        let agent = self.stand_in_of(job).unwrap_or(own);
        Some(&spec.agents.get(agent)?.manifest)
    }

    /// The agent of a job, where that is not its role's own.
    pub fn stand_in_of(&self, job: &JobId) -> Option<&AgentName> {
        self.stand_ins.get(job)
    }

    /// Notes who works in a job that is created now.
    pub(super) fn note_stand_in(&mut self, job: &JobId, purpose: &Purpose) {
        let Purpose::Agent { feature, .. } = purpose else { return };
        let feature = self.plan().and_then(|(_, plan)| plan.features.get(feature));
        if let Some(agent) = feature.and_then(|feature| feature.stand_in.clone()) {
            self.stand_ins.insert(job.clone(), agent);
        }
    }

    /// Whether the conversation of a job goes on from a turn that did not end well.
    pub fn is_interrupted(&self, job: &JobId) -> bool {
        let resumed = self.jobs.get(job).and_then(|job| job.session.as_ref());
        let last = self.last_of_same_work(job).and_then(|(_, last)| last.told.as_ref());
        resumed.is_some_and(|session| session.resumed)
            && last.is_none_or(|told| told.outcome != Outcome::Completed)
    }

    /// The latest agent of the same feature and role before `job`, if no other agent worked there
    /// since: one that is found by its folder would be another one's.
    fn last_of_same_work(&self, job: &JobId) -> Option<(&JobId, &Job)> {
        let agent_of = |job: &Job| -> Option<(FeatureId, RoleName)> {
            match &job.purpose {
                Purpose::Agent { feature, role, .. } => Some((feature.clone(), role.clone())),
                Purpose::Launcher { .. }
                | Purpose::LauncherAgent { .. }
                | Purpose::Gate { .. }
                | Purpose::Hook { .. } => None,
            }
        };
        let (feature, role) = agent_of(self.jobs.get(job)?)?;
        let mut earlier = self.jobs.range(..job).rev().filter_map(|(id, job)| {
            let (of, role) = agent_of(job)?;
            (of == feature).then_some(((id, job), role))
        });
        let by_folder = self.manifest_of(job).is_some_and(Manifest::is_found_by_folder);
        if by_folder {
            return earlier.next().filter(|(_, of)| *of == role).map(|(job, _)| job);
        }
        earlier.find(|(_, of)| *of == role).map(|(job, _)| job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_a_uuid_and_differ_by_name() {
        let id = uuid("r1/1/n");
        assert_eq!(id.len(), 36);
        let parts: Vec<&str> = id.split('-').collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert!(parts[2].starts_with('4') && parts[3].starts_with(['8', '9', 'a', 'b']), "{id}");
        assert_eq!(uuid("r1/1/n"), id);
        assert_ne!(uuid("r1/2/n"), id);
    }
}
