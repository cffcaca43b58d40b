//! The agents of a run, latest attempt of each: registered by its launcher, or started by Tidegate.

use std::collections::BTreeMap;

use tidegate_core::exit::{Exit, Started};
use tidegate_core::ids::{AgentId, JobId};
use tidegate_core::launcher::{AgentDisposition, AgentEnd, AgentProcess, Registered};
use tidegate_core::run::{Job, JobState, Purpose, Run};
use tidegate_protocol::{AgentDoc, AttachMode, Disposition, SessionBackend};

use super::derive::Derived;
use super::job_doc::log_path;
use super::moment::{age, stamp};
use super::place::HomePaths;
use super::sight::Sight;
use crate::agents_seen::is_alive;

/// The agents of a run. `recorded` is the run as the store has it.
pub(super) fn agents(
    recorded: &Run,
    derived: &Derived,
    sight: &Sight,
    paths: &HomePaths,
) -> Vec<AgentDoc> {
    let mut found: BTreeMap<String, AgentDoc> = BTreeMap::new();
    for (id, agent, known) in registered(recorded, derived, sight) {
        found.insert(id.to_string(), of_registered(&id, &agent, known, sight));
    }
    for (id, job) in &derived.run.jobs {
        let Some(name) = agent_name(&job.purpose) else { continue };
        let known = recorded.jobs.get(id) == Some(job);
        let mut doc = of_job(&name, id, job, known, paths);
        let terminal = derived.run.has_terminal(&job.purpose);
        (doc.session_backend, doc.attach_mode) = (backend(terminal), mode(terminal));
        let later = found.get(&name).is_none_or(|other| other.started_at <= doc.started_at);
        if later {
            found.insert(name, doc);
        }
    }
    found.into_values().collect()
}

/// What the standard streams of a job are.
pub(super) fn backend(terminal: bool) -> SessionBackend {
    if terminal { SessionBackend::Terminal } else { SessionBackend::Process }
}

/// How one looks at a job.
pub(super) fn mode(terminal: bool) -> AttachMode {
    if terminal { AttachMode::Session } else { AttachMode::LogTail }
}

/// The name of the agent that a job is: its id within the run, or `<feature>/<role>`.
pub(super) fn agent_name(purpose: &Purpose) -> Option<String> {
    match purpose {
        Purpose::LauncherAgent { agent, .. } => Some(agent.to_string()),
        Purpose::Agent { feature, role, .. } => Some(format!("{feature}/{role}")),
        Purpose::Launcher { .. } | Purpose::Gate { .. } | Purpose::Hook { .. } => None,
    }
}

/// Registered agents with what their files add, and whether the store has all of it.
fn registered(
    recorded: &Run,
    derived: &Derived,
    sight: &Sight,
) -> Vec<(AgentId, Registered, bool)> {
    let stored = recorded.launcher().map(|(_, launcher)| &launcher.registered);
    let mut all =
        derived.run.launcher().map(|(_, launcher)| launcher.registered.clone()).unwrap_or_default();
    for (id, seen) in &sight.ingested.registered {
        match all.get_mut(id) {
            Some(known) if known.process == seen.process => {
                // Heartbeats are read from the files; no event records each of them.
                known.heartbeat_at = known.heartbeat_at.max(seen.heartbeat_at);
            }
            Some(_) | None => {
                all.insert(id.clone(), seen.clone());
            }
        }
    }
    for (id, end) in &sight.ingested.ends {
        if let Some(agent) = all.get_mut(id)
            && agent.end.is_none()
        {
            agent.end = Some(end.clone());
        }
    }
    let known = |id: &AgentId, agent: &Registered| {
        stored
            .and_then(|stored| stored.get(id))
            .is_some_and(|stored| stored.process == agent.process && stored.end == agent.end)
    };
    all.into_iter()
        .map(|(id, agent)| {
            let known = known(&id, &agent);
            (id, agent, known)
        })
        .collect()
}

fn of_registered(id: &AgentId, agent: &Registered, recorded: bool, sight: &Sight) -> AgentDoc {
    let pid = match &agent.process {
        AgentProcess::Local(process) => Some(process.pid),
        AgentProcess::Remote => None,
    };
    let alive = agent.end.is_none() && is_alive(agent, sight.at);
    let session = agent.session.is_some();
    AgentDoc {
        agent_id: id.to_string(),
        role: None,
        feature: None,
        job_id: None,
        attempt: 1,
        pid,
        pgid: pid.filter(|_| alive).and_then(group_of),
        runner_pid: None,
        executor_pid: pid,
        last_heartbeat_at: Some(stamp(agent.heartbeat_at)),
        heartbeat_age_ms: Some(age(sight.at, agent.heartbeat_at)),
        exit_code: agent.end.as_ref().and_then(|end| end.code),
        signal: None,
        terminal_disposition: agent.end.as_ref().map_or(
            // Gone without a word: it was ended, by whomever.
            if alive { Disposition::Running } else { Disposition::Terminated },
            of_end,
        ),
        session_backend: if session { SessionBackend::Terminal } else { SessionBackend::Process },
        attach_mode: if session { AttachMode::Session } else { AttachMode::LogTail },
        log_path: agent.log.clone(),
        session: agent.session.clone(),
        remote: pid.is_none(),
        alive: Some(alive),
        started_at: Some(stamp(agent.at)),
        ended_at: agent.end.as_ref().map(|end| stamp(end.at)),
        recorded,
    }
}

/// The process group of a process whose identity was proved just now.
fn group_of(pid: u32) -> Option<u32> {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed())?;
    let group = rustix::process::getpgid(Some(pid)).ok()?;
    Some(group.as_raw_nonzero().get().cast_unsigned())
}

fn of_end(end: &AgentEnd) -> Disposition {
    match end.disposition {
        AgentDisposition::Launching => Disposition::Launching,
        AgentDisposition::Running => Disposition::Running,
        AgentDisposition::Completed => Disposition::Completed,
        AgentDisposition::Failed => Disposition::Failed,
        AgentDisposition::Terminated => Disposition::Terminated,
    }
}

fn of_job(name: &str, id: &JobId, job: &Job, recorded: bool, paths: &HomePaths) -> AgentDoc {
    let started = job.state.started();
    let exit = exit_of(&job.state);
    let (role, feature) = match &job.purpose {
        Purpose::LauncherAgent { role, .. } => (role.as_ref().map(ToString::to_string), None),
        Purpose::Agent { role, feature, .. } => (Some(role.to_string()), Some(feature.to_string())),
        Purpose::Launcher { .. } | Purpose::Gate { .. } | Purpose::Hook { .. } => (None, None),
    };
    let pid = started.map(|started| started.child.pid);
    AgentDoc {
        agent_id: name.to_owned(),
        role,
        feature,
        job_id: Some(id.to_string()),
        attempt: job.attempt,
        pid,
        // The shim makes its child the leader of a group.
        pgid: pid,
        runner_pid: started.map(|started| started.shim.pid),
        executor_pid: pid,
        last_heartbeat_at: None,
        heartbeat_age_ms: None,
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        terminal_disposition: disposition(&job.state, started),
        session_backend: SessionBackend::Process,
        attach_mode: AttachMode::LogTail,
        log_path: log_path(&paths.job(id)),
        session: None,
        remote: false,
        alive: alive(&job.state),
        started_at: started.map(|started| stamp(started.at)),
        ended_at: exit.map(|exit| stamp(exit.at)),
        recorded,
    }
}

fn exit_of(state: &JobState) -> Option<&Exit> {
    match state {
        JobState::Finished { exit, .. } => Some(exit),
        JobState::Launching
        | JobState::Running(_)
        | JobState::Stopping { .. }
        | JobState::Quarantined { .. } => None,
    }
}

/// Whether a job's process lives: the derived state has looked at the lock already.
fn alive(state: &JobState) -> Option<bool> {
    match state {
        JobState::Launching | JobState::Finished { .. } => Some(false),
        JobState::Running(_) => Some(true),
        JobState::Stopping { started, .. } => Some(started.is_some()),
        JobState::Quarantined { .. } => None,
    }
}

fn disposition(state: &JobState, started: Option<&Started>) -> Disposition {
    use tidegate_core::exit::Reason;
    match state {
        JobState::Launching => Disposition::Launching,
        JobState::Stopping { .. } if started.is_none() => Disposition::Launching,
        JobState::Running(_) | JobState::Stopping { .. } => Disposition::Running,
        JobState::Quarantined { .. } => Disposition::Failed,
        JobState::Finished { exit, .. } => match &exit.reason {
            Reason::Exited if exit.code == Some(0) => Disposition::Completed,
            Reason::Stopped { .. } => Disposition::Terminated,
            Reason::Exited
            | Reason::Signalled
            | Reason::Timeout
            | Reason::Limit
            | Reason::Oom
            | Reason::LostShim
            | Reason::LostReboot
            | Reason::ExecFailed
            | Reason::Storage => Disposition::Failed,
        },
    }
}
