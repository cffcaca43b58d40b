//! The shim's only loop: wait for a descriptor or a moment, then move the job on.

use std::os::fd::AsFd;

use fail::fail_point;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use super::input::Input;
use super::lock_name;
use super::state::{Cause, Shim, Stage};
use crate::clock;

/// Pause between two looks for those that were asked to end before they could hear it.
const ASK_AGAIN_MS: u64 = 100;

/// Runs until the exit record is durable.
pub(crate) fn run(mut shim: Shim) {
    loop {
        shim.take_signals();
        shim.reap();
        let now = clock::mono_ms();
        shim.streams.turn(&shim.dir, now, shim.terminal.as_deref_mut());
        shim.answer_requests();
        shim.pass_input();
        shim.notice_removal(now);
        shim.advance(clock::mono_ms());
        if shim.stage == Stage::Recorded {
            break;
        }
        shim.wait();
    }
    if let Some(mut terminal) = shim.terminal.take() {
        terminal.end();
    }
    fail_point!("shim.before_leave");
}

impl Shim {
    /// Empties the signal descriptor. Equal signals coalesce, so it only says where to look.
    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            if matches!(signal, libc::SIGTERM | libc::SIGINT) {
                let cause = Cause::Stop { actor: "signal".to_owned() };
                self.stop(cause, self.spec.limits.grace_ms);
            }
        }
    }

    /// Serves those who are attached, and passes on what the job's input was given.
    fn pass_input(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.turn(self.token);
        }
        if let Some(input) = &mut self.input {
            input.pass();
        }
    }

    /// Ends the job when its directory was removed: no stop could reach it any more.
    fn notice_removal(&mut self, now: u64) {
        if !lock_name::is_gone(&self.lock) {
            return;
        }
        match self.stage {
            Stage::Running | Stage::Stopping { .. } | Stage::Draining { .. } => {
                self.cause.get_or_insert(Cause::Removed);
                self.stage = Stage::Ending { pass: 0, next: now };
            }
            Stage::Ending { .. } | Stage::Recording { .. } | Stage::Recorded => {}
        }
    }

    /// Moves the job on as far as it goes now.
    fn advance(&mut self, now: u64) {
        loop {
            let before = self.stage;
            match self.stage {
                Stage::Running if self.ended.is_some() => {
                    self.stage = Stage::Draining { until: now + self.spec.limits.drain_ms };
                }
                // The rest of the tree was asked to end, too, and has the same time for it.
                Stage::Stopping { kill_at } if self.ended.is_some() => {
                    let drained = now + self.spec.limits.drain_ms;
                    self.stage = Stage::Draining { until: kill_at.max(drained) };
                }
                Stage::Running if self.deadline_ms.is_some_and(|deadline| now >= deadline) => {
                    self.stop(Cause::Timeout, self.spec.limits.grace_ms);
                }
                Stage::Stopping { kill_at } if now >= kill_at => {
                    self.stage = Stage::Ending { pass: 0, next: now };
                }
                Stage::Draining { until } if now >= until || !self.has_children => {
                    self.stage = Stage::Ending { pass: 0, next: now };
                }
                Stage::Ending { pass, next } if now >= next || !self.has_children => {
                    self.end_tree(pass, now);
                }
                Stage::Recording { next } if now >= next => self.record(now),
                Stage::Running
                | Stage::Stopping { .. }
                | Stage::Draining { .. }
                | Stage::Ending { .. }
                | Stage::Recording { .. }
                | Stage::Recorded => {}
            }
            if self.is_asking() && now >= self.asked_ms + ASK_AGAIN_MS {
                self.asked_ms = now;
                self.terminate_heedless();
            }
            let waits_longer = matches!(
                (before, self.stage),
                (Stage::Ending { .. }, Stage::Ending { .. })
                    | (Stage::Recording { .. }, Stage::Recording { .. })
            );
            if before == self.stage || waits_longer {
                return;
            }
        }
    }

    /// Whether the main process was stopped and has ended, and others are still given time.
    fn is_asking(&self) -> bool {
        matches!(self.stage, Stage::Draining { .. }) && self.cause.is_some() && self.has_children
    }

    /// Waits for a signal, output, a request, or the next moment that matters.
    fn wait(&self) {
        let due = match self.stage {
            Stage::Running => self.deadline_ms,
            Stage::Stopping { kill_at } => Some(kill_at),
            Stage::Draining { until } if self.is_asking() => {
                Some(until.min(self.asked_ms + ASK_AGAIN_MS))
            }
            Stage::Draining { until } => Some(until),
            Stage::Ending { next, .. } | Stage::Recording { next } => Some(next),
            Stage::Recorded => Some(0),
        };
        let due = due.into_iter().chain(self.streams.flush_due_ms()).min();
        let timeout = due.map(|due| {
            let rest = due.saturating_sub(clock::mono_ms());
            Timespec {
                tv_sec: i64::try_from(rest / 1000).unwrap_or(i64::MAX),
                tv_nsec: i64::try_from(rest % 1000).unwrap_or(0) * 1_000_000,
            }
        });
        let read = [self.signals.as_fd()].into_iter();
        let read = read.chain(self.streams.fds()).chain(self.control.fds());
        let read = read.map(|fd| (fd, PollFlags::IN));
        let input = self.input.iter().filter_map(Input::fd).map(|fd| (fd, PollFlags::OUT));
        let terminal = self.terminal.iter().flat_map(|terminal| terminal.fds());
        let fds = read.chain(input).chain(terminal);
        let mut fds: Vec<_> = fds.map(|(fd, on)| PollFd::from_borrowed_fd(fd, on)).collect();
        // An interrupted or refused wait is only a turn taken early.
        let _ = poll(&mut fds, timeout.as_ref());
    }
}
