//! The turns of runs: who waits in which queue, in which order, and what keeps queues from going on.

use std::collections::BTreeMap;

use tidegate_core::ids::{ProjectId, QueueKey, RunId};
use tidegate_core::pause::{Pause, Scope};

use super::{View, corrupt, parse, parse_optional};
use crate::codec::{self, json::Malformed};
use crate::error::{Corrupt, StoreError};
use crate::row::RunStatus;

/// A run that waits or runs, in the order of turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// Which.
    pub run: RunId,
    /// Its queue.
    pub queue: QueueKey,
    /// Pending or running.
    pub status: RunStatus,
    /// Whether a person keeps it from beginning anything.
    pub held: bool,
}

/// Every queue.
const ALL: &str = "SELECT id, project, lane, adhoc, status, hold IS NOT NULL FROM runs
    WHERE status IN ('pending', 'running') ORDER BY priority DESC, seq";
/// The active run of one queue.
const ACTIVE: &str = "SELECT id, project, lane, adhoc, status, hold IS NOT NULL FROM runs
    WHERE project = ?1 AND lane = ?2 AND adhoc = ?3 AND status = 'running'";
/// What may begin in one queue, next first.
const WAITING: &str = "SELECT id, project, lane, adhoc, status, 0 FROM runs
    WHERE project = ?1 AND lane = ?2 AND adhoc = ?3 AND status = 'pending' AND hold IS NULL
    ORDER BY priority DESC, seq";

impl View<'_> {
    /// All runs that wait or run: of every queue, by their turns. Those of an unreadable name are
    /// left out: lists show them as corrupt.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn turns(&self) -> Result<Vec<TurnRow>, StoreError> {
        self.turn_rows(ALL, [])
    }

    /// Those of one queue: the active run, and those that may begin, next first. Held ones are left
    /// out.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn turns_of(&self, queue: &QueueKey) -> Result<Vec<TurnRow>, StoreError> {
        let adhoc = queue.adhoc.as_ref().map_or("", |adhoc| adhoc.as_str());
        let key = [queue.project.as_str(), queue.lane.as_str(), adhoc];
        let mut rows = self.turn_rows(ACTIVE, key)?;
        rows.extend(self.turn_rows(WAITING, key)?);
        Ok(rows)
    }

    fn turn_rows(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<TurnRow>, StoreError> {
        let rows: Vec<([String; 5], bool)> =
            self.rows(sql, values, "read the turns of runs", |row| {
                let words = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
                Ok((words, row.get(5)?))
            })?;
        let read = |([run, project, lane, adhoc, status], held): ([String; 5], bool)| {
            let adhoc = Some(adhoc).filter(|adhoc: &String| !adhoc.is_empty());
            let queue = QueueKey {
                project: parse("project", project)?,
                lane: parse("lane", lane)?,
                adhoc: parse_optional("adhoc", adhoc)?,
            };
            let (run, status) = (parse("id", run)?, parse("status", status)?);
            Ok::<_, Malformed>(TurnRow { run, queue, status, held })
        };
        Ok(rows.into_iter().map(read).filter_map(Result::ok).collect())
    }

    /// The pauses of queues.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn pauses(&self) -> Result<BTreeMap<Scope, Pause>, StoreError> {
        let rows: Vec<[String; 3]> = self.rows(
            "SELECT project, lane, pause FROM pauses ORDER BY project, lane",
            [],
            "read the pauses of queues",
            |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]),
        )?;
        let read = |[project, lane, pause]: [String; 3]| {
            let project: Option<ProjectId> = parse_optional("project", named(project))?;
            let scope = Scope { project, lane: parse_optional("lane", named(lane))? };
            Ok((scope, codec::decode(&pause)?))
        };
        let read = |row| read(row).map_err(|error: Malformed| corrupt(None, &error));
        let pauses: Result<_, Corrupt> = rows.into_iter().map(read).collect();
        Ok(pauses?)
    }
}

fn named(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::store::Store;

    /// What SQLite does for a statement.
    fn plan_of(store: &Store, sql: &str) -> String {
        let mut statement = store.conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        for number in 1..=statement.parameter_count() {
            statement.raw_bind_parameter(number, "x").unwrap();
        }
        let mut rows = statement.raw_query();
        let mut plan = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            plan.push(row.get::<_, String>(3).unwrap());
        }
        plan.join("; ")
    }

    #[test]
    fn next_run_of_a_queue_is_found_without_a_look_at_other_runs() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).unwrap();
        for (sql, index) in [(ACTIVE, "runs_active"), (WAITING, "runs_turn"), (ALL, "runs_status")]
        {
            let plan = plan_of(&store, sql);
            assert!(plan.contains(&format!("USING INDEX {index}")), "{plan}");
            assert!(!plan.contains("SCAN"), "{plan}");
        }
        let plan = plan_of(&store, WAITING);
        assert!(!plan.contains("TEMP B-TREE"), "the order is the index's own: {plan}");
    }
}
