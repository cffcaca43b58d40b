//! What is kept beside runs: pinned bytes, open effects, marks.

use std::collections::BTreeMap;

use tidegate_core::home::Place;
use tidegate_core::ids::{BlobId, FeatureId, Oid, ProjectId, RunId};
use tidegate_core::run::EffectKey;
use tidegate_core::time::WallMs;

use super::{View, corrupt, parse, parse_optional};
use crate::chain;
use crate::error::{Corrupt, StoreError};

/// An effect that the state asks for and nobody has confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Names it within its run.
    pub key: EffectKey,
    /// The event that opened it.
    pub opened_seq: u64,
    /// When that was, on the wall clock.
    pub opened_at: WallMs,
}

/// A feature that landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandedRow {
    /// Its run.
    pub run: RunId,
    /// The feature.
    pub feature: FeatureId,
    /// The commit on the target; `None` when there was nothing to change.
    pub commit: Option<Oid>,
}

/// A run whose records do not read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedRow {
    /// The run.
    pub run: RunId,
    /// What does not fit.
    pub why: String,
    /// When that was found, on the wall clock.
    pub at: WallMs,
}

impl View<'_> {
    /// Pinned bytes; `None` when there are none under this address.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the bytes are not those that the address names.
    pub fn blob(&self, id: &BlobId) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT bytes FROM blobs WHERE id = ?1";
        let found: Option<Vec<u8>> =
            self.row(sql, [id.as_str()], "read pinned bytes", |row| row.get(0))?;
        match found {
            Some(bytes) if chain::address(&bytes) != id.as_str() => {
                Err(corrupt(None, &format!("the bytes of blob {id} are others")).into())
            }
            found => Ok(found),
        }
    }

    /// The first address whose bytes are others.
    pub(crate) fn first_wrong_blob(&self) -> Result<Option<String>, StoreError> {
        use crate::error::Doing as _;
        const DOING: &str = "read pinned bytes";
        let mut statement =
            self.conn.prepare_cached("SELECT id, bytes FROM blobs ORDER BY id").doing(DOING)?;
        let mut rows = statement.query([]).doing(DOING)?;
        while let Some(row) = rows.next().doing(DOING)? {
            let id: String = row.get(0).doing(DOING)?;
            let bytes = row.get_ref(1).doing(DOING)?;
            if bytes.as_blob().is_ok_and(|bytes| chain::address(bytes) == id) {
                continue;
            }
            return Ok(Some(id));
        }
        Ok(None)
    }

    /// The open effects of a run, by key.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn outbox(&self, run: &RunId) -> Result<Vec<OutboxRow>, StoreError> {
        self.rows(
            "SELECT key, opened_seq, opened_at FROM outbox
             WHERE run = (SELECT seq FROM runs WHERE id = ?1) ORDER BY key",
            [run.as_str()],
            "read the open effects of a run",
            |row| {
                Ok(OutboxRow {
                    key: EffectKey(row.get(0)?),
                    opened_seq: row.get(1)?,
                    opened_at: WallMs(row.get(2)?),
                })
            },
        )
    }

    /// The runs that were deleted, each with the number of the clean-up that did it.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn deleted_runs(&self) -> Result<BTreeMap<RunId, u64>, StoreError> {
        let rows: Vec<(String, u64)> = self.rows(
            "SELECT run, cleanup FROM deleted_runs ORDER BY run",
            [],
            "read the deleted runs",
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let understand = |(run, cleanup)| match parse("run", run) {
            Ok(run) => Ok((run, cleanup)),
            Err(error) => Err(corrupt(None, &error).into()),
        };
        rows.into_iter().map(understand).collect()
    }

    /// Whether a run was deleted.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn is_deleted(&self, run: &RunId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM deleted_runs WHERE run = ?1";
        let found: Option<u32> =
            self.row(sql, [run.as_str()], "look for a deleted run", |row| row.get(0))?;
        Ok(found.is_some())
    }

    /// The registered projects, by id.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn projects(&self) -> Result<Vec<(ProjectId, Place)>, StoreError> {
        let rows = self.rows(
            "SELECT id, root, common_dir FROM projects ORDER BY id",
            [],
            "read the projects",
            |row| Ok((row.get(0)?, Place { root: row.get(1)?, common_dir: row.get(2)? })),
        )?;
        let understand = |(id, place)| match parse("id", id) {
            Ok(id) => Ok((id, place)),
            Err(error) => Err(corrupt(None, &error).into()),
        };
        rows.into_iter().map(understand).collect()
    }

    /// The features of a plan that landed in earlier runs of it, oldest run first.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn landed(&self, project: &ProjectId, path: &str) -> Result<Vec<LandedRow>, StoreError> {
        let rows: Vec<(String, String, Option<String>)> = self.rows(
            "SELECT runs.id, features.feature, features.landed_commit
             FROM runs JOIN features ON features.run = runs.seq
             WHERE runs.project = ?1 AND runs.plan_path = ?2 AND features.word = 'landed'
             ORDER BY runs.seq, features.feature",
            [project.as_str(), path],
            "read what landed of a plan",
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let understand = |(run, feature, commit)| {
            let row = || {
                Ok(LandedRow {
                    run: parse("id", run)?,
                    feature: parse("feature", feature)?,
                    commit: parse_optional("landed_commit", commit)?,
                })
            };
            row().map_err(|error: crate::codec::json::Malformed| corrupt(None, &error))
        };
        let rows: Result<_, Corrupt> = rows.into_iter().map(understand).collect();
        Ok(rows?)
    }

    /// The newest run of a project that has a feature of this name.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when its id does not read back.
    pub fn newest_run_with(
        &self,
        project: &ProjectId,
        feature: &FeatureId,
    ) -> Result<Option<RunId>, StoreError> {
        let found: Option<String> = self.row(
            "SELECT runs.id FROM runs JOIN features ON features.run = runs.seq
             WHERE runs.project = ?1 AND features.feature = ?2 ORDER BY runs.seq DESC LIMIT 1",
            [project.as_str(), feature.as_str()],
            "look for the newest run of a feature",
            |row| row.get(0),
        )?;
        let found = found.map(|run| parse("id", run)).transpose();
        Ok(found.map_err(|error| corrupt(None, &error))?)
    }

    /// The runs that were marked as corrupt.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a mark does not read back.
    pub fn quarantined(&self) -> Result<Vec<QuarantinedRow>, StoreError> {
        let rows: Vec<(String, String, u64)> = self.rows(
            "SELECT run, why, at FROM quarantined ORDER BY run",
            [],
            "read the marks of corrupt runs",
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let understand = |(run, why, at)| match parse("run", run) {
            Ok(run) => Ok(QuarantinedRow { run, why, at: WallMs(at) }),
            Err(error) => Err(corrupt(None, &error).into()),
        };
        rows.into_iter().map(understand).collect()
    }
}
