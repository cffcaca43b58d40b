//! Says when a job may have changed: one thread that sleeps in epoll over inotify and pidfds.
//!
//! Everything it says is a hint to look; nothing it says is a fact.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::inotify::{self, ReadFlags, WatchFlags};
use rustix::time::Timespec;
use tidegate_core::exit::Identity;

use crate::identity;
use crate::jobdir::{AGENTS, EXIT, INDEX, JobDir, STARTED};
use crate::observe;

const INOTIFY: u64 = 0;
const WAKE: u64 = 1;
const FIRST_PROCESS: u64 = 2;

/// A lock that outlives its shim (held by a child that had not closed it yet) is looked at again
/// after this long, this many times.
const RECHECK_MS: i64 = 20;
const RECHECKS: u32 = 100;

/// Something about a job may have changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changed {
    /// The key that was given with the watch.
    pub key: String,
    /// What may have changed.
    pub what: What,
}

/// What may have changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// `started` or `exit` appeared.
    Records,
    /// A file in `agents/` appeared or was replaced.
    Agents,
    /// Another file was renamed into the directory, such as a journal.
    File(String),
    /// There is more output in the index.
    Output,
    /// A watched process ended.
    ProcessEnded {
        /// Its pid.
        pid: u32,
    },
    /// The lock became free some time after its shim's end.
    Lock,
    /// The kernel dropped events: anything may have changed.
    Anything,
}

/// What to hear of besides records, agents and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputHints {
    /// Also when there is more output, at most about ten times a second.
    On,
    /// Not.
    Off,
}

/// The handle of the watcher thread. Dropping it ends the thread.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    epoll: OwnedFd,
    inotify: OwnedFd,
    wake: OwnedFd,
    state: Mutex<State>,
    changes: Sender<Changed>,
}

#[derive(Debug, Default)]
struct State {
    jobs: HashMap<String, Job>,
    watches: HashMap<i32, (String, Place)>,
    processes: HashMap<u64, Process>,
    processes_made: u64,
    /// Keys whose lock is looked at again, and how often that was done.
    rechecks: BTreeMap<String, u32>,
    closed: bool,
}

#[derive(Debug)]
struct Job {
    dir: PathBuf,
    output: OutputHints,
    watches: Vec<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Dir,
    Agents,
    Index,
}

#[derive(Debug)]
struct Process {
    key: String,
    pid: u32,
    pidfd: OwnedFd,
}

impl Watcher {
    /// Starts the thread; it sends every change to `changes`.
    ///
    /// # Errors
    /// When the thread or its descriptors cannot be made.
    pub fn start(changes: Sender<Changed>) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let inotify = inotify::init(flags)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &inotify, EventData::new_u64(INOTIFY), EventFlags::IN)?;
        epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        let state = Mutex::new(State::default());
        let shared = Arc::new(Shared { epoll, inotify, wake, state, changes });
        let served = Arc::clone(&shared);
        std::thread::Builder::new().name("watcher".into()).spawn(move || served.serve())?;
        Ok(Self { shared })
    }

    /// Watches a job directory, which must exist; before its shim is spawned, so that nothing is
    /// missed. A change that happened before is not told.
    ///
    /// # Errors
    /// When the kernel's limit of watches is reached, or the directory is gone.
    pub fn watch_dir(&self, key: &str, dir: &Path, output: OutputHints) -> io::Result<()> {
        let mut state = self.shared.state();
        let job = Job { dir: dir.to_owned(), output, watches: Vec::new() };
        state.jobs.insert(key.to_owned(), job);
        let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        self.shared.add_watch(&mut state, key, dir, flags, Place::Dir)?;
        let agents = dir.join(AGENTS);
        if agents.is_dir() {
            self.shared.add_watch(&mut state, key, &agents, WatchFlags::MOVED_TO, Place::Agents)?;
        }
        self.shared.watch_index(&mut state, key);
        Ok(())
    }

    /// Watches a process; tells at once when it is gone already.
    ///
    /// # Errors
    /// When descriptors have run out or `/proc` cannot be read.
    pub fn watch_process(&self, key: &str, process: &Identity) -> io::Result<()> {
        let Some(proved) = identity::prove(process)? else {
            self.shared.process_ended(&mut self.shared.state(), key, process.pid);
            return Ok(());
        };
        let pidfd = proved.into_fd();
        let mut state = self.shared.state();
        let id = FIRST_PROCESS + state.processes_made;
        state.processes_made += 1;
        epoll::add(&self.shared.epoll, &pidfd, EventData::new_u64(id), EventFlags::IN)?;
        state.processes.insert(id, Process { key: key.to_owned(), pid: process.pid, pidfd });
        Ok(())
    }

    /// Forgets everything that was watched under `key`.
    pub fn forget(&self, key: &str) {
        let mut state = self.shared.state();
        if let Some(job) = state.jobs.remove(key) {
            for watch in job.watches {
                state.watches.remove(&watch);
                let _ = inotify::remove_watch(&self.shared.inotify, watch);
            }
        }
        state.rechecks.remove(key);
        // Closing the last descriptor takes it out of the epoll set.
        state.processes.retain(|_, process| process.key != key);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.wake();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // No invariant spans a panic: every entry stands for itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    fn add_watch(
        &self,
        state: &mut State,
        key: &str,
        path: &Path,
        flags: WatchFlags,
        place: Place,
    ) -> io::Result<()> {
        let watch = inotify::add_watch(&self.inotify, path, flags)?;
        state.watches.insert(watch, (key.to_owned(), place));
        if let Some(job) = state.jobs.get_mut(key) {
            job.watches.push(watch);
        }
        Ok(())
    }

    fn watch_index(&self, state: &mut State, key: &str) {
        let Some(job) = state.jobs.get(key) else { return };
        let path = job.dir.join(INDEX);
        if job.output == OutputHints::On && path.is_file() {
            // Without it the output is read when the job ends.
            let _ = self.add_watch(state, key, &path, WatchFlags::MODIFY, Place::Index);
        }
    }

    fn send(&self, key: &str, what: What) {
        // Nobody listens any more: the daemon is ending.
        let _ = self.changes.send(Changed { key: key.to_owned(), what });
    }

    fn process_ended(&self, state: &mut State, key: &str, pid: u32) {
        self.send(key, What::ProcessEnded { pid });
        if is_lock_held(state, key) {
            state.rechecks.insert(key.to_owned(), 0);
            self.wake();
        }
    }

    fn serve(&self) {
        let mut events = Vec::with_capacity(64);
        loop {
            let rechecks = !self.state().rechecks.is_empty();
            let timeout = Timespec { tv_sec: 0, tv_nsec: RECHECK_MS * 1_000_000 };
            events.clear();
            let timeout = rechecks.then_some(&timeout);
            if epoll::wait(&self.epoll, spare_capacity(&mut events), timeout).is_err() {
                continue;
            }
            let mut state = self.state();
            if state.closed {
                return;
            }
            for event in &events {
                match event.data.u64() {
                    INOTIFY => self.take_files(&mut state),
                    WAKE => {
                        let _ = rustix::io::read(&self.wake, &mut [0_u8; 8]);
                    }
                    id => self.take_process(&mut state, id),
                }
            }
            self.recheck(&mut state);
        }
    }

    fn take_process(&self, state: &mut State, id: u64) {
        let Some(process) = state.processes.remove(&id) else { return };
        let _ = epoll::delete(&self.epoll, process.pidfd.as_fd());
        self.process_ended(state, &process.key, process.pid);
    }

    fn recheck(&self, state: &mut State) {
        for (key, times) in std::mem::take(&mut state.rechecks) {
            if !is_lock_held(state, &key) {
                self.send(&key, What::Lock);
            } else if times < RECHECKS {
                state.rechecks.insert(key, times + 1);
            }
        }
    }

    fn take_files(&self, state: &mut State) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut changes = BTreeSet::new();
        let mut reader = inotify::Reader::new(&self.inotify, &mut buffer);
        while let Ok(event) = reader.next() {
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                let all = state.jobs.keys().cloned();
                changes.extend(all.map(|key| Changed { key, what: What::Anything }));
                continue;
            }
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
            let Some((key, place)) = state.watches.get(&event.wd()).cloned() else { continue };
            let created = event.events().contains(ReadFlags::CREATE);
            let name = name.unwrap_or_default();
            if place == Place::Dir && created && name == INDEX {
                self.watch_index(state, &key);
            }
            if let Some(what) = meaning(place, created, &name) {
                changes.insert(Changed { key, what });
            }
        }
        for change in changes {
            let _ = self.changes.send(change);
        }
    }
}

fn is_lock_held(state: &State, key: &str) -> bool {
    let Some(job) = state.jobs.get(key) else { return false };
    JobDir::open(&job.dir).is_ok_and(|dir| observe::is_lock_held(&dir).unwrap_or(false))
}

fn meaning(place: Place, created: bool, name: &str) -> Option<What> {
    match place {
        Place::Index => Some(What::Output),
        Place::Agents => Some(What::Agents),
        Place::Dir if matches!(name, STARTED | EXIT) => Some(What::Records),
        Place::Dir if created || name == crate::jobdir::SPEC => None,
        Place::Dir => Some(What::File(name.to_owned())),
    }
}
