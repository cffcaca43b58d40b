//! Launcher runs at the moments that matter, and what may be told of them.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::{AgentId, JobId};
use tidegate_core::launcher::{
    AgentDisposition, AgentEnd, AgentProcess, Finalized, Journal, LauncherSpec, Registered,
};
use tidegate_core::run::{Ingested, Input, Report, Run};
use tidegate_core::time::WallMs;

use crate::fixture::{
    claim, exit, identity, job, job_started, launcher_run, launcher_spec, started, take,
};

pub(crate) fn agent(id: &str) -> AgentId {
    AgentId::new(id).unwrap()
}

pub(crate) fn start_agent(id: &str) -> Input {
    Input::StartAgent {
        agent: agent(id),
        role: None,
        argv: vec!["true".to_owned()],
        terminal: false,
    }
}

pub(crate) fn journal(wave: u32) -> Journal {
    Journal { wave: Some(wave), phase: None, finalized: None, at: WallMs(500 + u64::from(wave)) }
}

/// The last entry of a journal, without a wave.
pub(crate) fn final_word(completed: bool, exit_code: Option<i32>) -> Journal {
    let finalized = Some(Finalized { completed, exit_code });
    Journal { wave: None, phase: None, finalized, at: WallMs(600) }
}

pub(crate) fn registered(process: AgentProcess) -> Registered {
    let (at, heartbeat_at) = (WallMs(40), WallMs(40));
    Registered { process, log: None, session: None, at, heartbeat_at, end: None }
}

pub(crate) fn local(id: &str) -> (AgentId, Registered) {
    (agent(id), registered(AgentProcess::Local(identity(700))))
}

pub(crate) fn remote(id: &str) -> (AgentId, Registered) {
    (agent(id), registered(AgentProcess::Remote))
}

pub(crate) fn agent_end(id: &str) -> (AgentId, AgentEnd) {
    let disposition = AgentDisposition::Completed;
    (agent(id), AgentEnd { code: Some(0), disposition, at: WallMs(45) })
}

/// A look that found these agents dead and says nothing of others.
pub(crate) fn gone(agents: impl Into<Vec<(AgentId, Registered)>>) -> Ingested {
    Ingested { gone: agents.into(), ..Ingested::default() }
}

pub(crate) fn ingested(ingested: Ingested) -> Input {
    Input::Report(Report::Ingested(ingested))
}

pub(crate) fn says(journal: Journal) -> Input {
    ingested(Ingested { journal: Some(journal), ..Ingested::default() })
}

pub(crate) fn registers(agents: Vec<(AgentId, Registered)>) -> Input {
    ingested(Ingested { registered: agents, ..Ingested::default() })
}

/// The launcher's end, with what its files said and who was alive.
pub(crate) fn ended(job: JobId, exit: Exit, ingested: Ingested) -> Input {
    let started = Some(started(100));
    Input::Report(Report::JobFinished { job, started, exit, ingested, evidence: None })
}

pub(crate) fn lost() -> Exit {
    exit(Reason::LostShim, None)
}

/// A claimed run whose launcher is known to run.
pub(crate) fn running(spec: LauncherSpec) -> Run {
    let mut run = launcher_run(spec);
    take(&mut run, &claim());
    let first = job(&run, 1);
    take(&mut run, &job_started(first));
    run
}

/// The same with the usual spec.
pub(crate) fn usual() -> Run {
    running(launcher_spec())
}

/// The same run after one more input.
pub(crate) fn then(run: &Run, input: &Input) -> Run {
    let mut run = run.clone();
    take(&mut run, input);
    run
}
