//! What a gate promised to leave: the way is cleared for it before the gate, and it is read after.
//!
//! A report counts when this run of the gate wrote it: what lay there before is removed, and what a
//! gate fetched from elsewhere is told by its time. Nothing outside of the checkout is touched.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tidegate_core::evidence::{Evidence, Measure, Promises};
use tidegate_core::exit::Exit;
use tidegate_core::ids::{JobId, Oid};
use tidegate_core::run::{FeatureState, LandStep, Phase, Purpose};
use tidegate_core::time::WallMs;
use tidegate_evidence::threshold::{ChangedLines, PathRule};
use tidegate_evidence::{Expected, Left, REPORT_BYTES_MAX, Supplied, Unusable, evidence, usable};
use tidegate_git::{GitError, Repo};
use tidegate_process::JobDir;

use super::context::text;
use super::jobs::{Entry, Jobs};
use super::launch::end_of_output;

/// Files that the patterns of one gate may match.
const FILES_MAX: usize = 10_000;
/// Folders below a checkout that are looked into for one pattern.
const DEPTH_MAX: usize = 32;
/// The end of an output that tells one failure from another, in bytes.
const OUTPUT_BYTES: usize = 64 * 1024;
/// The record in a job directory that is written just before the job begins.
const STAMP: &str = tidegate_process::jobdir::SPEC;

/// Removes what earlier runs left where the gate is to leave something.
///
/// # Errors
/// What the file system refuses.
pub(super) fn clear(root: &Path, promises: &Promises) -> io::Result<()> {
    for pattern in patterns(promises) {
        for path in matches(root, pattern)? {
            fs::remove_file(root.join(&path))?;
        }
    }
    Ok(())
}

fn patterns(promises: &Promises) -> impl Iterator<Item = &str> {
    let coverage = promises.coverage.iter().map(|rule| rule.file.as_str());
    promises.reports.iter().map(String::as_str).chain(coverage)
}

/// The files below `root` that a pattern names, as paths below it, in order. Links are not followed.
fn matches(root: &Path, pattern: &str) -> io::Result<Vec<String>> {
    let rule = PathRule::new(pattern, Vec::new())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
    let fixed = pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{']));
    let parts: Vec<&str> = fixed.collect();
    let mut found = Vec::new();
    let whole = parts.len() == pattern.split('/').count();
    let start = parts.join("/");
    let inner = if whole { PathBuf::from(&start) } else { Path::new(&start).join("within") };
    if !leads_inside(root, &inner) {
        return Ok(found);
    }
    if whole {
        if root.join(&start).symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            found.push(start);
        }
        return Ok(found);
    }
    let mut open = vec![(start, 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let skipped = path == ".git" || depth >= DEPTH_MAX;
                open.extend((!skipped).then_some((path, depth + 1)));
            } else if rule.matches(&path) && found.len() < FILES_MAX {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether the folders that lead to `path` are folders of the checkout, and no links out of it.
fn leads_inside(root: &Path, path: &Path) -> bool {
    let Some(parent) = path.parent() else { return true };
    let mut at = root.to_owned();
    parent.components().all(|part| {
        at.push(part);
        at.symlink_metadata().map_or(true, |meta| meta.is_dir())
    })
}

/// A file that a gate left, when this run of it did.
fn read(root: &Path, path: &str, stamp: &fs::Metadata, tree: &Oid) -> Result<Vec<u8>, Unusable> {
    let file = root.join(path);
    let meta = file.symlink_metadata().map_err(|_| Unusable::Missing)?;
    if !meta.is_file() || !leads_inside(root, Path::new(path)) {
        return Err(Unusable::Missing);
    }
    // One byte more than is read tells a parser that it is too large.
    let bytes = io::Read::take(fs::File::open(&file).map_err(|_| Unusable::Missing)?, limit());
    let bytes = all(bytes).map_err(|_| Unusable::Missing)?;
    let started = stamp.mtime_ms();
    // A file cannot have come into being before the gate: where its own record says so, somebody
    // set the clock, and its times say nothing.
    let written = if meta.ctime_ms() < stamp.ctime_ms() { started } else { meta.mtime_ms() };
    let supplied = Supplied { bytes: &bytes, written: WallMs(written), tree };
    usable(Some(supplied), Expected { started: WallMs(started), tree })?;
    Ok(bytes)
}

fn limit() -> u64 {
    u64::try_from(REPORT_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1)
}

fn all(mut from: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Times of a file in milliseconds since the epoch.
trait Times {
    fn mtime_ms(&self) -> u64;
    fn ctime_ms(&self) -> u64;
}

impl Times for fs::Metadata {
    fn mtime_ms(&self) -> u64 {
        milliseconds(self.mtime(), self.mtime_nsec())
    }

    fn ctime_ms(&self) -> u64 {
        milliseconds(self.ctime(), self.ctime_nsec())
    }
}

fn milliseconds(seconds: i64, nanoseconds: i64) -> u64 {
    let parts = (u64::try_from(seconds), u64::try_from(nanoseconds));
    let (seconds, nanoseconds) = (parts.0.unwrap_or(0), parts.1.unwrap_or(0));
    let ms = Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds);
    u64::try_from(ms.as_millis()).unwrap_or(u64::MAX)
}

impl Jobs {
    /// What the gate left whose job has ended so. `None` where that says nothing on its commit.
    ///
    /// # Errors
    /// What may pass: then it is read again.
    pub(super) fn evidence(
        &self,
        id: &JobId,
        entry: &Entry,
        exit: &Exit,
    ) -> Result<Option<Box<Evidence>>, GitError> {
        let run = &entry.target.run;
        let Some(job) = run.jobs.get(id) else { return Ok(None) };
        let Purpose::Gate { gate, commit, phase, .. } = &job.purpose else { return Ok(None) };
        let spec = run.plan().and_then(|(spec, _)| spec.gates.get(gate));
        let Some(spec) = spec.filter(|_| exit.is_success() || exit.says_no()) else {
            return Ok(None);
        };
        match self.left(entry, &spec.promises, (commit, *phase), &job.purpose, exit) {
            Ok(found) => Ok(Some(Box::new(found))),
            Err(error) if error.is_retryable() => Err(error),
            Err(error) => {
                // What cannot be looked at does not pass.
                let problem = format!("what it left cannot be read: {error}");
                let problems = exit.is_success().then_some(problem).into_iter().collect();
                Ok(Some(Box::new(Evidence { problems, ..Evidence::default() })))
            }
        }
    }

    fn left(
        &self,
        entry: &Entry,
        promises: &Promises,
        (commit, phase): (&Oid, Phase),
        purpose: &Purpose,
        exit: &Exit,
    ) -> Result<Evidence, GitError> {
        let missing = |what: &dyn std::fmt::Display| GitError::Missing { what: what.to_string() };
        let dir = JobDir::open(&entry.dir).map_err(|error| missing(&error))?;
        let root = PathBuf::from(dir.read_spec().map_err(|error| missing(&error))?.cwd.as_os_str());
        let stamp = dir.file(STAMP);
        let stamp = stamp.metadata().map_err(|_| missing(&stamp.display()))?;
        let repo = self.repos.open(&entry.target)?;
        let moved = repo.moved_files(&root, commit)?;
        let own: Vec<&str> = patterns(promises).collect();
        let changed = moved.iter().map(|path| text(path)).filter(|path| !is_of(&own, path));
        let changed: Vec<String> = changed.collect();
        let read = |path: &str| read(&root, path, &stamp, commit);
        let mut reports = Vec::new();
        for pattern in &promises.reports {
            let found = matches(&root, pattern).map_err(|error| missing(&error))?;
            if found.is_empty() {
                reports.push((pattern.clone(), Err(Unusable::Missing)));
            }
            reports.extend(found.into_iter().map(|path| (path.clone(), read(&path))));
        }
        let coverage = promises.coverage.as_ref().map(|rule| read(&rule.file));
        let asked = promises.coverage.as_ref();
        let asked = asked.is_some_and(|rule| rule.least.contains_key(&Measure::ChangedLines));
        let written = if asked {
            written(&repo, entry, (commit, phase), purpose)?
        } else {
            ChangedLines::default()
        };
        let left = Left {
            reports: &reports,
            coverage: coverage.as_ref(),
            root: &text(&root),
            written: &written,
            changed: &changed,
            output: &end_of_output(&entry.dir, OUTPUT_BYTES),
            ended_well: exit.is_success(),
        };
        Ok(evidence(promises, left))
    }
}

/// The lines that the feature wrote, as they stand in the commit of the gate.
fn written(
    repo: &Repo,
    entry: &Entry,
    (commit, phase): (&Oid, Phase),
    purpose: &Purpose,
) -> Result<ChangedLines, GitError> {
    let missing = || GitError::Missing { what: "the feature of a gate".to_owned() };
    let (spec, plan) = entry.target.run.plan().ok_or_else(missing)?;
    let feature = purpose.feature().and_then(|id| plan.features.get(id)).ok_or_else(missing)?;
    let from = if let FeatureState::Landing(LandStep::Gates { merged, .. }) = &feature.state
        && phase == Phase::Merge
    {
        Some(merged.onto.clone())
    } else {
        let target = repo.resolve(&spec.target)?;
        target.map_or(Ok(None), |target| repo.merge_base(&target, commit))?
    };
    let from = from.or_else(|| feature.base.clone()).ok_or_else(missing)?;
    let mut written = ChangedLines::default();
    for file in repo.changed_files(&from, commit)? {
        if let Some(side) = &file.new {
            written.0.insert(text(&side.path), file.written_lines());
        }
    }
    Ok(written)
}

/// Whether a path is one of those that the gate is to write.
fn is_of(patterns: &[&str], path: &str) -> bool {
    let named = |pattern: &&str| PathRule::new(pattern, Vec::new()).is_ok_and(|r| r.matches(path));
    patterns.iter().any(named)
}
