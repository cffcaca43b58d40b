//! The rows that a run's facts change, found by comparing the run before and after.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};
use tidegate_core::ids::{BlobId, JobId, Oid, RunId};
use tidegate_core::run::{FeatureState, JobState, Purpose, Run, Work};
use tidegate_core::time::WallMs;

use crate::codec::{self, json::Json};
use crate::error::{Corrupt, Doing as _, StoreError};
use crate::row::{self, AgentRow, FeatureRow, JobRow, RunRow, WorkRow};

/// Runs one cached statement and says how many rows it changed.
fn change(
    conn: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
    doing: &'static str,
) -> Result<usize, StoreError> {
    conn.prepare_cached(sql).and_then(|mut statement| statement.execute(values)).doing(doing)
}

/// Writes the row of a new run: what never changes of it, then what does.
pub(crate) fn insert_run(conn: &Connection, row: &RunRow) -> Result<(), StoreError> {
    let (kind, spec, plan) = match &row.work {
        WorkRow::Launcher(launcher) => ("launcher", Some(codec::encode(&launcher.spec)), None),
        WorkRow::Plan(plan) => ("plan", None, Some(plan)),
    };
    change(
        conn,
        "INSERT INTO runs (seq, id, project, lane, adhoc, actor, parent, env, submitted_at, kind,
         launcher_spec, plan_title, plan_path, plan_target, plan_source, plan_config,
         features_total, launcher_state, updated_at, last_seq,
         status, disposition, recovery, resumes, features_landed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
         ?18, ?19, ?20, 'pending', 'pending', 'pending', 0, 0)",
        params![
            row.seq,
            row.id.as_str(),
            row.queue.project.as_str(),
            row.queue.lane.as_str(),
            row.queue.adhoc.as_ref().map_or("", |adhoc| adhoc.as_str()),
            row.actor,
            row.parent.as_ref().map(RunId::as_str),
            row.env.as_str(),
            row.submitted_at.0,
            kind,
            spec,
            plan.map(|plan| plan.title.as_str()),
            plan.map(|plan| plan.path.as_str()),
            plan.map(|plan| plan.target.as_str()),
            plan.map(|plan| plan.source.as_str()),
            plan.and_then(|plan| plan.config.as_ref()).map(BlobId::as_str),
            plan.map_or(0, |plan| plan.features_total),
            launcher_state(row),
            row.updated_at.0,
            row.last_seq,
        ],
        "write the row of a run",
    )?;
    update_run(conn, row)
}

/// Writes what may change in the row of a run.
pub(crate) fn update_run(conn: &Connection, row: &RunRow) -> Result<(), StoreError> {
    let rows = change(
        conn,
        "UPDATE runs SET claimed_at = coalesce(?2, claimed_at), started_at = ?3, updated_at = ?4,
         ended_at = ?5, status = ?6, cancel_actor = ?7, detail = ?8, active_wave = ?9,
         exit_code = ?10, signal = ?11, disposition = ?12, recovery = ?13, resume_action = ?14,
         launcher_state = ?15, launcher_job = ?16, launcher_pid = ?17, resumes = ?18,
         features_landed = ?19, last_seq = ?20, supervisor = ?21, priority = ?22, hold = ?23,
         features_total = ?24 WHERE seq = ?1",
        params![
            row.seq,
            row.claimed_at.map(|at| at.0),
            row.started_at.map(|at| at.0),
            row.updated_at.0,
            row.ended_at.map(|at| at.0),
            row.status.as_str(),
            row.cancel_actor,
            row.detail,
            row.active_wave,
            row.exit_code,
            row.signal,
            row.disposition.as_str(),
            row.recovery.as_str(),
            row.resume_action.map(row::ResumeAction::as_str),
            launcher_state(row),
            row.launcher_job.as_ref().map(JobId::number),
            row.launcher_pid,
            row.resumes,
            match &row.work {
                WorkRow::Launcher(_) => 0,
                WorkRow::Plan(plan) => plan.features_landed,
            },
            row.last_seq,
            row.supervisor,
            row.priority,
            row.hold.as_ref().map(codec::encode),
            match &row.work {
                WorkRow::Launcher(_) => 0,
                WorkRow::Plan(plan) => plan.features_total,
            },
        ],
        "write the row of a run",
    )?;
    if rows == 1 {
        return Ok(());
    }
    let why = "its row is missing".to_owned();
    Err(Corrupt { run: Some(row.id.clone()), seq: None, why }.into())
}

fn launcher_state(row: &RunRow) -> Option<String> {
    match &row.work {
        WorkRow::Launcher(launcher) => Some(codec::encode(&launcher.state)),
        WorkRow::Plan(_) => None,
    }
}

/// Says that a run needs its pinned bytes. They must be there.
pub(crate) fn refer_to_blobs(conn: &Connection, run: &Run) -> Result<(), StoreError> {
    for blob in blobs_of(run) {
        change(
            conn,
            "INSERT INTO blob_refs (run, blob) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![run.seq, blob.as_str()],
            "refer to pinned bytes",
        )?;
    }
    Ok(())
}

/// The pinned bytes that a run needs.
pub(crate) fn blobs_of(run: &Run) -> BTreeSet<&BlobId> {
    let mut blobs = BTreeSet::from([&run.env]);
    if let Work::Plan { spec, .. } = &run.work {
        blobs.insert(&spec.source);
        blobs.extend(spec.config.as_ref());
        blobs.extend(spec.user_config.as_ref());
        blobs.extend(spec.features.values().map(|feature| &feature.prompt));
    }
    blobs
}

/// What a comparison asks for: rows to write, and keys of rows to remove.
fn changes<'a, K: Ord, R: PartialEq>(
    before: &'a BTreeMap<K, R>,
    after: &'a BTreeMap<K, R>,
) -> (Vec<&'a R>, Vec<&'a K>) {
    let write = after
        .iter()
        .filter(|(key, row)| before.get(key) != Some(row))
        .map(|(_, row)| row)
        .collect();
    let remove = before.keys().filter(|key| !after.contains_key(key)).collect();
    (write, remove)
}

/// Writes the features that changed.
pub(crate) fn write_features(
    conn: &Connection,
    before: Option<&Run>,
    after: &Run,
) -> Result<(), StoreError> {
    let Some((_, plan)) = after.plan() else { return Ok(()) };
    let old = before.and_then(Run::plan).map(|(_, plan)| plan);
    if old.is_some_and(|old| old == plan) {
        return Ok(());
    }
    // Features that join move the places of those behind them.
    let joined = old.is_some_and(|old| old.features.len() != plan.features.len());
    let same = |row: &FeatureRow| {
        !joined
            && old.and_then(|old| old.features.get(&row.id)).is_some_and(|old| *old == row.feature)
    };
    row::features_of(after)
        .iter()
        .filter(|row| !same(row))
        .try_for_each(|row| write_feature(conn, after.seq, row))
}

pub(super) fn write_feature(
    conn: &Connection,
    run: u64,
    row: &FeatureRow,
) -> Result<(), StoreError> {
    let state = row.feature.state.to_json();
    let blocked = state.get("block").and_then(|block| block.get("reason"));
    let landed = match &row.feature.state {
        FeatureState::Landed { commit } => commit.as_ref().map(Oid::as_str),
        FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Landing(_)
        | FeatureState::Blocked(_)
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    };
    change(
        conn,
        "INSERT INTO features (run, position, feature, wave, title, word, blocked, iteration,
         tested_commit, landed_commit, feature_state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (run, feature) DO UPDATE SET position = excluded.position,
         word = excluded.word,
         blocked = excluded.blocked, iteration = excluded.iteration,
         tested_commit = excluded.tested_commit, landed_commit = excluded.landed_commit,
         feature_state = excluded.feature_state",
        params![
            run,
            row.position,
            row.id.as_str(),
            row.wave,
            row.title,
            row.feature.state.word(),
            blocked.and_then(|reason| reason.as_str()),
            row.feature.iteration,
            row.feature.tested.as_ref().map(|tested| tested.commit.as_str()),
            landed,
            codec::encode(&row.feature),
        ],
        "write the row of a feature",
    )?;
    Ok(())
}

/// Writes the jobs that changed.
pub(crate) fn write_jobs(
    conn: &Connection,
    before: Option<&Run>,
    after: &Run,
) -> Result<(), StoreError> {
    for (id, job) in &after.jobs {
        if before.and_then(|before| before.jobs.get(id)) != Some(job) {
            write_job(conn, after.seq, &JobRow { id: id.clone(), job: job.clone() })?;
        }
    }
    Ok(())
}

pub(super) fn write_job(conn: &Connection, run: u64, row: &JobRow) -> Result<(), StoreError> {
    let purpose = row.job.purpose.to_json();
    let feature = match &row.job.purpose {
        Purpose::Agent { feature, .. }
        | Purpose::Gate { feature, .. }
        | Purpose::Hook { feature, .. } => Some(feature.as_str()),
        Purpose::Launcher { .. } | Purpose::LauncherAgent { .. } => None,
    };
    let (word, stop_actor, exit, quarantine) = match &row.job.state {
        JobState::Launching => ("launching", None, None, None),
        JobState::Running(_) => ("running", None, None, None),
        JobState::Stopping { actor, .. } => ("stopping", Some(actor), None, None),
        JobState::Finished { exit, .. } => ("finished", None, Some(exit.to_json()), None),
        JobState::Quarantined { detail, .. } => ("quarantined", None, None, Some(detail)),
    };
    change(
        conn,
        "INSERT INTO jobs (run, number, purpose, feature, what, attempt, nonce, created_at, word,
         started, stop_actor, exit, reason, quarantine, stalled_at, session, told,
         evidence)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
         ?18)
         ON CONFLICT (run, number) DO UPDATE SET word = excluded.word,
         started = excluded.started, stop_actor = excluded.stop_actor, exit = excluded.exit,
         reason = excluded.reason, quarantine = excluded.quarantine,
         stalled_at = excluded.stalled_at, session = excluded.session, told = excluded.told,
         evidence = excluded.evidence",
        params![
            run,
            row.id.number(),
            purpose["word"].as_str(),
            feature,
            purpose.to_string(),
            row.job.attempt,
            row.job.nonce,
            row.job.created_at.0,
            word,
            row.job.state.started().map(codec::encode),
            stop_actor,
            exit.as_ref().map(ToString::to_string),
            exit.as_ref().and_then(|exit| exit["reason"]["word"].as_str()),
            quarantine,
            row.job.stalled.map(|stall| stall.since.0),
            row.job.session.as_ref().map(codec::encode),
            row.job.told.as_ref().map(codec::encode),
            row.job.evidence.as_ref().map(codec::encode),
        ],
        "write the row of a job",
    )?;
    Ok(())
}

/// Writes the agents of a launcher that changed.
pub(crate) fn write_agents(
    conn: &Connection,
    before: Option<&Run>,
    after: &Run,
) -> Result<(), StoreError> {
    let Some((_, launcher)) = after.launcher() else { return Ok(()) };
    let same = before.and_then(Run::launcher).is_some_and(|(_, old)| {
        old.registered == launcher.registered && old.started == launcher.started
    });
    if same {
        return Ok(());
    }
    let keyed = |run: &Run| -> BTreeMap<_, _> {
        row::agents_of(run).into_iter().map(|row| (row.id.clone(), row)).collect()
    };
    let (old, new) = (before.map(keyed).unwrap_or_default(), keyed(after));
    let (write, remove) = changes(&old, &new);
    for row in write {
        write_agent(conn, after.seq, row)?;
    }
    for id in remove {
        change(
            conn,
            "DELETE FROM agents WHERE run = ?1 AND agent = ?2",
            params![after.seq, id.as_str()],
            "remove the row of an agent",
        )?;
    }
    Ok(())
}

fn write_agent(conn: &Connection, run: u64, row: &AgentRow) -> Result<(), StoreError> {
    change(
        conn,
        "INSERT INTO agents (run, agent, job, registered) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (run, agent) DO UPDATE SET job = excluded.job,
         registered = excluded.registered",
        params![
            run,
            row.id.as_str(),
            row.job.as_ref().map(JobId::number),
            row.registered.as_ref().map(codec::encode),
        ],
        "write the row of an agent",
    )?;
    Ok(())
}

/// Opens and closes the outbox rows by what the state asks for.
pub(crate) fn write_outbox(
    conn: &Connection,
    before: Option<&Run>,
    after: &Run,
    seq: u64,
    at: WallMs,
) -> Result<(), StoreError> {
    let keys = |run: &Run| -> BTreeSet<String> {
        run.outstanding().into_keys().map(|key| key.0).collect()
    };
    let (old, new) = (before.map(keys).unwrap_or_default(), keys(after));
    for key in old.difference(&new) {
        change(
            conn,
            "DELETE FROM outbox WHERE run = ?1 AND key = ?2",
            params![after.seq, key],
            "close an effect",
        )?;
    }
    for key in new.difference(&old) {
        change(
            conn,
            "INSERT INTO outbox (run, key, opened_seq, opened_at) VALUES (?1, ?2, ?3, ?4)",
            params![after.seq, key, seq, at.0],
            "open an effect",
        )?;
    }
    Ok(())
}
