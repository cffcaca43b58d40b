//! All that a reader may ask of a home: opens the store read-only, looks, and answers in documents.

use std::path::Path;

use tidegate_core::ids::{FeatureId, RunId};
use tidegate_core::run::Run;
use tidegate_protocol::{
    AttentionDoc, DaemonDoc, ErrorCode, EventView, ExplainDoc, FeatureList, JobList, LaneList,
    Problem, ProjectDoc, ProjectList, RunDoc,
};
use tidegate_store::{EventFilter, OpenError, Reader, Resolved, StoreError, View};

use super::attention::attention;
use super::daemon_doc::{lock_document, name_supervisor};
use super::derive::{Derived, derive};
use super::event_view::event_view;
use super::explain::explain_run;
use super::explain_feature::explain_feature;
use super::feature_doc::features;
use super::job_doc::jobs;
use super::load::{Loaded, Queues, load};
use super::place::HomePaths;
use super::run_doc::{Facts, run_document};
use super::sight::Sight;
use super::trouble::{open_problem, store_problem};
use crate::clock;

/// Events of one run that `explain` looks at.
const EVENTS_MAX: u32 = 100_000;

/// A home open for reading. A home without a store is an empty one.
#[derive(Debug)]
pub struct Viewer {
    reader: Option<Reader>,
    pub(super) paths: HomePaths,
    home_id: String,
    daemon: DaemonDoc,
}

impl Viewer {
    /// Opens the home. Nothing of it is changed, and no daemon is asked or started.
    ///
    /// # Errors
    /// `store_needs_migration`, `store_newer`, `corrupt`, `io`.
    pub fn open(home: &Path) -> Result<Self, Problem> {
        let mut daemon = lock_document(home)?;
        let mut reader = match Reader::open(home) {
            Ok(reader) => Some(reader),
            Err(OpenError::NoStore { .. }) => None,
            Err(error) => return Err(open_problem(&error)),
        };
        let home_id = match &mut reader {
            Some(reader) => {
                let row = reader.read(|view| view.home_row());
                row.map_err(|error| store_problem(&error))?.home_id
            }
            None => String::new(),
        };
        name_supervisor(&mut daemon, Some(home_id.as_str()).filter(|id| !id.is_empty()));
        Ok(Self { reader, paths: HomePaths::new(home), home_id, daemon })
    }

    /// Looks at the daemon's lock again: for a home that is kept open from one question to the
    /// next.
    ///
    /// # Errors
    /// `io`.
    pub fn renew(&mut self) -> Result<(), Problem> {
        self.daemon = lock_document(self.paths.root())?;
        let home_id = Some(self.home_id.as_str()).filter(|id| !id.is_empty());
        name_supervisor(&mut self.daemon, home_id);
        Ok(())
    }

    /// The daemon of the home, as its lock told when the home was opened.
    pub fn daemon(&self) -> &DaemonDoc {
        &self.daemon
    }

    /// The run that the beginning of an id stands for.
    ///
    /// # Errors
    /// `not_found`, `ambiguous_id` with `details.candidates`.
    pub fn resolve(&mut self, prefix: &str) -> Result<RunId, Problem> {
        let missing = || Problem::not_found(format!("there is no run `{}`", prefix.escape_debug()));
        match self.ask(|view| view.resolve_prefix(prefix))?.unwrap_or(Resolved::None) {
            Resolved::One(id) => Ok(id),
            Resolved::None => Err(missing().hint("`tidegate list` shows the runs")),
            Resolved::Many(ids) => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                let message = format!("`{prefix}` is the beginning of several ids");
                Err(Problem::new(ErrorCode::AmbiguousId, message)
                    .hint(format!("one of {}", ids.join(", ")))
                    .with("candidates", ids))
            }
        }
    }

    /// The document of a run.
    ///
    /// # Errors
    /// As [`Viewer::resolve`]; `corrupt` when its records do not read back.
    pub fn run(&mut self, prefix: &str) -> Result<RunDoc, Problem> {
        let loaded = self.load(prefix)?;
        Ok(self.document(&loaded))
    }

    /// The features of a run in the order of its plan.
    ///
    /// # Errors
    /// As [`Viewer::run`].
    pub fn features(&mut self, prefix: &str) -> Result<FeatureList, Problem> {
        let loaded = self.load(prefix)?;
        let (_, derived) = self.look(&loaded);
        let run_id = loaded.recorded.run.id.to_string();
        Ok(FeatureList { run_id, features: features(&derived.run, &self.paths) })
    }

    /// The jobs of a run, oldest first.
    ///
    /// # Errors
    /// As [`Viewer::run`].
    pub fn jobs(&mut self, prefix: &str) -> Result<JobList, Problem> {
        let loaded = self.load(prefix)?;
        let (_, derived) = self.look(&loaded);
        Ok(jobs(&loaded.recorded.run, &derived, &self.paths))
    }

    /// Why a run, or one feature of it, is where it is.
    ///
    /// # Errors
    /// As [`Viewer::run`]; `not_found` when the run has no such feature.
    pub fn explain(&mut self, prefix: &str, feature: Option<&str>) -> Result<ExplainDoc, Problem> {
        let loaded = self.load(prefix)?;
        let feature = match feature {
            Some(text) => Some(
                FeatureId::new(text).map_err(|error| Problem::invalid_input(error.to_string()))?,
            ),
            None => None,
        };
        let filter = EventFilter {
            run: Some(loaded.recorded.run.id.clone()),
            feature: feature.clone(),
            kinds: Vec::new(),
            ..EventFilter::default()
        };
        let rows = self.ask(|view| view.events_after(0, &filter, EVENTS_MAX))?.unwrap_or_default();
        let events: Result<Vec<EventView>, Problem> = rows.into_iter().map(event_view).collect();
        let events = events?;
        let (sight, derived) = self.look(&loaded);
        let facts = self.facts(&loaded, &sight, &derived);
        match feature {
            Some(feature) => explain_feature(&facts, &feature, &events),
            None => Ok(explain_run(&facts, &events)),
        }
    }

    /// The registered repositories.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn projects(&mut self) -> Result<ProjectList, Problem> {
        let rows = self.ask(|view| view.projects())?.unwrap_or_default();
        let projects = rows.into_iter().map(|(id, place)| ProjectDoc {
            id: id.to_string(),
            root: place.root,
            common_dir: place.common_dir,
        });
        Ok(ProjectList { projects: projects.collect() })
    }

    /// The queues with runs that wait or run, and the pauses.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn lanes(&mut self) -> Result<LaneList, Problem> {
        let queues = self.ask(|view| Queues::read(&view))?.unwrap_or_default();
        Ok(queues.documents())
    }

    /// Asks the store; `None` when there is none.
    pub(super) fn ask<T>(
        &mut self,
        ask: impl Fn(View<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, Problem> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        reader.read(ask).map(Some).map_err(|error| store_problem(&error))
    }

    /// The run as it stands by what is seen now.
    pub(super) fn derived(&mut self, prefix: &str) -> Result<Run, Problem> {
        let loaded = self.load(prefix)?;
        Ok(self.look(&loaded).1.run)
    }

    /// The run as it stands by what is seen now, and what of it waits for a person.
    pub(super) fn run_and_attention(
        &mut self,
        prefix: &str,
    ) -> Result<(Run, Vec<AttentionDoc>), Problem> {
        let loaded = self.load(prefix)?;
        let (_, derived) = self.look(&loaded);
        let attention = attention(&derived);
        Ok((derived.run, attention))
    }

    /// The home's paths.
    pub(super) fn paths(&self) -> &HomePaths {
        &self.paths
    }

    fn load(&mut self, prefix: &str) -> Result<Loaded, Problem> {
        let id = self.resolve(prefix)?;
        let mut loaded = self.ask(|view| load(&view, &id))?.flatten();
        if let Some(loaded) = &mut loaded {
            self.tell_hold(loaded);
        }
        loaded.ok_or_else(|| Problem::not_found(format!("there is no run `{id}`")))
    }

    /// A home that is held up as a whole holds the queue of every run that waits.
    pub(super) fn tell_hold(&self, loaded: &mut Loaded) {
        if let Some(place) = &mut loaded.queue
            && let Some(why) = crate::repair::holding(self.paths.root())
        {
            place.held.get_or_insert(why);
        }
    }

    /// The document of what was loaded.
    pub(super) fn document(&self, loaded: &Loaded) -> RunDoc {
        let (sight, derived) = self.look(loaded);
        run_document(&self.facts(loaded, &sight, &derived))
    }

    fn look(&self, loaded: &Loaded) -> (Sight, Derived) {
        let run = &loaded.recorded.run;
        let sight = Sight::of(run, &self.paths, &self.home_id, clock::wall());
        let derived = derive(run, &sight);
        (sight, derived)
    }

    fn facts<'a>(
        &'a self,
        loaded: &'a Loaded,
        sight: &'a Sight,
        derived: &'a Derived,
    ) -> Facts<'a> {
        Facts {
            recorded: &loaded.recorded,
            derived,
            sight,
            daemon: &self.daemon,
            paths: &self.paths,
            queue: loaded.queue.as_ref(),
        }
    }
}
