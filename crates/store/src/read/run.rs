//! How the row of a run is read back.

use rusqlite::Row;
use tidegate_core::ids::{JobId, QueueKey, RunId};
use tidegate_core::time::WallMs;

use super::{View, corrupt, parse, parse_optional};
use crate::codec::{self, json::Malformed};
use crate::error::{Corrupt, StoreError};
use crate::row::{LauncherRow, PlanRow, RunRow, WorkRow};

/// The columns, in the order in which [`read`] takes them.
pub(super) const COLUMNS: &str = "seq, id, project, lane, adhoc, actor, parent, env, submitted_at,
    claimed_at, started_at, updated_at, ended_at, status, cancel_actor, detail, active_wave,
    exit_code, signal, disposition, recovery, resume_action, kind, launcher_spec, launcher_state,
    launcher_job, launcher_pid, resumes, plan_title, plan_path, plan_target, plan_source,
    plan_config, features_total, features_landed, last_seq, supervisor, priority, hold";

impl View<'_> {
    /// The row of a run.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it does not read back.
    pub fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
        let found = self.row(&sql, [id.as_str()], "read a run", read)?;
        Ok(found.transpose()?)
    }
}

/// Takes the next column.
struct Columns<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

impl Columns<'_, '_> {
    fn take<T: rusqlite::types::FromSql>(&mut self) -> Result<T, rusqlite::Error> {
        let value = self.row.get(self.next);
        self.next += 1;
        value
    }
}

/// All columns as they are, before any word is understood.
struct Raw {
    seq: u64,
    id: String,
    queue: (String, String, String),
    actor: String,
    parent: Option<String>,
    env: String,
    submitted_at: u64,
    claimed_at: Option<u64>,
    started_at: Option<u64>,
    updated_at: u64,
    ended_at: Option<u64>,
    status: String,
    cancel_actor: Option<String>,
    detail: Option<String>,
    active_wave: Option<u32>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    disposition: String,
    recovery: String,
    resume_action: Option<String>,
    kind: String,
    launcher: (Option<String>, Option<String>),
    launcher_job: Option<u32>,
    launcher_pid: Option<u32>,
    resumes: u32,
    plan: [Option<String>; 4],
    plan_config: Option<String>,
    features_total: u32,
    features_landed: u32,
    last_seq: u64,
    supervisor: Option<String>,
    priority: i32,
    hold: Option<String>,
}

/// Reads a row; what does not read back is said in the inner result.
pub(super) fn read(row: &Row<'_>) -> Result<Result<RunRow, Corrupt>, rusqlite::Error> {
    let mut columns = Columns { row, next: 0 };
    let c = &mut columns;
    // Fields are evaluated in the order in which they are written: that of COLUMNS.
    let raw = Raw {
        seq: c.take()?,
        id: c.take()?,
        queue: (c.take()?, c.take()?, c.take()?),
        actor: c.take()?,
        parent: c.take()?,
        env: c.take()?,
        submitted_at: c.take()?,
        claimed_at: c.take()?,
        started_at: c.take()?,
        updated_at: c.take()?,
        ended_at: c.take()?,
        status: c.take()?,
        cancel_actor: c.take()?,
        detail: c.take()?,
        active_wave: c.take()?,
        exit_code: c.take()?,
        signal: c.take()?,
        disposition: c.take()?,
        recovery: c.take()?,
        resume_action: c.take()?,
        kind: c.take()?,
        launcher: (c.take()?, c.take()?),
        launcher_job: c.take()?,
        launcher_pid: c.take()?,
        resumes: c.take()?,
        plan: [c.take()?, c.take()?, c.take()?, c.take()?],
        plan_config: c.take()?,
        features_total: c.take()?,
        features_landed: c.take()?,
        last_seq: c.take()?,
        supervisor: c.take()?,
        priority: c.take()?,
        hold: c.take()?,
    };
    let id = raw.id.clone();
    Ok(understand(raw).map_err(|error| match RunId::new(id.clone()) {
        Ok(run) => corrupt(Some(&run), &error),
        Err(_) => corrupt(None, &format!("run {id:?}: {error}")),
    }))
}

fn understand(raw: Raw) -> Result<RunRow, Malformed> {
    let id: RunId = parse("id", raw.id)?;
    let (project, lane, adhoc) = raw.queue;
    let adhoc = Some(adhoc).filter(|adhoc| !adhoc.is_empty());
    let plan = PlanColumns {
        texts: raw.plan,
        config: raw.plan_config,
        total: raw.features_total,
        landed: raw.features_landed,
    };
    Ok(RunRow {
        seq: raw.seq,
        queue: QueueKey {
            project: parse("project", project)?,
            lane: parse("lane", lane)?,
            adhoc: parse_optional("adhoc", adhoc)?,
        },
        actor: raw.actor,
        parent: parse_optional("parent", raw.parent)?,
        env: parse("env", raw.env)?,
        submitted_at: WallMs(raw.submitted_at),
        claimed_at: raw.claimed_at.map(WallMs),
        started_at: raw.started_at.map(WallMs),
        updated_at: WallMs(raw.updated_at),
        ended_at: raw.ended_at.map(WallMs),
        status: parse("status", raw.status)?,
        priority: raw.priority,
        hold: raw
            .hold
            .map(|hold| codec::decode(&hold).map_err(|error| error.inside("hold")))
            .transpose()?,
        cancel_actor: raw.cancel_actor,
        detail: raw.detail,
        active_wave: raw.active_wave,
        exit_code: raw.exit_code,
        signal: raw.signal,
        disposition: parse("disposition", raw.disposition)?,
        recovery: parse("recovery", raw.recovery)?,
        resume_action: parse_optional("resume_action", raw.resume_action)?,
        resumes: raw.resumes,
        launcher_job: raw.launcher_job.map(|number| JobId::new(id.clone(), number)),
        launcher_pid: raw.launcher_pid,
        work: understand_work(&raw.kind, raw.launcher, plan)?,
        last_seq: raw.last_seq,
        supervisor: raw.supervisor,
        id,
    })
}

struct PlanColumns {
    texts: [Option<String>; 4],
    config: Option<String>,
    total: u32,
    landed: u32,
}

fn understand_work(
    kind: &str,
    launcher: (Option<String>, Option<String>),
    plan: PlanColumns,
) -> Result<WorkRow, Malformed> {
    match (kind, launcher, plan.texts) {
        ("launcher", (Some(spec), Some(state)), [None, None, None, None]) => {
            let spec = codec::decode(&spec).map_err(|error| error.inside("launcher_spec"))?;
            let state = codec::decode(&state).map_err(|error| error.inside("launcher_state"))?;
            Ok(WorkRow::Launcher(Box::new(LauncherRow { spec, state })))
        }
        ("plan", (None, None), [Some(title), Some(path), Some(target), Some(source)]) => {
            Ok(WorkRow::Plan(PlanRow {
                title,
                path,
                target,
                source: parse("plan_source", source)?,
                config: parse_optional("plan_config", plan.config)?,
                features_total: plan.total,
                features_landed: plan.landed,
            }))
        }
        _ => Err(Malformed::new(format!("columns of kind {kind:?} do not fit together"))),
    }
}
