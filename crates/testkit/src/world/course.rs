//! One seed's world in its course: what happens next happens, then the oracles look.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::admission::Caps;
use tidegate_core::ids::{FeatureId, JobId, Oid, RunId};
use tidegate_core::run::Run;

use super::client::Clients;
use super::clock::Clocks;
use super::daemon::{Daemon, caps};
use super::dice::Dice;
use super::host::Host;
use super::oracle::Book;
use super::repo::Repo;
use super::scenario::{FOLDERS, TARGETS};
use super::schedule::{Happening, Schedule};
use super::trace::Trace;
use super::trouble::choose;
use crate::builders::place;
use crate::faults::{Fault, Mutation};
use crate::home::TempHome;
use crate::sim::Options;

/// Virtual time within which everything must have ended once no fault strikes, in milliseconds. The reset of a limit is a
/// time of the wall clock: where that was set back by a day after an agent told it, the agent is waited for a day
/// longer, and once more when the clock was set back again.
const BOUND_MS: u64 = 72 * 60 * 60 * 1000;
/// Happenings within which everything must have ended.
const STEPS_MAX: u64 = 200_000;
/// How long the world is looked at after everything has ended, in milliseconds: longer than a shim
/// is stopped.
const AFTERMATH_MS: u64 = 90_000;

/// What was seen of a world that held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct End {
    /// Things that happened.
    pub steps: u64,
    /// Turns of engines.
    pub turns: u64,
    /// Runs, by how they ended: completed, failed, cancelled.
    pub runs: [u64; 3],
    /// Runs that were made of ended ones.
    pub retries: u64,
    /// Jobs that started.
    pub starts: u64,
    /// Times that a target was moved.
    pub landings: u64,
    /// Events in the log.
    pub events: u64,
    /// How often what was met that the world is there for.
    pub met: BTreeMap<&'static str, u64>,
}

/// An invariant that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which, and how.
    pub what: String,
    /// What happened before, oldest first; empty unless it was asked for.
    pub trace: Vec<String>,
}

/// One seed's world.
#[derive(Debug)]
pub struct World {
    pub(super) dice: Dice,
    pub(super) clock: Clocks,
    pub(super) schedule: Schedule,
    pub(super) home: TempHome,
    pub(super) host: Host,
    /// Repositories by their common directories.
    pub(super) repos: BTreeMap<String, Repo>,
    /// Common directories by project.
    pub(super) places: BTreeMap<String, String>,
    pub(super) daemon: Option<Daemon>,
    /// Daemons so far.
    pub(super) daemons: u32,
    /// One that was replaced, and has not woken up yet.
    pub(super) replaced: Option<Daemon>,
    pub(super) clients: Clients,
    pub(super) caps: Caps,
    pub(super) faults: BTreeSet<Fault>,
    pub(super) disk_may_fill: bool,
    pub(super) mutation: Mutation,
    pub(super) calm: bool,
    pub(super) calm_at: u64,
    /// Targets that were deleted, and where they were.
    pub(super) deleted: BTreeMap<(String, String), Oid>,
    /// Jobs whose records contradict each other: a person sees to them.
    pub(super) quarantined: BTreeSet<JobId>,
    /// Commits that the person consented to.
    pub(super) consents: BTreeSet<(RunId, FeatureId, Oid)>,
    /// Runs as they were when they ended.
    pub(super) ended: BTreeMap<RunId, Run>,
    pub(super) book: Book,
    pub(super) stats: End,
    trace: Trace,
    violation: Option<String>,
    /// Since when everything has ended.
    over_since: Option<u64>,
}

impl World {
    /// The world of `seed`. With `traced`, what happens is written down for a violation.
    ///
    /// # Errors
    /// When no home can be made for it.
    pub fn new(seed: u64, options: &Options, traced: bool) -> std::io::Result<Self> {
        let mut dice = Dice::new(seed);
        let faults = choose(&mut dice);
        let repos = FOLDERS.map(|folder| (place(folder).common_dir, Repo::new(&TARGETS)));
        let places = FOLDERS.map(|folder| (folder.to_owned(), place(folder).common_dir));
        let caps = caps(dice.between(1, 4), dice.between(1, 3));
        let calm_at = dice.between(20_000, 240_000);
        Ok(Self {
            clock: Clocks::new(),
            schedule: Schedule::default(),
            home: TempHome::new()?,
            host: Host::new(),
            repos: repos.into(),
            places: places.into(),
            daemon: None,
            daemons: 0,
            replaced: None,
            clients: Clients::default(),
            caps,
            faults,
            disk_may_fill: options.disk_may_fill,
            mutation: options.mutation,
            calm: false,
            calm_at,
            deleted: BTreeMap::new(),
            quarantined: BTreeSet::new(),
            consents: BTreeSet::new(),
            ended: BTreeMap::new(),
            book: Book::default(),
            stats: End::default(),
            trace: Trace::new(traced),
            violation: None,
            over_since: None,
            dice,
        })
    }

    /// Lets everything happen until all has ended.
    ///
    /// # Errors
    /// The first [`Violation`] of an invariant.
    pub fn run(mut self) -> Result<End, Violation> {
        self.schedule.at(0, Happening::StartDaemon);
        self.submit_all();
        self.plan_in((500, 20_000), Happening::Trouble);
        self.plan_in((2_000, 10_000), Happening::Person);
        self.schedule.at(self.calm_at, Happening::Calm);
        while let Some((moment, happening)) = self.schedule.next() {
            self.clock.advance_to(moment);
            self.stats.steps += 1;
            self.happen(happening);
            self.hand_hints_on();
            if self.violation.is_some() || self.is_over() {
                break;
            }
            self.check_bound();
        }
        if self.violation.is_none() {
            self.check_end();
        }
        match self.violation {
            Some(what) => Err(Violation { what, trace: self.trace.tail() }),
            None => Ok(self.stats),
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::StartDaemon => self.start_daemon(),
            Happening::Arrive(number, parcel) => self.arrive(number, *parcel),
            Happening::Turn(number) => self.turn(number),
            Happening::Wake => self.wake_replaced(),
            Happening::Look(number, job) => self.look(number, &job),
            Happening::Git(number, name) => self.git_step(number, &name),
            Happening::Sweep(number, name) => self.sweep_step(number, &name),
            Happening::Shim(pid, step) => self.shim_step(pid, step),
            Happening::Program(pid) => self.program(pid),
            Happening::TimeUp(pid) => self.time_up(pid),
            Happening::Send(no) => self.send(no),
            Happening::Person => self.person(),
            Happening::Trouble => self.trouble(),
            Happening::Cancel(run) => self.cancel_by("someone", run),
            Happening::Rival(target) => self.push_rival(target),
            Happening::Soil(target) => self.soil(target),
            Happening::Tidy(dir) => self.tidy_up(&dir),
            Happening::Calm => self.calm_down(),
        }
    }

    /// Everything has ended, every answer was asked for again, and nothing came of it.
    fn is_over(&mut self) -> bool {
        let idle = self.calm
            && self.replaced.is_none()
            && self.clients.are_served()
            && self.daemon.as_ref().is_some_and(|daemon| daemon.engine.is_idle());
        if !idle {
            self.over_since = None;
            return false;
        }
        let now = self.clock.now();
        let Some(since) = self.over_since else {
            self.over_since = Some(now);
            self.ask_again();
            return false;
        };
        now > since + AFTERMATH_MS
    }

    /// Every request that was granted is sent once more.
    fn ask_again(&mut self) {
        let granted: Vec<_> = self.clients.granted().map(|(no, _, _)| no).collect();
        for no in granted {
            self.plan_in((0, 5_000), Happening::Send(no));
        }
    }

    fn check_bound(&mut self) {
        let late = self.clock.now() > self.calm_at + BOUND_MS;
        if late || self.stats.steps > STEPS_MAX {
            let daemon = self.daemon.as_ref();
            let open: Vec<String> = daemon
                .into_iter()
                .flat_map(|daemon| daemon.engine.runs())
                .map(super::oracle::describe)
                .collect();
            let served = self.clients.are_served();
            self.fail(|| format!("I6: no end in sight; served: {served}; open: {open:#?}"));
        }
    }

    pub(super) fn plan_in(&mut self, (least, most): (u64, u64), happening: Happening) {
        let moment = self.clock.now() + self.dice.between(least, most);
        self.schedule.at(moment, happening);
    }

    pub(super) fn note(&mut self, line: impl FnOnce() -> String) {
        self.trace.note(self.clock.now(), line);
    }

    /// Counts something that the world is there to meet.
    pub(super) fn meet(&mut self, what: &'static str) {
        *self.stats.met.entry(what).or_default() += 1;
    }

    /// An invariant does not hold. The first one counts.
    pub(super) fn fail(&mut self, what: impl FnOnce() -> String) {
        if self.violation.is_none() {
            self.violation = Some(what());
        }
    }
}

impl End {
    /// Adds what another world saw.
    pub(crate) fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.turns += other.turns;
        for (sum, runs) in self.runs.iter_mut().zip(other.runs) {
            *sum += runs;
        }
        self.retries += other.retries;
        self.starts += other.starts;
        self.landings += other.landings;
        self.events += other.events;
        for (what, times) in other.met {
            *self.met.entry(what).or_default() += times;
        }
    }
}
