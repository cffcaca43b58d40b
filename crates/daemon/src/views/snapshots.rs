//! The snapshots of a run's worktrees, and their files written to a folder outside of the home. It
//! changes nothing in the home or in a repository, and needs no daemon.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_core::ids::RunId;
use tidegate_git::{Contents, Git, GitError, ListedSnapshot, Vault};
use tidegate_protocol::{
    ErrorCode, LeftOutDoc, Problem, RestoredDoc, SnapshotDoc, SnapshotList, Timestamp,
};

use super::place::text;
use super::viewer::Viewer;
use crate::adapters::HelperExec;

impl Viewer {
    /// The snapshots of a run, or of one of its features.
    ///
    /// # Errors
    /// As [`Viewer::run`]; what git gives.
    pub fn snapshots(
        &mut self,
        prefix: &str,
        feature: Option<&str>,
    ) -> Result<SnapshotList, Problem> {
        let (run, dir, vault) = self.vault(prefix)?;
        let series =
            feature.map_or_else(|| format!("{run}/"), |feature| format!("{run}/{feature}"));
        let all = match &vault {
            Some(vault) => vault.list(&series).map_err(|error| git_problem(&error))?,
            None => Vec::new(),
        };
        Ok(SnapshotList {
            run_id: run.to_string(),
            repository: text(&dir),
            snapshots: all.iter().map(document).collect(),
        })
    }

    /// Writes the files of a snapshot, the newest when no number is given, to a folder that is
    /// empty or not there yet.
    ///
    /// # Errors
    /// As [`Viewer::run`]; `not_found`; what git gives.
    pub fn restore_files(
        &mut self,
        prefix: &str,
        feature: &str,
        number: Option<u32>,
        to: &Path,
    ) -> Result<RestoredDoc, Problem> {
        let (run, _, vault) = self.vault(prefix)?;
        let none = || {
            Problem::not_found(format!("{run} has no snapshot of {feature}"))
                .hint(format!("`tidegate restore {run} --list` shows those that there are"))
        };
        let vault = vault.ok_or_else(none)?;
        let series = format!("{run}/{feature}");
        let found = vault.find_snapshot(&series, number).map_err(|error| {
            if matches!(error, GitError::Missing { .. }) { none() } else { git_problem(&error) }
        })?;
        let contents = vault.restore_files(&found, to).map_err(|error| git_problem(&error))?;
        Ok(restored(&run, feature, found.number, to, &contents))
    }

    /// The repository of snapshots of a run's project, and where it would be.
    fn vault(&mut self, prefix: &str) -> Result<(RunId, PathBuf, Option<Vault>), Problem> {
        let document = self.run(prefix)?;
        let run = RunId::new(document.run_id.as_str())
            .map_err(|error| Problem::internal(error.to_string()))?;
        let project = document.project;
        let dir = self.paths.root().join("snapshots").join(format!("{project}.git"));
        let projects = self.projects()?.projects;
        let source = projects.into_iter().find(|known| known.id == project);
        // Without its repository a snapshot can be listed, and what it borrows is missing.
        let source = source.map(|known| known.common_dir).unwrap_or_default();
        let vault = Vault::find(&Git::new(Arc::new(HelperExec)), &dir, Path::new(&source));
        Ok((run, dir, vault))
    }
}

fn document(listed: &ListedSnapshot) -> SnapshotDoc {
    let feature = listed.series.rsplit('/').next().unwrap_or_default();
    SnapshotDoc {
        feature: feature.to_owned(),
        number: listed.number,
        taken_at: Timestamp::from_ms(u64::try_from(listed.when_unix_s).unwrap_or(0) * 1000),
        reason: listed.reason.clone(),
        commit: listed.commit.to_string(),
    }
}

fn restored(
    run: &RunId,
    feature: &str,
    number: u32,
    to: &Path,
    contents: &Contents,
) -> RestoredDoc {
    let left = contents
        .left_out
        .iter()
        .map(|left| LeftOutDoc { path: text(&left.path), why: left.why.word().to_owned() });
    RestoredDoc {
        run_id: run.to_string(),
        feature: feature.to_string(),
        number,
        to: text(to),
        head: contents.head.as_ref().map(ToString::to_string),
        branch: contents.branch.clone(),
        not_captured: left.collect(),
        not_captured_more: contents.left_out_more,
    }
}

fn git_problem(error: &GitError) -> Problem {
    let code = if matches!(error, GitError::Missing { .. }) {
        ErrorCode::NotFound
    } else if matches!(error, GitError::Refused { .. }) {
        ErrorCode::InvalidInput
    } else {
        ErrorCode::Io
    };
    Problem::new(code, error.to_string()).retryable(error.is_retryable())
}
