//! Jobs of a run, as documents.

use std::path::Path;

use tidegate_core::exit::{Exit, Identity, Reason};
use tidegate_core::ids::JobId;
use tidegate_core::run::{Job, JobState, Purpose, Run};
use tidegate_process::output::OutputReader;
use tidegate_protocol::{IdentityDoc, JobDoc, JobList};

use super::agents::{agent_name, backend, mode};
use super::derive::Derived;
use super::moment::stamp;
use super::place::{HomePaths, text};
use super::usage;
use crate::said;

/// All jobs of a run, oldest first.
pub(super) fn jobs(recorded: &Run, derived: &Derived, paths: &HomePaths) -> JobList {
    let jobs = derived.run.jobs.iter().map(|(id, job)| {
        let odd = derived.odd.iter().find(|(odd, _)| odd == id).map(|(_, why)| why.as_str());
        let known = recorded.jobs.get(id) == Some(job);
        let mut doc = document(id, job, known, odd, paths);
        let terminal = derived.run.has_terminal(&job.purpose);
        (doc.session_backend, doc.attach_mode) = (backend(terminal), mode(terminal));
        let unseen = derived.unseen.iter().find(|(unseen, _)| unseen == id);
        doc.detail = doc.detail.or_else(|| unseen.map(|(_, why)| format!("not looked at: {why}")));
        doc
    });
    JobList { run_id: recorded.id.to_string(), jobs: jobs.collect() }
}

/// Path of a job's current output segment; `None` while it has none.
pub(super) fn log_path(dir: &Path) -> Option<String> {
    let last = OutputReader::segments(dir).ok()?.pop()?;
    Some(text(&dir.join(format!("output.{}", last.number))))
}

/// The word of a reason.
pub(super) fn reason_word(reason: &Reason) -> &'static str {
    match reason {
        Reason::Exited => "exited",
        Reason::Signalled => "signalled",
        Reason::Stopped { .. } => "stopped",
        Reason::Timeout => "timeout",
        Reason::Limit => "limit",
        Reason::Oom => "oom",
        Reason::LostShim => "lost_shim",
        Reason::LostReboot => "lost_reboot",
        Reason::ExecFailed => "exec_failed",
        Reason::Storage => "storage",
    }
}

/// An end in a few words for people.
pub(super) fn end_in_words(exit: &Exit) -> String {
    let mut words = match (&exit.reason, exit.code, exit.signal) {
        (Reason::Exited, Some(code), _) => format!("exited with code {code}"),
        (Reason::Signalled, _, Some(signal)) => format!("ended by signal {signal}"),
        (Reason::Stopped { actor }, ..) => format!("stopped by {actor}"),
        (reason, ..) => reason_word(reason).replace('_', " "),
    };
    if let Some(detail) = &exit.detail {
        words.push_str(": ");
        words.push_str(detail);
    }
    words
}

pub(super) fn identity(process: &Identity) -> IdentityDoc {
    IdentityDoc {
        pid: process.pid,
        start_ticks: process.start_ticks,
        boot_id: process.boot_id.clone(),
        pidfs_inode: process.pidfs_inode,
    }
}

fn document(id: &JobId, job: &Job, recorded: bool, odd: Option<&str>, paths: &HomePaths) -> JobDoc {
    let started = job.state.started();
    let (state, exit, quarantined) = match &job.state {
        JobState::Launching => ("launching", None, None),
        JobState::Running(_) => ("running", None, None),
        JobState::Stopping { .. } => ("stopping", None, None),
        JobState::Finished { exit, .. } => ("finished", Some(exit), None),
        JobState::Quarantined { detail, .. } => ("quarantined", None, Some(detail.clone())),
    };
    let (feature, gate, iteration) = match &job.purpose {
        Purpose::Launcher { .. } | Purpose::LauncherAgent { .. } => (None, None, None),
        Purpose::Agent { feature, iteration, .. } => (Some(feature), None, Some(*iteration)),
        Purpose::Gate { feature, gate, .. } => (Some(feature), Some(gate), None),
        Purpose::Hook { feature, .. } => (Some(feature), None, None),
    };
    let odd = odd.map(str::to_owned).or(quarantined);
    JobDoc {
        job_id: id.to_string(),
        run_id: id.run().to_string(),
        purpose: job.purpose.word().to_owned(),
        attempt: job.attempt,
        feature: feature.map(ToString::to_string),
        gate: gate.map(ToString::to_string),
        agent_id: agent_name(&job.purpose),
        iteration,
        state: state.to_owned(),
        reason: exit.map(|exit| reason_word(&exit.reason).to_owned()),
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        pid: started.map(|started| started.child.pid),
        runner_pid: started.map(|started| started.shim.pid),
        created_at: stamp(job.created_at),
        started_at: started.map(|started| stamp(started.at)),
        ended_at: exit.map(|exit| stamp(exit.at)),
        ran_ms: exit.map(|exit| exit.ran_ms),
        output_bytes: exit.map(|exit| exit.output_bytes),
        requires_human: odd.is_some() || exit.is_some_and(|exit| exit.requires_human),
        detail: odd.or_else(|| exit.and_then(|exit| exit.detail.clone())),
        session_backend: backend(false),
        attach_mode: mode(false),
        dir: text(&paths.job(id)),
        recorded,
        session: job.conversation_id().map(str::to_owned),
        resumed: job.session.as_ref().map(|session| session.resumed),
        told: usage::told(job),
        usage: usage::of_job(job),
        said: said::newest(&paths.job(id)),
    }
}
