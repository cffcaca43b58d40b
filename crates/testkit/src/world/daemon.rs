//! Daemons in their lives: started over the store, turning, killed in the middle, replaced.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tidegate_core::admission::Caps;
use tidegate_core::ids::{JobId, RunId};
use tidegate_core::run::{EffectKey, Report};
use tidegate_daemon::engine::{Answer, Engine, EngineError, Message, Request, recover};
use tidegate_store::Store;
use tokio::sync::oneshot;

use super::client::OrderNo;
use super::course::World;
use super::hands::Hands;
use super::port::{Chances, Deed, Killed, Port};
use super::schedule::Happening;
use crate::faults::{Fault, Mutation};

/// Messages that share one commit at the most.
const GROUP_MAX: usize = 64;

/// A daemon that lives.
#[derive(Debug)]
pub(super) struct Daemon {
    pub(super) number: u32,
    pub(super) engine: Engine<Port>,
    port: Port,
    inbox: Vec<Parcel>,
    turn_is_due: bool,
    pub(super) hands: Hands,
}

/// Something on its way to an engine.
#[derive(Debug, Clone)]
pub(super) enum Parcel {
    Order(OrderNo),
    Nudge(RunId),
    Report(RunId, Option<EffectKey>, Box<Report>),
}

/// How a turn came out.
enum Outcome<T> {
    Done(T),
    Refused(EngineError),
    Killed,
}

type Waiting = Vec<(OrderNo, oneshot::Receiver<Answer>)>;

impl World {
    fn chances(&mut self) -> Chances {
        let breaks_after = self.strikes(Fault::KillInTransaction).then(|| self.small());
        Chances { clock: self.clock.clone(), dice: self.dice.fork(), breaks_after }
    }

    fn port(&mut self) -> Port {
        let port = Port::default();
        port.0.borrow_mut().breaks_after =
            self.strikes(Fault::KillInDispatch).then(|| self.small());
        port
    }

    fn small(&mut self) -> u32 {
        u32::try_from(self.dice.below(6)).unwrap_or(0)
    }

    pub(super) fn start_daemon(&mut self) {
        if self.daemon.is_some() {
            return;
        }
        self.daemons += 1;
        let number = self.daemons;
        let (mut chances, port) = (self.chances(), self.port());
        let store = match self.take_epoch() {
            Ok(store) => store,
            Err(why) => return self.fail(|| format!("the store does not open: {why}")),
        };
        let caps = self.told_caps();
        let begin = AssertUnwindSafe(|| {
            recover(store, port.clone(), caps, format!("sim-{number}"), &mut chances)
        });
        let engine = match survive(begin) {
            Outcome::Done((engine, recovered)) => {
                if !recovered.corrupt.is_empty() {
                    self.fail(|| format!("corrupt at a start: {:?}", recovered.corrupt));
                }
                engine
            }
            Outcome::Refused(error) => return self.fail(|| format!("no start: {error}")),
            Outcome::Killed => {
                self.note(|| format!("daemon {number} is killed at its start"));
                self.meet("a daemon killed at its start");
                return self.plan_in((10, 2_000), Happening::StartDaemon);
            }
        };
        self.note(|| format!("daemon {number} starts"));
        let (inbox, hands) = (Vec::new(), Hands::default());
        self.daemon = Some(Daemon { number, engine, port, inbox, turn_is_due: false, hands });
        self.take_deeds();
        self.check_turn();
    }

    fn told_caps(&self) -> Caps {
        let more = if self.mutation == Mutation::WideCaps { 3 } else { 0 };
        let Caps { features, gates } = self.caps;
        Caps { features: features + more, gates: gates + more }
    }

    fn take_epoch(&mut self) -> Result<Store, String> {
        let mut store = Store::open(self.home.path()).map_err(|error| error.to_string())?;
        let began = store
            .begin_epoch(self.daemons, "0.0.0", self.clock.wall())
            .map_err(|error| error.to_string())?;
        match began.went_back {
            Some(back) => Err(format!("it went back in time: {back:?}")),
            None => Ok(store),
        }
    }

    /// Something reaches the inbox of a daemon, if that one lives.
    pub(super) fn arrive(&mut self, number: u32, parcel: Parcel) {
        let Some(daemon) = self.daemon.as_mut().filter(|daemon| daemon.number == number) else {
            return;
        };
        daemon.inbox.push(parcel);
        if !daemon.turn_is_due {
            daemon.turn_is_due = true;
            let moment = self.clock.now() + self.dice.below(4);
            self.schedule.at(moment, Happening::Turn(number));
        }
    }

    /// An adapter answers an effect. The way to the engine may be long, and an answer may come
    /// twice.
    pub(super) fn answer(&mut self, run: &RunId, key: &EffectKey, report: Report) {
        let parcel = Parcel::Report(run.clone(), Some(key.clone()), Box::new(report));
        if self.is_sent() {
            self.send_parcel(&parcel, 0);
            if self.strikes(Fault::RepeatReport) {
                self.send_parcel(&parcel, 0);
            }
        }
    }

    /// An adapter tells what it saw of a job: in the order that it saw it. What was read of files
    /// is told once, all else may come twice.
    pub(super) fn tell(&mut self, job: &JobId, report: Report) {
        let once = matches!(report, Report::Ingested(_));
        let parcel = Parcel::Report(job.run().clone(), None, Box::new(report));
        if !self.is_sent() {
            return;
        }
        let Some(daemon) = &self.daemon else { return };
        let after = daemon.hands.told.get(job).copied().unwrap_or_default();
        let moment = self.send_parcel(&parcel, after);
        if let Some(daemon) = &mut self.daemon {
            daemon.hands.told.insert(job.clone(), moment);
        }
        if !once && self.strikes(Fault::RepeatReport) {
            self.send_parcel(&parcel, moment);
        }
    }

    fn is_sent(&mut self) -> bool {
        !(self.mutation == Mutation::LoseReports && self.dice.percent(20))
    }

    fn send_parcel(&mut self, parcel: &Parcel, after: u64) -> u64 {
        let Some(daemon) = &self.daemon else { return after };
        let number = daemon.number;
        let late = self.strikes(Fault::LateReport);
        let delay = if late { self.dice.between(50, 20_000) } else { self.dice.below(20) };
        let moment = (self.clock.now() + delay).max(after);
        self.schedule.at(moment, Happening::Arrive(number, Box::new(parcel.clone())));
        moment
    }

    pub(super) fn turn(&mut self, number: u32) {
        if self.daemon.as_ref().is_none_or(|daemon| daemon.number != number) {
            return;
        }
        let Some(mut daemon) = self.daemon.take() else { return };
        daemon.turn_is_due = false;
        let mut chances = self.chances();
        daemon.port.0.borrow_mut().breaks_after =
            self.strikes(Fault::KillInDispatch).then(|| self.small());
        let (messages, waiting) = self.messages(&mut daemon);
        self.note(|| format!("turn of daemon {number}: {}", messages.len()));
        self.stats.turns += 1;
        self.arm_full_disk();
        let outcome = survive(AssertUnwindSafe(|| daemon.engine.turn(messages, &mut chances)));
        self.disarm_full_disk();
        let before_reply = self.strikes(Fault::KillBeforeReply);
        match outcome {
            Outcome::Done(()) => {
                daemon.port.0.borrow_mut().breaks_after = None;
                let more = !daemon.inbox.is_empty();
                let deferred = daemon.engine.has_deferred();
                self.daemon = Some(daemon);
                self.take_deeds();
                self.check_turn();
                if before_reply {
                    return self.kill_daemon("a daemon killed before it replied");
                }
                self.take_answers(waiting);
                self.inspect(2);
                self.turn_again(number, more, deferred);
            }
            Outcome::Refused(error) => self.fail(|| format!("the engine ended: {error}")),
            Outcome::Killed => {
                self.daemon = Some(daemon);
                self.take_deeds();
                self.kill_daemon("a daemon killed in its turn");
            }
        }
    }

    fn turn_again(&mut self, number: u32, more: bool, deferred: bool) {
        let Some(daemon) = &mut self.daemon else { return };
        if more || deferred {
            daemon.turn_is_due = true;
            let moment = self.clock.now() + if more { 1 } else { 500 };
            self.schedule.at(moment, Happening::Turn(number));
        }
    }

    /// What is in the inbox, as the engine takes it.
    fn messages(&mut self, daemon: &mut Daemon) -> (Vec<Message>, Waiting) {
        let count = daemon.inbox.len().min(GROUP_MAX);
        let mut messages = Vec::with_capacity(count);
        let mut waiting = Waiting::new();
        for parcel in daemon.inbox.drain(..count) {
            match parcel {
                Parcel::Report(run, key, report) => {
                    messages.push(Message::Report { run, key, report: *report });
                }
                Parcel::Nudge(run) => {
                    let command = tidegate_daemon::engine::Command::Nudge { run };
                    let (reply, _) = oneshot::channel();
                    let request = Request { command, idempotency: None, reply };
                    messages.push(Message::Request(Box::new(request)));
                }
                Parcel::Order(no) => {
                    let (reply, answer) = oneshot::channel();
                    let (command, name) = self.clients.request(no);
                    let request = Request { command, idempotency: Some(name), reply };
                    messages.push(Message::Request(Box::new(request)));
                    waiting.push((no, answer));
                }
            }
        }
        (messages, waiting)
    }

    fn take_answers(&mut self, waiting: Waiting) {
        for (no, mut answer) in waiting {
            match answer.try_recv() {
                Ok(answer) => self.answered(no, answer),
                Err(_) => self.fail(|| format!("order {no:?} was never answered")),
            }
        }
    }

    /// Takes what the engine handed on to the adapters.
    fn take_deeds(&mut self) {
        let Some(daemon) = &self.daemon else { return };
        let deeds = std::mem::take(&mut daemon.port.0.borrow_mut().deeds);
        for deed in deeds {
            match deed {
                Deed::Open(target, key, effect) => self.open(target, key, effect),
                Deed::Close(run, key) => self.close(&(run, key)),
                Deed::Nudge(run) => self.nudge_looks(&run),
                Deed::Ended(run) => self.check_end_of_run(&run),
            }
        }
    }

    /// SIGKILL of the daemon. What its adapters were about to do is done now, or never; nobody
    /// hears of it.
    pub(super) fn kill_daemon(&mut self, when: &'static str) {
        let Some(daemon) = self.daemon.take() else { return };
        self.note(|| format!("{when}: {}", daemon.number));
        self.meet(when);
        let Daemon { hands, engine, .. } = daemon;
        drop(engine);
        self.inspect(15);
        for (name, (target, effect)) in hands.wanted {
            if self.dice.percent(40) {
                let done = self.git_work(&target, &effect).is_some();
                self.note(|| format!("{} of {} was done before: {done}", name.1, name.0));
            }
        }
        for (job, entry) in hands.entries {
            // A shim that was forked at the last moment.
            let row = self.host.dir(&job).is_none();
            if row && self.dice.percent(30) && self.host.make_dir(&job, &entry.target).is_some() {
                self.start_shim(&job);
            }
        }
        self.clients_lose_the_daemon();
        self.plan_in((10, 3_000), Happening::StartDaemon);
    }

    /// The daemon ends in good order.
    pub(super) fn stop_daemon(&mut self) {
        let Some(daemon) = self.daemon.take() else { return };
        self.note(|| format!("daemon {} is stopped", daemon.number));
        self.meet("a daemon stopped in good order");
        if let Err(error) = daemon.engine.close() {
            self.fail(|| format!("the store does not close: {error}"));
        }
        self.clients_lose_the_daemon();
        self.plan_in((10, 3_000), Happening::StartDaemon);
    }

    /// Another daemon takes over while this one is stopped; later it wakes up.
    pub(super) fn replace_daemon(&mut self) {
        let Some(mut daemon) = self.daemon.take() else { return };
        self.note(|| format!("daemon {} is replaced", daemon.number));
        daemon.hands = Hands::default();
        self.clients_lose_the_daemon();
        self.replaced = Some(daemon);
        if self.mutation != Mutation::NoTakeover {
            self.start_daemon();
        }
        if self.daemon.is_none() {
            self.plan_in((600, 1_000), Happening::StartDaemon);
        }
        self.plan_in((1, 500), Happening::Wake);
    }

    /// The replaced daemon wakes up and tries to write what it last heard.
    pub(super) fn wake_replaced(&mut self) {
        let Some(mut daemon) = self.replaced.take() else { return };
        let before = self.newest_event();
        let mut chances = self.chances();
        chances.breaks_after = None;
        daemon.port.0.borrow_mut().breaks_after = None;
        let (messages, waiting) = self.messages(&mut daemon);
        drop(waiting);
        let nothing = messages.is_empty();
        let outcome = survive(AssertUnwindSafe(|| daemon.engine.turn(messages, &mut chances)));
        let refused = matches!(outcome, Outcome::Refused(EngineError::Replaced));
        if !refused {
            self.fail(|| format!("I7: a replaced daemon went on (idle: {nothing})"));
        }
        if before != self.newest_event() {
            self.fail(|| "I7: a replaced daemon wrote".to_owned());
        }
        if !daemon.port.0.borrow().deeds.is_empty() {
            self.fail(|| "I7: a replaced daemon handed effects on".to_owned());
        }
        self.meet("a replaced daemon refused");
    }

    fn newest_event(&self) -> Option<u64> {
        self.daemon.as_ref().map(|daemon| daemon.engine.last_seq())
    }
}

/// What the home of a world lets run at once.
pub(super) fn caps(features: u64, gates: u64) -> Caps {
    Caps {
        features: u32::try_from(features).unwrap_or(1),
        gates: u32::try_from(gates).unwrap_or(1),
    }
}

/// Does what an engine does; a kill unwinds to here.
fn survive<T>(work: AssertUnwindSafe<impl FnOnce() -> Result<T, EngineError>>) -> Outcome<T> {
    match catch_unwind(work) {
        Ok(Ok(done)) => Outcome::Done(done),
        Ok(Err(error)) => Outcome::Refused(error),
        Err(payload) if payload.is::<Killed>() => Outcome::Killed,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}
