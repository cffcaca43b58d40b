//! What a person looks at before a consent: the difference to the target as it is now, what the gates
//! and a reviewer said, and the token. It changes nothing, in the home or in the repository.

use std::path::Path;
use std::sync::Arc;

use tidegate_core::ids::{FeatureId, Oid, RunId};
use tidegate_core::run::{Feature, Finding, Run, awaits_person};
use tidegate_git::{Git, GitError, Merges, Preview, PreviewFile, Repo};
use tidegate_protocol::{
    DiffFile, DiffStats, ErrorCode, EventView, FindingDoc, Problem, ReviewDoc, VerdictDoc,
};
use tidegate_store::EventFilter;

use super::attention::in_words;
use super::event_view::event_view;
use super::evidence::evidence;
use super::viewer::Viewer;
use crate::adapters::HelperExec;
use crate::approval::{Claimed, Key, Review};

/// Events of a feature that are looked at for a verdict.
const EVENTS_MAX: u32 = 100_000;

impl Viewer {
    /// What a person looks at before a consent to a feature. A token is given to the user alone.
    ///
    /// # Errors
    /// As [`Viewer::resolve`]; `invalid_status_transition` while there is no commit to look at;
    /// `not_found`, `io`.
    pub fn review(
        &mut self,
        prefix: &str,
        feature: &str,
        for_user: bool,
    ) -> Result<ReviewDoc, Problem> {
        let run = self.derived(prefix)?;
        let id = FeatureId::new(feature).map_err(|why| Problem::invalid_input(why.to_string()))?;
        let missing = || Problem::not_found(format!("run {} has no feature `{id}`", run.id));
        let (spec, plan) = run.plan().ok_or_else(missing)?;
        let found = plan.features.get(&id).ok_or_else(missing)?;
        let early = || {
            let word = found.state.word();
            let message = format!("`{id}` is {word} and has no commit to look at yet");
            Problem::new(ErrorCode::InvalidStatusTransition, message)
        };
        let commit = found.tested.as_ref().map(|tested| tested.commit.clone()).ok_or_else(early)?;
        let awaits = !run.status.is_terminal()
            && run.status.cancel().is_none()
            && awaits_person(spec, found);
        let token = if awaits && for_user {
            self.token(&run.id, &id, &spec.target, found, &commit)?
        } else {
            None
        };
        let (target_commit, preview) = self.preview(&run, &spec.target, &commit)?;
        let mut document = ReviewDoc {
            run_id: run.id.to_string(),
            feature: id.to_string(),
            state: found.state.word().to_owned(),
            awaits_person: awaits,
            commit: commit.to_string(),
            base: found.base.as_ref().map(ToString::to_string),
            target: spec.target.clone(),
            target_commit: target_commit.map(|commit| commit.to_string()),
            merges_cleanly: None,
            conflicts: Vec::new(),
            compared_with: "target".to_owned(),
            stats: DiffStats::default(),
            files: Vec::new(),
            diff: String::new(),
            diff_cut: false,
            evidence: evidence(&run, &id, &self.paths),
            findings: found.findings().iter().map(finding_doc).collect(),
            verdict: self.verdict(&run.id, &id)?,
            blocked: found.state.block().map(in_words),
            token,
        };
        if let Some(preview) = preview {
            show(&mut document, &preview);
        }
        Ok(document)
    }

    /// The commit and the review that a token proves, for the feature that it is used for.
    ///
    /// # Errors
    /// `user_approval_required` when it is none of this home for this feature; as [`Viewer::resolve`].
    pub fn proved_token(
        &mut self,
        run: &RunId,
        feature: &FeatureId,
        token: &str,
    ) -> Result<(Oid, u32), Problem> {
        let found = self.derived(run.as_str())?;
        let missing = || Problem::not_found(format!("run {run} has no feature `{feature}`"));
        let (spec, plan) = found.plan().ok_or_else(missing)?;
        plan.features.get(feature).ok_or_else(missing)?;
        let forged = || {
            let message = format!("the token is none of this home for `{feature}` of run {run}");
            Problem::new(ErrorCode::UserApprovalRequired, message)
                .hint(format!("`tidegate review {run}/{feature}` shows the one that counts"))
        };
        let claimed = Claimed::parse(token).ok_or_else(forged)?;
        let key = self.approval_key()?.ok_or_else(forged)?;
        let review = Review {
            generation: self.generation()?,
            run,
            feature,
            target: &spec.target,
            number: claimed.number,
            commit: &claimed.commit,
        };
        if !key.proves(review, &claimed.mac) {
            return Err(forged());
        }
        Ok((claimed.commit, claimed.number))
    }

    fn token(
        &mut self,
        run: &RunId,
        feature: &FeatureId,
        target: &str,
        found: &Feature,
        commit: &Oid,
    ) -> Result<Option<String>, Problem> {
        let Some(key) = self.approval_key()? else { return Ok(None) };
        let generation = self.generation()?;
        let number = found.reviews;
        Ok(Some(key.token(Review { generation, run, feature, target, number, commit })))
    }

    fn approval_key(&self) -> Result<Option<Key>, Problem> {
        Key::read(self.paths.root()).map_err(|error| {
            Problem::new(ErrorCode::Io, format!("read the secret of the home: {error}"))
        })
    }

    fn generation(&mut self) -> Result<u64, Problem> {
        Ok(self.ask(|view| view.home_row())?.map_or(0, |row| row.token.generation))
    }

    /// The target's commit, and what landing on it would change; none when either is gone.
    fn preview(
        &mut self,
        run: &Run,
        target: &str,
        commit: &Oid,
    ) -> Result<(Option<Oid>, Option<Preview>), Problem> {
        let projects = self.ask(|view| view.projects())?.unwrap_or_default();
        let place = projects.into_iter().find(|(id, _)| *id == run.queue.project);
        let Some((_, place)) = place else { return Ok((None, None)) };
        let git = Git::new(Arc::new(HelperExec));
        let look = || {
            let repo = Repo::open(&git, Path::new(&place.common_dir))?;
            let tip = repo.resolve(target)?;
            let there = repo.resolve(commit.as_str())?.is_some();
            let Some(tip) = tip.filter(|_| there) else { return Ok((None, None)) };
            let preview = repo.preview(&tip, commit)?;
            Ok((Some(tip), Some(preview)))
        };
        look().map_err(|error: GitError| {
            Problem::new(ErrorCode::Io, format!("look at the repository: {error}"))
        })
    }

    /// What a reviewer agent said of the newest commit.
    fn verdict(&mut self, run: &RunId, feature: &FeatureId) -> Result<Option<VerdictDoc>, Problem> {
        let filter = EventFilter {
            run: Some(run.clone()),
            feature: Some(feature.clone()),
            kinds: vec!["committed".to_owned(), "reviewed".to_owned()],
            ..EventFilter::default()
        };
        let rows = self.ask(|view| view.events_after(0, &filter, EVENTS_MAX))?.unwrap_or_default();
        let last = rows.into_iter().next_back().filter(|row| row.kind == "reviewed");
        let Some(event) = last.map(event_view).transpose()? else { return Ok(None) };
        Ok(Some(verdict_doc(&event)))
    }
}

fn verdict_doc(event: &EventView) -> VerdictDoc {
    let text = |key: &str| {
        let value = event.body.get(key).and_then(serde_json::Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    VerdictDoc {
        approved: event.body.get("approved").and_then(serde_json::Value::as_bool) == Some(true),
        comments: text("comments"),
        job_id: text("job"),
        at: event.recorded_at.clone(),
    }
}

fn show(document: &mut ReviewDoc, preview: &Preview) {
    match &preview.merges {
        Merges::Cleanly => document.merges_cleanly = Some(true),
        Merges::WithConflicts(paths) => {
            document.merges_cleanly = Some(false);
            document.conflicts = paths.iter().map(|path| lossy(path)).collect();
            "base".clone_into(&mut document.compared_with);
        }
        Merges::Unrelated => document.merges_cleanly = Some(false),
    }
    let sum = |count: fn(&PreviewFile) -> Option<u64>| preview.files.iter().filter_map(count).sum();
    document.stats = DiffStats {
        files: preview.files.len() as u64,
        added: sum(|file| file.added),
        removed: sum(|file| file.removed),
    };
    document.files = preview.files.iter().map(file_doc).collect();
    document.diff = String::from_utf8_lossy(&preview.patch).into_owned();
    document.diff_cut = preview.is_cut;
}

fn file_doc(file: &PreviewFile) -> DiffFile {
    DiffFile {
        path: lossy(&file.path),
        was: file.was.as_deref().map(lossy),
        status: file.status.to_string(),
        added: file.added,
        removed: file.removed,
    }
}

fn finding_doc(finding: &Finding) -> FindingDoc {
    FindingDoc {
        kind: finding.kind.clone(),
        path: finding.path.clone(),
        line: finding.line,
        excerpt: finding.excerpt.clone(),
        stops: finding.stops,
    }
}

fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
