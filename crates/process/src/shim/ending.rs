//! The end of a job: its tree until it is proved empty, then its exit record.

use fail::fail_point;

use super::child::{Stage as ExecStage, display_name};
use super::lock_name;
use super::state::{Cause, Ended, Shim, Stage};
use crate::identity::Sent;
use crate::procfs::Proc;
use crate::record::{ExitRecord, ReasonRecord, VERSION};
use crate::sys::wait::Status;
use crate::{identity, tree};

/// Pids listed in an exit record at most.
const SWEPT_MAX: usize = 64;

/// From this pass on everything is stopped before anything is killed: a fork bomb whose processes
/// are stopped keeps its slots and cannot replace those that are killed.
const FREEZE_FROM_PASS: u32 = 3;

/// A process that still lives after this many passes is reported to a person.
const PATIENT_PASSES: u32 = 12;

/// Longest wait between two passes, and between two tries to record, in milliseconds.
const RETRY_MS_MAX: u64 = 500;

impl Shim {
    /// Takes one look at the tree: done when it is empty, else kills what is there. What the look
    /// missed (children of the killed are handed to us only now) is found by the next one.
    pub(crate) fn end_tree(&mut self, pass: u32, now: u64) {
        if pass == 0 {
            fail_point!("shim.before_end_tree");
            self.spare_agents();
        }
        self.reap();
        let next = now + (1 << pass.min(9)).min(RETRY_MS_MAX);
        self.stage = Stage::Ending { pass: pass + 1, next };
        // A table that cannot be read proves nothing: look again.
        let Ok(members) = self.claim.members() else { return };
        if members.is_empty() && self.ended.is_some() {
            fail_point!("shim.after_end_tree");
            self.tell_stuck(Vec::new());
            if let Some(cgroup) = &self.claim.cgroup {
                self.out_of_memory = cgroup.had_oom_kill();
                cgroup.remove();
            }
            self.stage = Stage::Recording { next: now };
            return;
        }
        let whole = self.claim.cgroup.as_ref().filter(|_| self.claim.spared.is_empty());
        if let Some(cgroup) = whole {
            cgroup.kill();
        }
        if pass >= FREEZE_FROM_PASS {
            for proc in &members {
                let _ = tree::signal(proc, libc::SIGSTOP);
            }
        }
        let mut stuck = Vec::new();
        for proc in &members {
            let sent = tree::signal(proc, libc::SIGKILL);
            if let Some(why) = self.note_kill(proc, sent, pass) {
                stuck.push(why);
            }
        }
        self.tell_stuck(stuck);
    }

    /// Notes what cannot be ended, and leaves word of it when it is new.
    fn tell_stuck(&mut self, stuck: Vec<String>) {
        if self.requires_human != stuck {
            self.dir.tell_stuck(&stuck);
            self.requires_human = stuck;
        }
    }

    fn note_kill(&mut self, proc: &Proc, sent: std::io::Result<Sent>, pass: u32) -> Option<String> {
        let new = proc.pid != self.child.identity.pid && !self.swept.contains(&proc.pid);
        if new && self.swept.len() < SWEPT_MAX {
            self.swept.push(proc.pid);
        }
        match sent {
            Ok(Sent::Gone) => None,
            Ok(Sent::NotPermitted) => {
                Some(format!("process {} must not be signalled by this user", proc.pid))
            }
            Ok(Sent::Delivered) if pass < PATIENT_PASSES => None,
            Ok(Sent::Delivered) => {
                let state = char::from(proc.state);
                Some(format!("process {} does not end, its state is {state}", proc.pid))
            }
            Err(error) => Some(format!("process {} could not be signalled: {error}", proc.pid)),
        }
    }

    /// Leaves registered agents alone when their launcher did not end by itself.
    fn spare_agents(&mut self) {
        let by_itself = !matches!(self.ended, Some(Ended { status: Status::Signal { .. }, .. }));
        if !self.spec.spare_agents || by_itself || self.cause.is_some() {
            return;
        }
        let Ok(members) = self.claim.members() else { return };
        let Ok(agents) = self.dir.agents() else { return };
        for agent in agents.into_iter().flatten() {
            let Some(process) = agent.identity.filter(|_| !agent.remote && !agent.ended) else {
                continue;
            };
            let ours = members.iter().any(|member| member.pid == process.pid);
            if ours && identity::is_alive(&process).unwrap_or(false) {
                self.claim.spared.push(process);
                self.spared.push(agent.id);
            }
        }
    }

    /// Drains the last output and writes the exit record; on failure it tries again later and
    /// keeps the lock until it succeeds.
    pub(crate) fn record(&mut self, now: u64) {
        let Some(ended) = self.ended else { return };
        self.streams.finish(&self.dir, now, self.terminal.as_deref_mut());
        let record = self.exit_record(ended);
        match self.slot.commit(&self.dir, &record) {
            Ok(()) => {
                let _ = self.dir.remove(crate::jobdir::CONTROL);
                self.stage = Stage::Recorded;
            }
            // There is no place to record it any more, and nobody waits for it.
            Err(_) if lock_name::is_gone(&self.lock) => self.stage = Stage::Recorded,
            Err(error) => {
                self.requires_human = vec![format!("the exit cannot be recorded: {error}")];
                self.stage = Stage::Recording { next: now + RETRY_MS_MAX };
            }
        }
    }

    fn exit_record(&mut self, ended: Ended) -> ExitRecord {
        let (reason, detail) = self.reason(ended.status);
        let failed = reason == ReasonRecord::ExecFailed;
        let (code, signal, core_dumped) = match ended.status {
            Status::Code(_) if failed => (None, None, false),
            Status::Code(code) => (Some(code), None, false),
            Status::Signal { signal, core } => (None, Some(signal), core),
        };
        ExitRecord {
            v: VERSION,
            job: self.spec.job.clone(),
            run: self.spec.run.clone(),
            attempt: self.spec.attempt,
            nonce: self.spec.nonce.clone(),
            generation: self.spec.generation,
            epoch: self.spec.epoch,
            boot_id: self.own.boot_id.clone(),
            reason,
            code,
            signal,
            core_dumped,
            detail,
            started_wall_ms: self.started_wall_ms,
            ended_wall_ms: ended.wall_ms,
            ran_ms: ended.mono_ms.saturating_sub(self.started_mono_ms),
            usage: ended.usage,
            bytes: self.streams.bytes(),
            swept: self.swept.clone(),
            spared: self.spared.clone(),
            requires_human: Vec::new(),
        }
    }

    fn reason(&mut self, status: Status) -> (ReasonRecord, Option<String>) {
        if let Some(failure) = self.exec_failure() {
            return (ReasonRecord::ExecFailed, Some(failure));
        }
        match (&self.cause, status) {
            (Some(Cause::Stop { actor }), _) => {
                (ReasonRecord::Stopped { actor: actor.clone() }, None)
            }
            (Some(Cause::Timeout), _) => {
                let limit = self.spec.limits.timeout_ms.unwrap_or(0);
                (ReasonRecord::Timeout, Some(format!("ran longer than {limit} ms")))
            }
            (Some(Cause::Removed), status) => {
                let reason = match status {
                    Status::Code(_) => ReasonRecord::Exited,
                    Status::Signal { .. } => ReasonRecord::Signalled,
                };
                (reason, Some("the lock of its job directory was removed".to_owned()))
            }
            (None, Status::Code(_)) => (ReasonRecord::Exited, None),
            (None, Status::Signal { signal: libc::SIGKILL, .. }) if self.out_of_memory => {
                (ReasonRecord::Oom, None)
            }
            (None, Status::Signal { .. }) => (ReasonRecord::Signalled, None),
        }
    }

    fn exec_failure(&mut self) -> Option<String> {
        if self.exec_failed.is_none() {
            let failure = self.streams.exec_failure()?;
            let name = display_name(&self.spec);
            let what = match failure.stage {
                Some(ExecStage::Stdin) => "open standard input of".to_owned(),
                Some(ExecStage::Cwd) => "enter the working directory of".to_owned(),
                Some(ExecStage::Redirect) => "redirect the output of".to_owned(),
                Some(ExecStage::Exec) | None => "execute".to_owned(),
            };
            let code = if failure.error.raw_os_error() == Some(libc::ENOENT) { 127 } else { 126 };
            let error = failure.error;
            self.exec_failed = Some(format!("cannot {what} `{name}`: {error}; code {code}"));
        }
        self.exec_failed.clone()
    }
}
