//! Many runs at once: pages, prefixes, the open ones, the one that matters for a wave.

use rusqlite::types::Value;
use tidegate_core::ids::{AdhocId, LaneName, ProjectId, RunId};

use super::run::{COLUMNS, read};
use super::{View, corrupt};
use crate::error::{Corrupt, StoreError};
use crate::row::{RunRow, RunStatus};

/// One run of a list; a corrupt one does not hide the others.
pub type Listed = Result<RunRow, Corrupt>;

/// Which runs to list. `None` means any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListFilter {
    /// Runs of this status.
    pub status: Option<RunStatus>,
    /// Runs of this project.
    pub project: Option<ProjectId>,
    /// Runs of this lane.
    pub lane: Option<LaneName>,
    /// Runs of this ad-hoc queue.
    pub adhoc: Option<AdhocId>,
    /// Runs whose active wave is this one.
    pub wave: Option<u32>,
    /// Without the runs that were deleted.
    pub undeleted: bool,
    /// Runs older than the one with this sequence number: the end of the page before.
    pub before: Option<u64>,
    /// Runs per page, at least 1.
    pub limit: u32,
}

/// A page of runs, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The runs.
    pub runs: Vec<Listed>,
    /// Where the next page begins, when there is one.
    pub next: Option<u64>,
}

/// Which wave to look at. `None` means any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveFilter {
    /// Its number.
    pub wave: u32,
    /// In this project.
    pub project: Option<ProjectId>,
    /// In this lane.
    pub lane: Option<LaneName>,
    /// In this ad-hoc queue.
    pub adhoc: Option<AdhocId>,
}

/// What the beginning of an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// No run.
    None,
    /// This run.
    One(RunId),
    /// Several; the oldest of them.
    Many(Vec<RunId>),
}

/// Candidates that are named when a prefix is ambiguous.
const CANDIDATES: i64 = 8;

/// The status words from the most relevant to the least, for the summary of a wave.
const RELEVANCE: [RunStatus; 5] = [
    RunStatus::Running,
    RunStatus::Pending,
    RunStatus::Failed,
    RunStatus::Completed,
    RunStatus::Cancelled,
];

/// Conditions with their values.
#[derive(Default)]
struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.sql.push_str(if self.values.is_empty() { " WHERE " } else { " AND " });
        self.sql.push_str(condition);
        self.values.push(value.into());
    }

    fn place(
        &mut self,
        project: Option<&ProjectId>,
        lane: Option<&LaneName>,
        adhoc: Option<&AdhocId>,
    ) {
        if let Some(project) = project {
            self.add("project = ?", project.to_string());
        }
        if let Some(lane) = lane {
            self.add("lane = ?", lane.to_string());
        }
        if let Some(adhoc) = adhoc {
            self.add("adhoc = ?", adhoc.to_string());
        }
    }
}

/// The statement of a list.
fn list_statement(filter: &ListFilter) -> (String, Vec<Value>) {
    let mut conditions = Conditions::default();
    if let Some(status) = filter.status {
        conditions.add("status = ?", status.as_str().to_owned());
    }
    conditions.place(filter.project.as_ref(), filter.lane.as_ref(), filter.adhoc.as_ref());
    if let Some(wave) = filter.wave {
        conditions.add("active_wave = ?", wave);
    }
    // Always a bound, so that even the whole list is a search.
    let before = filter.before.and_then(|seq| i64::try_from(seq).ok()).unwrap_or(i64::MAX);
    conditions.add("seq < ?", before);
    let Conditions { mut sql, mut values } = conditions;
    if filter.undeleted {
        sql.push_str(" AND NOT EXISTS (SELECT 1 FROM deleted_runs WHERE run = runs.id)");
    }
    values.push(Value::Integer(i64::from(filter.limit.max(1)) + 1));
    (format!("SELECT {COLUMNS} FROM runs{sql} ORDER BY seq DESC LIMIT ?"), values)
}

/// The statement of a wave's summary for one status.
fn wave_statement(filter: &WaveFilter, status: RunStatus) -> (String, Vec<Value>) {
    let mut conditions = Conditions::default();
    conditions.add("active_wave = ?", filter.wave);
    conditions.add("status = ?", status.as_str().to_owned());
    conditions.place(filter.project.as_ref(), filter.lane.as_ref(), filter.adhoc.as_ref());
    let Conditions { sql, values } = conditions;
    let index = match (&filter.project, &filter.lane) {
        (Some(_), Some(_)) => "runs_wave_lane",
        (Some(_) | None, Some(_) | None) => "runs_wave",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM runs INDEXED BY {index}{sql} ORDER BY updated_at DESC LIMIT 1"
    );
    (sql, values)
}

const OPEN_RUNS: &str = "WHERE status IN ('pending', 'running') ORDER BY seq";

/// Rows whose status is none of the words, by the gaps between them in the index: such a run may
/// be open, so its lane must be held.
const UNKNOWN_RUNS: &str = "WHERE status < 'cancelled'
    OR (status > 'cancelled' AND status < 'completed')
    OR (status > 'completed' AND status < 'failed')
    OR (status > 'failed' AND status < 'pending')
    OR (status > 'pending' AND status < 'running')
    OR status > 'running'";

impl View<'_> {
    /// A page of runs, newest first.
    ///
    /// # Errors
    /// [`StoreError`]; a corrupt run is an entry of the page.
    pub fn list(&self, filter: &ListFilter) -> Result<Page, StoreError> {
        let (sql, values) = list_statement(filter);
        let values = rusqlite::params_from_iter(values);
        let mut seqs = Vec::new();
        let mut runs = self.rows(&sql, values, "list runs", |row| {
            seqs.push(row.get::<_, u64>(0)?);
            read(row)
        })?;
        let limit = usize::try_from(filter.limit.max(1)).unwrap_or(usize::MAX);
        let more = runs.len() > limit;
        runs.truncate(limit);
        let next = if more { seqs.get(limit - 1).copied() } else { None };
        Ok(Page { runs, next })
    }

    /// Every run that waits or runs, oldest first; behind them those whose status does not read
    /// back, for they may.
    ///
    /// # Errors
    /// [`StoreError`]; a corrupt run is an entry of the list.
    pub fn pending_and_running(&self) -> Result<Vec<Listed>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM runs {OPEN_RUNS}");
        let mut open = self.rows(&sql, [], "list the open runs", read)?;
        let sql = format!("SELECT {COLUMNS} FROM runs {UNKNOWN_RUNS}");
        open.extend(self.rows(&sql, [], "list the runs of unknown status", read)?);
        Ok(open)
    }

    /// The runs that a run's job submitted, or that repeat its failed half, oldest first.
    ///
    /// # Errors
    /// [`StoreError`]; a corrupt run is an entry of the list.
    pub fn children(&self, parent: &RunId) -> Result<Vec<Listed>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE parent = ?1 ORDER BY seq");
        self.rows(&sql, [parent.as_str()], "list the children of a run", read)
    }

    /// The run that matters most for a wave: running, pending, failed, completed, cancelled, and
    /// of equals the newest.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn wave_summary(&self, filter: &WaveFilter) -> Result<Option<Listed>, StoreError> {
        for status in RELEVANCE {
            let (sql, values) = wave_statement(filter, status);
            let values = rusqlite::params_from_iter(values);
            let found = self.row(&sql, values, "look for the run of a wave", read)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The run that the beginning of an id stands for.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn resolve_prefix(&self, text: &str) -> Result<Resolved, StoreError> {
        if !RunId::is_prefix(text) {
            return Ok(Resolved::None);
        }
        // `~` sorts behind every digit of an id.
        let found: Vec<String> = self.rows(
            "SELECT id FROM runs WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
            rusqlite::params![text, format!("{text}~"), CANDIDATES],
            "look for a run",
            |row| row.get(0),
        )?;
        let ids: Result<Vec<RunId>, _> = found.into_iter().map(RunId::new).collect();
        let mut ids = ids.map_err(|error| corrupt(None, &error))?;
        Ok(match ids.len() {
            0 => Resolved::None,
            1 => Resolved::One(ids.remove(0)),
            _ => Resolved::Many(ids),
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::store::{Options, Store};

    fn plan(store: &Store, sql: &str, values: Vec<Value>) -> String {
        let mut statement = store.conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement
            .query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3))
            .unwrap();
        rows.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
    }

    fn filters() -> Vec<ListFilter> {
        let mut filters = Vec::new();
        for bits in 0..32_u32 {
            let on = |bit: u32| bits & (1 << bit) != 0;
            filters.push(ListFilter {
                status: on(0).then_some(RunStatus::Failed),
                project: on(1).then(|| ProjectId::new("p").unwrap()),
                lane: (on(1) && on(2)).then(|| LaneName::new("main").unwrap()),
                adhoc: None,
                wave: on(3).then_some(2),
                undeleted: on(4),
                before: None,
                limit: 20,
            });
        }
        filters
    }

    #[test]
    fn list_with_any_filter_neither_scans_nor_sorts() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open_with(home.path(), Options { ballast_bytes: 0 }).unwrap();
        for filter in filters() {
            let (sql, values) = list_statement(&filter);
            let plan = plan(&store, &sql, values);
            assert!(plan.starts_with("SEARCH runs"), "{filter:?}: {plan}");
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{filter:?}: {plan}");
        }
    }

    #[test]
    fn claim_and_wave_summary_neither_scan_nor_sort() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open_with(home.path(), Options { ballast_bytes: 0 }).unwrap();
        let project = ProjectId::new("p").unwrap();
        let lane = LaneName::new("main").unwrap();
        let any = WaveFilter { wave: 1, project: None, lane: None, adhoc: None };
        let of_project = WaveFilter { project: Some(project), ..any.clone() };
        let of_lane = WaveFilter { lane: Some(lane), ..of_project.clone() };
        for filter in [any, of_project, of_lane] {
            for status in RELEVANCE {
                let (sql, values) = wave_statement(&filter, status);
                let plan = plan(&store, &sql, values);
                assert!(plan.contains("SEARCH runs USING INDEX runs_wave"), "{plan}");
                assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
            }
        }
        for condition in [OPEN_RUNS, UNKNOWN_RUNS] {
            let plan = plan(&store, &format!("SELECT {COLUMNS} FROM runs {condition}"), vec![]);
            assert!(plan.contains("SEARCH runs USING INDEX runs_status"), "{plan}");
            assert!(!plan.contains("SCAN"), "{plan}");
        }
    }
}
