//! What each request of a client does within a group: an answer, and what it stages.

use serde_json::{Value, json};
use tidegate_core::command::Awaits;
use tidegate_core::home::{HomeEvent, Place};
use tidegate_core::ids::{ProjectId, RunId};
use tidegate_core::run::{Event, Input, Rejected, Run, Status, Submitted, Work, step};
use tidegate_core::time::Now;
use tidegate_protocol::{ErrorCode, Problem};

use tidegate_store::{Savepoint, StoreError, blob_id};

use super::command::{Command, Submit};
use super::handle::Answer;
use super::live::Stage;
use super::repeat::what_is_left;

/// One input of a group at work: the stage that it reads, and the transaction that it writes to.
pub(super) struct AtWork<'s, 'l, 'w, 't> {
    pub(super) stage: &'s Stage<'l>,
    pub(super) write: &'w mut Savepoint<'t>,
    pub(super) now: Now,
}

/// Why an input changed nothing.
#[derive(Debug)]
pub(super) enum Failed {
    /// It was refused, for its sender.
    Refused(Problem),
    /// The store refused.
    Store(StoreError),
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What an input leads to, to be staged once its savepoint stands.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The answer's data.
    pub(super) data: Value,
    /// The run that it changed: as it was, and as it is.
    pub(super) moved: Option<(Option<Run>, Run)>,
    /// Facts of the home.
    pub(super) home: Vec<HomeEvent>,
    /// The run whose launcher's files are to be read.
    pub(super) nudge: Option<RunId>,
    /// What the end of its work hangs on; `None` when it is done, or handed over.
    pub(super) awaits: Option<Awaits>,
    /// The run that it is about, where it changed none.
    pub(super) about: Option<RunId>,
    /// Whether the run that it made is work in the background of its lane.
    pub(super) background: bool,
    /// What the end of a home's work means for the command that asked for it.
    pub(super) told: Option<(Awaits, Answer)>,
}

impl Outcome {
    /// What the end of its work hangs on.
    pub(super) fn until(self, awaits: Awaits) -> Self {
        Self { awaits: Some(awaits), ..self }
    }
}

impl AtWork<'_, '_, '_, '_> {
    /// Carries out `command`.
    pub(super) fn execute(&mut self, command: &Command) -> Result<Outcome, Failed> {
        match command {
            Command::Submit(submit) => self.submit(submit),
            Command::Launch(launch) => self.launch(launch),
            Command::ResumeFeature { place, lane, feature, actor } => {
                self.resume_feature(place, lane, feature, actor)
            }
            Command::Cancel { run, actor } => self.cancel(run, actor),
            Command::RetryFeature { run, feature, actor } => {
                let (feature, actor) = (feature.clone(), actor.clone());
                self.input(run, &Input::RetryFeature { feature, actor })
            }
            Command::RetryRun { run, actor } => self.retry_run(run, actor),
            Command::Approve { run, feature, commit, review, actor } => {
                self.approve(run, feature, commit, *review, actor)
            }
            Command::Hold { run, held, reason, actor } => {
                self.hold(run, *held, reason.as_deref(), actor)
            }
            Command::Prioritise { run, priority, actor } => self.prioritise(run, *priority, actor),
            Command::CleanUp { scope, actor } => self.clean_up(scope, actor),
            Command::RecordRemoval { number, removal } => self.record_removal(*number, removal),
            Command::EndCleanup { number, end } => self.end_cleanup(*number, end),
            Command::Restore { restoration, actor } => self.restore(restoration, actor),
            Command::EndRestore { number, failure } => self.end_restore(*number, failure.as_ref()),
            Command::PauseLanes { scope, reason, actor } => {
                self.pause_lanes(scope, reason.as_deref(), actor)
            }
            Command::ResumeLanes { scope, actor } => self.resume_lanes(scope, actor),
            Command::Rollback { run, feature, to, actor } => {
                let (feature, to, actor) = (feature.clone(), *to, actor.clone());
                let input = Input::Rollback { feature, to, actor };
                Ok(self.input(run, &input)?.until(Awaits::Rollback))
            }
            Command::Deny { run, feature, commit, actor, comments } => {
                self.deny(run, feature, commit, (actor, comments))
            }
            Command::Ask { job, text, choices, waits } => self.ask(job, (text, *waits), choices),
            Command::AnswerQuestion { question, answer, actor } => {
                self.answer_question(question, answer, actor)
            }
            Command::Send { run, feature, text, interrupts, actor } => {
                self.send((run, feature), (text, *interrupts), actor)
            }
            Command::Receive { job, messages, acted } => self.receive(job, messages, *acted),
            Command::StartAgent { run, agent, role, argv, terminal } => {
                let (agent, role, argv) = (agent.clone(), role.clone(), argv.clone());
                let mut outcome =
                    self.input(run, &Input::StartAgent { agent, role, argv, terminal: *terminal })?;
                let job = outcome.moved.as_ref().and_then(|(_, run)| run.jobs.keys().next_back());
                outcome.data = json!({ "jobId": job.map(ToString::to_string) });
                Ok(outcome)
            }
            Command::Nudge { run } => {
                self.find(run)?;
                let data = json!({ "runId": run.as_str() });
                Ok(Outcome { data, nudge: Some(run.clone()), ..Outcome::default() })
            }
            Command::RegisterProject { place } => {
                let mut outcome = Outcome::default();
                let project = self.register(place, &mut outcome)?;
                outcome.data = json!({ "project": project.as_str() });
                Ok(outcome)
            }
            Command::RemoveProject { project } => self.remove_project(project),
            Command::MoveProject { project, place } => self.move_project(project, place),
        }
    }

    pub(super) fn find(&self, id: &RunId) -> Result<Run, Failed> {
        if let Some(run) = self.stage.get(id) {
            return Ok(run.clone());
        }
        let run = self.write.view().rebuild(id)?;
        run.ok_or_else(|| not_found("run", id.as_str()).into())
    }

    pub(super) fn input(&mut self, id: &RunId, input: &Input) -> Result<Outcome, Failed> {
        let before = self.find(id)?;
        let after = step(&before, input, self.now).map_err(|refused| refusal(&refused, id))?;
        self.write.save(Some(&before), &after.run, &after.events, self.now.wall)?;
        let data = json!({ "runId": id.as_str(), "status": after.run.status.word() });
        Ok(Outcome { data, moved: Some((Some(before), after.run)), ..Outcome::default() })
    }

    fn cancel(&mut self, id: &RunId, actor: &str) -> Result<Outcome, Failed> {
        let run = self.find(id)?;
        if run.status.cancel().is_some() {
            let word = run.status.word();
            let data = json!({ "runId": id.as_str(), "status": word, "alreadyAsked": true });
            return Ok(Outcome { data, ..Outcome::default() }.until(Awaits::RunEnd));
        }
        let mut outcome = self.input(id, &Input::Cancel { actor: actor.to_owned() })?;
        outcome.data["alreadyAsked"] = Value::Bool(false);
        Ok(outcome.until(Awaits::RunEnd))
    }

    pub(super) fn submit(&mut self, submit: &Submit) -> Result<Outcome, Failed> {
        let mut outcome = Outcome::default();
        let project = self.register(&submit.place, &mut outcome)?;
        if let Some(named) = &submit.project
            && *named != project
        {
            let message = format!("the working directory belongs to project `{project}`");
            let hint = format!("drop `--project {named}`, or change into its repository");
            return Err(Problem::new(ErrorCode::InvalidInput, message).hint(hint).into());
        }
        for (id, bytes) in &submit.blobs {
            self.write.put_blob(id, bytes)?;
        }
        let env = blob_id(&submit.env);
        self.write.put_blob(&env, &submit.env)?;
        let queue = tidegate_core::ids::QueueKey {
            project,
            lane: submit.lane.clone(),
            adhoc: submit.adhoc.clone(),
        };
        let first = First {
            queue,
            actor: &submit.actor,
            env,
            parent: submit.parent.clone(),
            priority: submit.priority,
            work: submit.work.clone(),
        };
        let run = self.create(first)?;
        outcome.data = submitted(&run);
        outcome.moved = Some((None, run));
        Ok(outcome)
    }

    pub(super) fn create(&mut self, first: First<'_>) -> Result<Run, Failed> {
        let seq = self.write.next_seq();
        let submitted = Submitted {
            id: RunId::from_parts(seq, self.now.entropy),
            seq,
            queue: first.queue,
            actor: first.actor.to_owned(),
            at: self.now.wall,
            env: first.env,
            parent: first.parent,
            priority: first.priority,
            work: first.work,
        };
        let run = Run::from_submitted(&submitted);
        let events = [Event::Submitted(Box::new(submitted))];
        self.write.save(None, &run, &events, self.now.wall)?;
        Ok(run)
    }

    /// A new run of what a terminal one did not land; a result that was reported never changes.
    fn retry_run(&mut self, id: &RunId, actor: &str) -> Result<Outcome, Failed> {
        let old = self.find(id)?;
        match old.status {
            Status::Failed { .. } | Status::Cancelled { .. } => {}
            Status::Completed { .. } | Status::Pending | Status::Running { .. } => {
                let refused = Rejected::NotWhile(format!("the run is {}", old.status.word()));
                let hint = "a failed feature of a running run is retried by `--feature`";
                return Err(refusal(&refused, id).hint(hint).into());
            }
        }
        let first = First {
            queue: old.queue.clone(),
            actor,
            env: old.env.clone(),
            parent: Some(old.id.clone()),
            priority: old.priority,
            work: what_is_left(&old.work),
        };
        let run = self.create(first)?;
        let mut data = submitted(&run);
        data["retryOf"] = Value::String(id.to_string());
        Ok(Outcome { data, moved: Some((None, run)), ..Outcome::default() })
    }

    /// The project of the repository at `place`; made when there is none.
    pub(super) fn register(
        &mut self,
        place: &Place,
        outcome: &mut Outcome,
    ) -> Result<ProjectId, Failed> {
        let home = self.stage.home();
        if let Some((id, known)) = home.find(&place.common_dir) {
            let id = id.clone();
            if known.root != place.root {
                self.record(
                    HomeEvent::ProjectRegistered { project: id.clone(), place: place.clone() },
                    outcome,
                )?;
            }
            return Ok(id);
        }
        let folder = place.root.rsplit('/').next().unwrap_or_default();
        let project = home.free_id(folder);
        let event = HomeEvent::ProjectRegistered { project: project.clone(), place: place.clone() };
        self.record(event, outcome)?;
        Ok(project)
    }

    pub(super) fn record(&mut self, event: HomeEvent, outcome: &mut Outcome) -> Result<(), Failed> {
        self.write.append_home(&event, self.now.wall)?;
        outcome.home.push(event);
        Ok(())
    }

    fn remove_project(&mut self, project: &ProjectId) -> Result<Outcome, Failed> {
        if !self.stage.home().projects.contains_key(project) {
            return Err(not_found("project", project.as_str()).into());
        }
        if let Some(run) = self.stage.open_run_of(project) {
            let message = format!("run {run} of project `{project}` has not ended");
            let hint = format!("wait for it, or `tidegate cancel {run}`");
            return Err(Problem::new(ErrorCode::InvalidStatusTransition, message)
                .hint(hint)
                .into());
        }
        let mut outcome = Outcome::default();
        self.record(HomeEvent::ProjectRemoved { project: project.clone() }, &mut outcome)?;
        outcome.data = json!({ "project": project.as_str() });
        Ok(outcome)
    }

    fn move_project(&mut self, project: &ProjectId, place: &Place) -> Result<Outcome, Failed> {
        if !self.stage.home().projects.contains_key(project) {
            return Err(not_found("project", project.as_str()).into());
        }
        if let Some((other, _)) = self.stage.home().find(&place.common_dir)
            && other != project
        {
            let message = format!("that repository is project `{other}` already");
            return Err(Problem::new(ErrorCode::InvalidInput, message).into());
        }
        let mut outcome = Outcome::default();
        let event = HomeEvent::ProjectRegistered { project: project.clone(), place: place.clone() };
        self.record(event, &mut outcome)?;
        outcome.data = json!({ "project": project.as_str(), "root": place.root });
        Ok(outcome)
    }
}

/// What a new run begins with.
pub(super) struct First<'a> {
    pub(super) queue: tidegate_core::ids::QueueKey,
    pub(super) actor: &'a str,
    pub(super) env: tidegate_core::ids::BlobId,
    pub(super) parent: Option<RunId>,
    pub(super) priority: i32,
    pub(super) work: Work,
}

fn submitted(run: &Run) -> Value {
    let resume_limit = run.launcher().map(|(spec, _)| spec.resumes_max);
    json!({
        "runId": run.id.as_str(),
        "project": run.queue.project.as_str(),
        "lane": run.queue.lane.as_str(),
        "adhocRun": run.queue.adhoc.as_ref().map(tidegate_core::ids::AdhocId::as_str),
        "statePath": null,
        "status": run.status.word(),
        "priority": run.priority,
        "resumeLimit": resume_limit,
    })
}

pub(super) fn not_found(what: &str, name: &str) -> Problem {
    Problem::new(ErrorCode::NotFound, format!("no {what} `{name}`"))
}

pub(super) fn refusal(refused: &Rejected, run: &RunId) -> Problem {
    let code = match refused {
        Rejected::Already(_) | Rejected::NotWhile(_) | Rejected::Late(_) => {
            ErrorCode::InvalidStatusTransition
        }
        Rejected::Outdated(_) => ErrorCode::VersionNotCurrent,
        Rejected::Unknown(_) => ErrorCode::NotFound,
    };
    Problem::new(code, format!("run {run}: {refused}"))
}
