//! Pages: of runs in the order of the first screen, of events, and the summary of a wave.

use tidegate_core::ids::{AdhocId, FeatureId, InvalidName, LaneName, ProjectId};
use tidegate_core::time::WallMs;
use tidegate_protocol::{CorruptDoc, EventPage, EventView, Problem, RunPage, RunStatus, WaveDoc};
use tidegate_store::{Corrupt, EventFilter, ListFilter, Listed, StoreError, View, WaveFilter};

use super::event_view::event_view;
use super::load::{Loaded, Queues, load_row, load_rows};
use super::order::sort_for_screen;
use super::trouble::corrupt_problem;
use super::viewer::Viewer;

/// Runs of a page when nothing else is asked.
pub const RUNS_PER_PAGE: u32 = 50;
/// Runs of a page at the most.
const RUNS_MAX: u32 = 500;
/// Events of a page when nothing else is asked.
pub const EVENTS_PER_PAGE: u32 = 200;
/// Events of a page at the most.
const EVENTS_MAX: u32 = 5_000;

/// Which runs are wanted. Texts as the user gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunQuery {
    /// Of this status.
    pub status: Option<RunStatus>,
    /// Of this project.
    pub project: Option<String>,
    /// Of this lane.
    pub lane: Option<String>,
    /// Of this ad-hoc queue.
    pub adhoc: Option<String>,
    /// With those that were deleted.
    pub all: bool,
    /// Runs per page.
    pub limit: Option<u32>,
    /// `next` of the page before.
    pub cursor: Option<String>,
}

/// Which wave is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaveQuery {
    /// Its number.
    pub wave: u32,
    /// In this project.
    pub project: Option<String>,
    /// In this lane.
    pub lane: Option<String>,
    /// In this ad-hoc queue.
    pub adhoc: Option<String>,
    /// With the records of this agent only.
    pub agent: Option<String>,
}

/// Which events are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Those behind this number.
    pub after: u64,
    /// Of this run: its id or the beginning of it.
    pub run: Option<String>,
    /// Of this feature of the run.
    pub feature: Option<String>,
    /// Of these kinds; all when empty.
    pub kinds: Vec<String>,
    /// Those recorded then or later, in milliseconds since the Unix epoch.
    pub since: Option<u64>,
    /// Those recorded before then, in milliseconds since the Unix epoch.
    pub until: Option<u64>,
    /// Events per page.
    pub limit: Option<u32>,
}

struct Found {
    runs: Vec<Result<Loaded, Corrupt>>,
    next: Option<u64>,
}

impl Viewer {
    /// A page of runs. The first page has every running run and the newest others; the following
    /// ones go back in time. Within a page: waits for a person, running, failed, the rest.
    ///
    /// # Errors
    /// `invalid_input` for a name, status or cursor that cannot be one.
    pub fn runs(&mut self, query: &RunQuery) -> Result<RunPage, Problem> {
        let filter = list_filter(query)?;
        let found = self.ask(|view| find(&view, &filter))?;
        let Found { runs, next } = found.unwrap_or(Found { runs: Vec::new(), next: None });
        let mut page = RunPage {
            runs: Vec::with_capacity(runs.len()),
            next: next.map(|seq| seq.to_string()),
            corrupt: Vec::new(),
        };
        for run in runs {
            match run {
                Ok(mut loaded) => {
                    self.tell_hold(&mut loaded);
                    page.runs.push(self.document(&loaded));
                }
                Err(corrupt) => page.corrupt.push(CorruptDoc {
                    run_id: corrupt.run.as_ref().map(ToString::to_string),
                    message: corrupt.to_string(),
                }),
            }
        }
        sort_for_screen(&mut page.runs);
        Ok(page)
    }

    /// The most relevant run of a wave, in short; `None` when the wave has no run.
    ///
    /// # Errors
    /// `invalid_input` for a name that cannot be one; `corrupt`.
    pub fn wave(&mut self, query: &WaveQuery) -> Result<Option<WaveDoc>, Problem> {
        let filter = WaveFilter {
            wave: query.wave,
            project: parsed(query.project.as_deref(), ProjectId::new)?,
            lane: parsed(query.lane.as_deref(), LaneName::new)?,
            adhoc: parsed(query.adhoc.as_deref(), AdhocId::new)?,
        };
        let found = self.ask(|view| match view.wave_summary(&filter)? {
            None => Ok(None),
            Some(Err(corrupt)) => Ok(Some(Err(corrupt))),
            Some(Ok(row)) => Ok(load_row(&view, &row, None)?.map(Ok)),
        })?;
        let Some(run) = found.flatten() else { return Ok(None) };
        let loaded = run.map_err(|corrupt| corrupt_problem(&corrupt))?;
        let mut wave = WaveDoc::from(self.document(&loaded));
        if let Some(agent) = &query.agent {
            wave.agent_runtime_summary.retain(|doc| doc.agent_id == *agent);
        }
        Ok(Some(wave))
    }

    /// A page of events, oldest first.
    ///
    /// # Errors
    /// As [`Viewer::resolve`] for a run; `invalid_input` for a feature that cannot be one.
    pub fn events(&mut self, query: &EventQuery) -> Result<EventPage, Problem> {
        let filter = self.event_filter(query)?;
        self.events_after(query.after, &filter, query.limit.unwrap_or(EVENTS_PER_PAGE))
    }

    /// The filter of a query, its run resolved.
    ///
    /// # Errors
    /// As [`Viewer::events`].
    pub fn event_filter(&mut self, query: &EventQuery) -> Result<EventFilter, Problem> {
        let feature = parsed(query.feature.as_deref(), FeatureId::new)?;
        if feature.is_some() && query.run.is_none() {
            return Err(Problem::invalid_input("a feature is one of a run: name the run as well"));
        }
        let run = match &query.run {
            Some(prefix) => Some(self.resolve(prefix)?),
            None => None,
        };
        let (since, until) = (query.since.map(WallMs), query.until.map(WallMs));
        Ok(EventFilter { run, feature, kinds: query.kinds.clone(), since, until })
    }

    /// A page of events by a filter that was made before.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn events_after(
        &mut self,
        after: u64,
        filter: &EventFilter,
        limit: u32,
    ) -> Result<EventPage, Problem> {
        let limit = limit.clamp(1, EVENTS_MAX);
        let rows = self.ask(|view| view.events_after(after, filter, limit))?.unwrap_or_default();
        let full = rows.len() == usize::try_from(limit).unwrap_or(usize::MAX);
        let next = rows.last().filter(|_| full).map(|row| row.seq);
        let events: Result<Vec<EventView>, Problem> = rows.into_iter().map(event_view).collect();
        Ok(EventPage { events: events?, next })
    }

    /// The number of the newest event; 0 when there is none.
    ///
    /// # Errors
    /// `io`.
    pub fn last_seq(&mut self) -> Result<u64, Problem> {
        Ok(self.ask(|view| view.last_seq())?.unwrap_or(0))
    }
}

fn list_filter(query: &RunQuery) -> Result<ListFilter, Problem> {
    let before = match &query.cursor {
        None => None,
        Some(cursor) => Some(
            cursor
                .parse()
                .map_err(|_| Problem::invalid_input("`cursor` is not the `next` of a page"))?,
        ),
    };
    Ok(ListFilter {
        status: query.status.map(store_status),
        project: parsed(query.project.as_deref(), ProjectId::new)?,
        lane: parsed(query.lane.as_deref(), LaneName::new)?,
        adhoc: parsed(query.adhoc.as_deref(), AdhocId::new)?,
        wave: None,
        undeleted: !query.all,
        before,
        limit: query.limit.unwrap_or(RUNS_PER_PAGE).clamp(1, RUNS_MAX),
    })
}

fn store_status(status: RunStatus) -> tidegate_store::RunStatus {
    match status {
        RunStatus::Pending => tidegate_store::RunStatus::Pending,
        RunStatus::Running => tidegate_store::RunStatus::Running,
        RunStatus::Completed => tidegate_store::RunStatus::Completed,
        RunStatus::Failed => tidegate_store::RunStatus::Failed,
        RunStatus::Cancelled => tidegate_store::RunStatus::Cancelled,
    }
}

fn parsed<T>(
    text: Option<&str>,
    parse: impl Fn(String) -> Result<T, InvalidName>,
) -> Result<Option<T>, Problem> {
    let parsed = text.map(|text| parse(text.to_owned())).transpose();
    parsed.map_err(|error| Problem::invalid_input(error.to_string()))
}

fn find(view: &View<'_>, filter: &ListFilter) -> Result<Found, StoreError> {
    let page = view.list(filter)?;
    let mut rows = page.runs;
    let any_status = filter.status.is_none();
    if any_status && filter.before.is_none() {
        let all = ListFilter {
            status: Some(tidegate_store::RunStatus::Running),
            limit: u32::MAX - 1,
            ..filter.clone()
        };
        rows.retain(|row| !is_running(row));
        rows.extend(view.list(&all)?.runs);
    } else if any_status {
        rows.retain(|row| !is_running(row));
    }
    let any_waits = rows.iter().flatten().any(|row| row.status.as_str() == "pending");
    let queues = if any_waits { Queues::read(view)? } else { Queues::default() };
    Ok(Found { runs: load_rows(view, rows, &queues)?, next: page.next })
}

fn is_running(row: &Listed) -> bool {
    row.as_ref().is_ok_and(|row| row.status == tidegate_store::RunStatus::Running)
}
