//! The audit: what must hold of every home at every moment, looked at from outside.
//!
//! It reads the store, the job directories, the process table and the worktree entries of the
//! registered repositories, and writes nothing. The store is read after the directories and before
//! the processes: whatever appears meanwhile is explained by that order, so a living daemon causes
//! no findings.

mod finding;
mod jobs;
mod outside;
mod processes;
mod runs;
mod tokens;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tidegate_core::home::Place;
use tidegate_core::ids::{JobId, ProjectId, RunId};
use tidegate_store::{
    Acknowledged, HomeRow, KnownJob, OpenError, Reader, RunRow, StoreError, View,
};

pub use finding::{AuditReport, Finding, Invariant};

/// Looks at all of it again before it is told: what is on its way has arrived by then.
const LOOKS: u32 = 12;
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// Audits a home. A home without a store is sound.
///
/// # Errors
/// [`OpenError`] when the store cannot be opened or read at all.
pub fn audit(home: &Path) -> Result<AuditReport, OpenError> {
    let mut report = look(home)?;
    // What remains in every look is a finding; what one look missed was only on its way.
    for _ in 1..LOOKS {
        if report.findings.is_empty() {
            break;
        }
        std::thread::sleep(PAUSE);
        let again = look(home)?;
        report.findings.retain(|finding| again.findings.contains(finding));
        report = AuditReport { findings: report.findings, ..again };
    }
    Ok(report)
}

/// All that one look takes from the store, in one state of it.
pub(crate) struct Facts {
    home: HomeRow,
    rows: Vec<RunRow>,
    nonces: BTreeMap<JobId, KnownJob>,
    projects: Vec<(ProjectId, Place)>,
    corrupt: Vec<RunId>,
}

fn look(home: &Path) -> Result<AuditReport, OpenError> {
    let mut report = AuditReport::default();
    let known = tidegate_store::acknowledged(home).map_err(|source| OpenError::File {
        doing: "read",
        path: home.join("highwater"),
        source,
    })?;
    let directories = jobs::directories(home);
    let mut reader = match Reader::open(home) {
        Ok(reader) => reader,
        Err(OpenError::NoStore { .. }) => return Ok(report),
        Err(error) => return Err(error),
    };
    let (facts, found) = reader
        .read(|view| read(&view, known.as_ref()))
        .map_err(|error| tidegate_store::advise(home, error))?;
    report.runs = facts.rows.len() as u64;
    report.findings = found;
    report.jobs = directories.len() as u64;
    jobs::check(home, &directories, &facts, &mut report.findings);
    report.processes = processes::check(&facts, &mut report.findings);
    outside::check(home, &facts, &mut report.findings);
    report.findings.sort();
    report.findings.dedup();
    Ok(report)
}

fn read(
    view: &View<'_>,
    known: Option<&Acknowledged>,
) -> Result<(Facts, Vec<Finding>), StoreError> {
    let mut found = Vec::new();
    let verified = view.verify()?;
    for broken in verified.broken {
        let about = broken.run.map_or_else(|| "home".to_owned(), |run| run.to_string());
        let place = broken.seq.map(|seq| format!("event {seq}: ")).unwrap_or_default();
        found.push(Finding::new(Invariant::I2, about, format!("{place}{}", broken.why)));
    }
    let home = view.home_row()?;
    tokens::check(view, &home, known, &mut found)?;
    let rows = runs::rows(view)?;
    let corrupt = view.quarantined()?.into_iter().map(|row| row.run).collect();
    runs::check(view, &rows, &mut found)?;
    let facts =
        Facts { home, rows, nonces: view.known_jobs()?, projects: view.projects()?, corrupt };
    Ok((facts, found))
}
