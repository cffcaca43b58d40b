//! The parts of a run: its features, jobs and agents.

use std::collections::BTreeMap;

use rusqlite::Row;
use tidegate_core::ids::{JobId, RunId};
use tidegate_core::run::{Job, JobState, Purpose, Stall};
use tidegate_core::time::WallMs;

use super::{View, corrupt, parse};
use crate::codec::{self, json::Malformed};
use crate::error::{Corrupt, StoreError};
use crate::row::{AgentRow, FeatureRow, JobRow};

/// A job that the store knows, by what its directory must say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownJob {
    /// Names its attempt.
    pub nonce: String,
    /// Whether its end is recorded.
    pub is_finished: bool,
    /// Whether it is recorded that its records contradict each other.
    pub is_quarantined: bool,
}

impl View<'_> {
    /// The features of a plan run in the order of its plan.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn features(&self, run: &RunId) -> Result<Vec<FeatureRow>, StoreError> {
        let rows = self.rows(
            "SELECT feature, position, wave, title, feature_state, word FROM features
             WHERE run = (SELECT seq FROM runs WHERE id = ?1) ORDER BY position",
            [run.as_str()],
            "read the features of a run",
            read_feature,
        )?;
        understood(run, rows)
    }

    /// The jobs of a run by number, finished ones included.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn jobs(&self, run: &RunId) -> Result<Vec<JobRow>, StoreError> {
        let rows = self.rows(
            "SELECT number, what, attempt, nonce, created_at, word, started, stop_actor, exit,
             quarantine, stalled_at, session, told, evidence FROM jobs
             WHERE run = (SELECT seq FROM runs WHERE id = ?1) ORDER BY number",
            [run.as_str()],
            "read the jobs of a run",
            |row| read_job(run, row),
        )?;
        understood(run, rows)
    }

    /// Every job of every run, also of those whose records do not read back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn known_jobs(&self) -> Result<BTreeMap<JobId, KnownJob>, StoreError> {
        let rows: Vec<(String, u32, String, bool, bool)> = self.rows(
            "SELECT runs.id, jobs.number, jobs.nonce, jobs.word = 'finished',
             jobs.word = 'quarantined'
             FROM jobs JOIN runs ON runs.seq = jobs.run",
            [],
            "read what jobs there are",
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )?;
        let named = rows.into_iter().filter_map(|row| {
            let (run, number, nonce, is_finished, is_quarantined) = row;
            let id = JobId::new(RunId::new(run).ok()?, number);
            Some((id, KnownJob { nonce, is_finished, is_quarantined }))
        });
        Ok(named.collect())
    }

    /// The agents of a launcher run by id.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn agents(&self, run: &RunId) -> Result<Vec<AgentRow>, StoreError> {
        let rows = self.rows(
            "SELECT agent, job, registered FROM agents
             WHERE run = (SELECT seq FROM runs WHERE id = ?1) ORDER BY agent",
            [run.as_str()],
            "read the agents of a run",
            |row| read_agent(run, row),
        )?;
        understood(run, rows)
    }
}

/// Says whose part it is that does not read back.
pub(super) fn understood<T>(
    run: &RunId,
    rows: Vec<Result<T, Malformed>>,
) -> Result<Vec<T>, StoreError> {
    let rows: Result<_, Corrupt> =
        rows.into_iter().map(|row| row.map_err(|error| corrupt(Some(run), &error))).collect();
    Ok(rows?)
}

fn read_feature(row: &Row<'_>) -> Result<Result<FeatureRow, Malformed>, rusqlite::Error> {
    let (id, position, wave): (String, u32, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (title, state, word): (String, String, String) = (row.get(3)?, row.get(4)?, row.get(5)?);
    let understand = || {
        let feature: tidegate_core::run::Feature =
            codec::decode(&state).map_err(|error| error.inside("feature_state"))?;
        let own = feature.state.word();
        if own != word {
            return Err(Malformed::new(format!("is {word:?} beside the state {own:?}")));
        }
        Ok(FeatureRow { id: parse("feature", id)?, position, wave, title, feature })
    };
    Ok(understand())
}

fn read_job(run: &RunId, row: &Row<'_>) -> Result<Result<JobRow, Malformed>, rusqlite::Error> {
    let (number, what): (u32, String) = (row.get(0)?, row.get(1)?);
    let (attempt, nonce, created_at): (u32, String, u64) = (row.get(2)?, row.get(3)?, row.get(4)?);
    let word: String = row.get(5)?;
    let started: Option<String> = row.get(6)?;
    let stop_actor: Option<String> = row.get(7)?;
    let exit: Option<String> = row.get(8)?;
    let quarantine: Option<String> = row.get(9)?;
    let stalled: Option<u64> = row.get(10)?;
    let (session, told): (Option<String>, Option<String>) = (row.get(11)?, row.get(12)?);
    let evidence: Option<String> = row.get(13)?;
    let understand = || {
        let purpose: Purpose = codec::decode(&what).map_err(|error| error.inside("what"))?;
        let started = started
            .map(|text| codec::decode(&text).map_err(|error| error.inside("started")))
            .transpose()?;
        let exit = exit
            .map(|text| codec::decode(&text).map_err(|error| error.inside("exit")))
            .transpose()?;
        let state = match (word.as_str(), started, stop_actor, exit, quarantine) {
            ("launching", None, None, None, None) => JobState::Launching,
            ("running", Some(started), None, None, None) => JobState::Running(started),
            ("stopping", started, Some(actor), None, None) => JobState::Stopping { started, actor },
            ("finished", started, None, Some(exit), None) => JobState::Finished { started, exit },
            ("quarantined", started, None, None, Some(detail)) => {
                JobState::Quarantined { started, detail }
            }
            _ => return Err(Malformed::new(format!("columns of {word:?} do not fit together"))),
        };
        let created_at = WallMs(created_at);
        let stalled = stalled.map(|since| Stall { since: WallMs(since) });
        let session = session
            .map(|text| codec::decode(&text).map_err(|error| error.inside("session")))
            .transpose()?;
        let told = told
            .map(|text| codec::decode(&text).map_err(|error| error.inside("told")))
            .transpose()?;
        let evidence = evidence
            .map(|text| codec::decode(&text).map_err(|error| error.inside("evidence")))
            .transpose()?;
        let job =
            Job { purpose, attempt, nonce, created_at, stalled, session, told, evidence, state };
        Ok(JobRow { id: JobId::new(run.clone(), number), job })
    };
    Ok(understand())
}

fn read_agent(run: &RunId, row: &Row<'_>) -> Result<Result<AgentRow, Malformed>, rusqlite::Error> {
    let (id, job): (String, Option<u32>) = (row.get(0)?, row.get(1)?);
    let registered: Option<String> = row.get(2)?;
    let understand = || {
        let registered = registered
            .map(|text| codec::decode(&text).map_err(|error| error.inside("registered")))
            .transpose()?;
        let job = job.map(|number| JobId::new(run.clone(), number));
        Ok(AgentRow { id: parse("agent", id)?, job, registered })
    };
    Ok(understand())
}
