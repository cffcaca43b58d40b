//! Proves a store: every chain, every row against the replay of its events, every open effect
//! against the state that asks for it.

use std::collections::BTreeSet;
use std::path::Path;

use tidegate_core::ids::RunId;
use tidegate_core::run::Run;

use crate::error::{Corrupt, OpenError, StoreError};
use crate::read::{ListFilter, View};
use crate::reader::Reader;
use crate::row::{self, Marks, RunRow};
use crate::write::claimed_at;

/// Runs that are looked at per page.
const PAGE: u32 = 200;

/// What was proved, and what was not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Runs that were looked at.
    pub runs: u64,
    /// Events that were looked at.
    pub events: u64,
    /// The first thing that does not fit, per subject.
    pub broken: Vec<Broken>,
}

/// Something that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Its run; `None` for the home.
    pub run: Option<RunId>,
    /// The first entry of the log that does not fit; `None` when it is a row.
    pub seq: Option<u64>,
    /// What does not fit.
    pub why: String,
}

impl From<Corrupt> for Broken {
    fn from(corrupt: Corrupt) -> Self {
        Self { run: corrupt.run, seq: corrupt.seq, why: corrupt.why }
    }
}

/// Proves the store of `home` without changing anything.
///
/// # Errors
/// [`OpenError`] when the store cannot be opened or read at all.
pub fn verify(home: &Path) -> Result<VerifyReport, OpenError> {
    let mut reader = Reader::open(home)?;
    reader.read(|view| view.verify()).map_err(|error| crate::reader::advise(home, error))
}

impl View<'_> {
    /// Proves all that this view sees.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read at all.
    pub fn verify(&self) -> Result<VerifyReport, StoreError> {
        let mut report = VerifyReport::default();
        self.verify_home(&mut report)?;
        for proved in [self.prove_tail(), self.prove_blobs()] {
            if let Err(error) = proved {
                report.broken.push(broken(error)?);
            }
        }
        let mut filter = ListFilter { limit: PAGE, ..ListFilter::default() };
        loop {
            let page = self.list(&filter)?;
            for listed in page.runs {
                report.runs += 1;
                let proved = listed.map_err(StoreError::from).and_then(|row| self.prove(&row));
                match proved {
                    Ok(events) => report.events += events,
                    Err(error) => report.broken.push(broken(error)?),
                }
            }
            match page.next {
                Some(seq) => filter.before = Some(seq),
                None => break,
            }
        }
        for run in self.lone_logs()? {
            let why = "its log is there, its row is not".to_owned();
            report.broken.push(Broken { run: RunId::new(run).ok(), seq: None, why });
        }
        Ok(report)
    }

    fn verify_home(&self, report: &mut VerifyReport) -> Result<(), StoreError> {
        let proved = self.home_events().and_then(|events| {
            let mut home = tidegate_core::home::Home::default();
            for event in &events {
                home.apply(event);
            }
            let rows = self.projects()?;
            if home.projects.into_iter().ne(rows) {
                return Err(mismatch(None, "the rows of the projects are not what its log makes"));
            }
            if home.pauses != self.pauses()? {
                return Err(mismatch(None, "the rows of the pauses are not what its log makes"));
            }
            if home.deleted != self.deleted_runs()? {
                return Err(mismatch(None, "the rows of deleted runs are not what its log makes"));
            }
            Ok(events.len() as u64)
        });
        match proved {
            Ok(events) => report.events += events,
            Err(error) => report.broken.push(broken(error)?),
        }
        Ok(())
    }

    /// The counters of the home's row are those of the newest event.
    fn prove_tail(&self) -> Result<(), StoreError> {
        if self.tail_is_newest()? {
            return Ok(());
        }
        Err(mismatch(None, "the home's row does not name the newest event"))
    }

    /// Pinned bytes are those that their addresses name.
    fn prove_blobs(&self) -> Result<(), StoreError> {
        match self.first_wrong_blob()? {
            None => Ok(()),
            Some(id) => Err(mismatch(None, &format!("the bytes of blob {id} are others"))),
        }
    }

    /// Proves one run; says how many events it has.
    fn prove(&self, found: &RunRow) -> Result<u64, StoreError> {
        let id = &found.id;
        let links = self.links(id)?;
        let events = self.replay(id)?;
        let Some(run) = Run::replay(&events) else {
            return Err(mismatch(Some(id), "its log does not begin with its submit"));
        };
        let Some(last) = links.last() else {
            return Err(mismatch(Some(id), "it has no log"));
        };
        let marks = Marks {
            claimed_at: claimed_at(&events),
            updated_at: tidegate_core::time::WallMs(last.at),
            last_seq: last.seq,
        };
        let made = RunRow::of(&run, marks);
        if made != *found {
            return Err(mismatch(Some(id), &difference(&made, found)));
        }
        if row::features_of(&run) != self.features(id)? {
            return Err(mismatch(Some(id), "the rows of its features are not what its log makes"));
        }
        if row::jobs_of(&run) != self.jobs(id)? {
            return Err(mismatch(Some(id), "the rows of its jobs are not what its log makes"));
        }
        if row::agents_of(&run) != self.agents(id)? {
            return Err(mismatch(Some(id), "the rows of its agents are not what its log makes"));
        }
        if row::questions_of(&run) != self.questions(id)? {
            return Err(mismatch(Some(id), "the rows of its questions are not what its log makes"));
        }
        if row::messages_of(&run) != self.messages(id)? {
            return Err(mismatch(Some(id), "the rows of its messages are not what its log makes"));
        }
        let open: BTreeSet<String> = self.outbox(id)?.into_iter().map(|row| row.key.0).collect();
        let asked: BTreeSet<String> = run.outstanding().into_keys().map(|key| key.0).collect();
        if open != asked {
            return Err(mismatch(
                Some(id),
                "its open effects are not those that its state asks for",
            ));
        }
        Ok(links.len() as u64)
    }
}

/// A thing that does not fit stays in the report; a store that cannot be read ends the proof.
fn broken(error: StoreError) -> Result<Broken, StoreError> {
    match error {
        StoreError::Corrupt(corrupt) => Ok(corrupt.into()),
        StoreError::Fenced
        | StoreError::Full
        | StoreError::Busy
        | StoreError::Io { .. }
        | StoreError::File { .. }
        | StoreError::Damaged { .. }
        | StoreError::Refused { .. }
        | StoreError::WrongBlob(_)
        | StoreError::Aborted => Err(error),
    }
}

fn mismatch(run: Option<&RunId>, why: &str) -> StoreError {
    Corrupt { run: run.cloned(), seq: None, why: why.to_owned() }.into()
}

/// Names the first part of a run's row that differs.
fn difference(made: &RunRow, found: &RunRow) -> String {
    let parts = [
        ("status", made.status == found.status),
        ("queue", made.queue == found.queue),
        ("disposition", made.disposition == found.disposition),
        ("recovery", made.recovery == found.recovery),
        ("work", made.work == found.work),
        ("active wave", made.active_wave == found.active_wave),
        ("newest event", made.last_seq == found.last_seq),
    ];
    let part = parts.iter().find(|(_, same)| !same).map_or("some field", |(name, _)| name);
    format!("{part} of its row is not what its log makes")
}
