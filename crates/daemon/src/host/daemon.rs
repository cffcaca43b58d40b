//! `tidegate daemon run`: from the lock to the end.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::umask;
use tidegate_core::admission::Caps;
use tidegate_core::limits;
use tidegate_git::Git;
use tidegate_process::record::VERSION as NOTE_VERSION;
use tidegate_process::{HomeLock, LockError, LockNote, ShimProgram, identity};
use tidegate_store::{OpenError, Store, StoreError, Token};

use super::files::{HomeFiles, prepare_home, remove_stale_socket};
use super::notify::{Manager, Moment};
use super::{backups, signals, spool, vigil};
use crate::adapters::{Adapters, Context, HelperExec, Workers};
use crate::approval::Key;
use crate::clock;
use crate::engine::{self, Ended, EngineError, Handle, Inbox, Until};
use crate::http;
use crate::quota::{Bounds, Quota};
use crate::repair::{self, Hold};

/// Threads for blocking work of adapters.
const WORKERS: usize = 8;
/// How long a stop in good order waits for work that is under way.
const LAST_WORK: Duration = Duration::from_secs(3);

/// How a daemon is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The home.
    pub home: PathBuf,
    /// Whether it ends as soon as nothing runs and nothing waits.
    pub once: bool,
    /// How shims are started.
    pub shim: ShimProgram,
    /// How long commands are remembered, in milliseconds.
    pub commands_kept_ms: u64,
    /// How many worktrees there may be, and how much room they may take.
    pub worktrees: Bounds,
}

/// How a daemon ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Another one holds the lock; nothing was done.
    AlreadyRunning {
        /// Its pid, for people.
        pid: Option<u32>,
    },
    /// In good order.
    Ended,
}

/// Why a daemon did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The home cannot be used.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The lock cannot be taken for another reason than a living daemon.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store refused the epoch.
    #[error("take the epoch: {0}")]
    Epoch(#[source] StoreError),
    /// The engine ended.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Runs a daemon for `options.home` until it is told to end.
///
/// # Errors
/// [`HostError`]. Whatever was acknowledged is durable; the next start goes on from there.
pub fn run(options: &Options) -> Result<Outcome, HostError> {
    let home = options.home.as_path();
    let io = |doing| move |source| HostError::Io { doing, path: home.to_owned(), source };
    // Files of the home are for its owner only; jobs get the mask that the user came with.
    let users_umask = umask(Mode::RWXG | Mode::RWXO);
    prepare_home(home).map_err(io("make the home"))?;
    let home = &home.canonicalize().map_err(io("resolve the home"))?;
    let files = HomeFiles::new(home);
    let lock = match HomeLock::acquire(&files.lock()) {
        Ok(lock) => lock,
        Err(LockError::Held { note, .. }) => return Ok(beside(note.as_deref())),
        Err(error) => return Err(error.into()),
    };
    fail::fail_point!("daemon.start.after_lock");
    let mut store = Store::open(home)?;
    let mut began = store
        .begin_epoch(std::process::id(), env!("CARGO_PKG_VERSION"), clock::wall())
        .map_err(HostError::Epoch)?;
    fail::fail_point!("daemon.start.after_epoch");
    make_key(home);
    let hold = look_for_strays(home, &mut store, &mut began.token)?;
    let epoch = began.token.epoch;
    note(&lock, began.token.generation, epoch)?;
    if let Some(back) = &began.went_back {
        tracing::error!(
            ?back,
            "the store is older than what it acknowledged: everything is checked"
        );
    }
    let (handle, reports, inbox) = engine::inbox(home);
    let (workers, threads) = Workers::start(WORKERS).map_err(io("start threads for"))?;
    let ctx = Arc::new(Context {
        home: home.clone(),
        home_id: began.home_id.clone(),
        token: (began.token.generation, epoch),
        umask: users_umask.bits(),
        reports,
        workers: workers.clone(),
        git: Git::new(Arc::new(HelperExec)),
    });
    let adapters = Quota::start(home, options.worktrees)
        .and_then(|quota| Adapters::start(&ctx, options.shim.clone(), hold, quota))
        .map_err(io("start threads for"))?;
    adapters.end_leftovers(&store).map_err(HostError::Epoch)?;
    let mut life = Life {
        files,
        token: ctx.token,
        home_id: began.home_id,
        git: ctx.git.clone(),
        handle,
        inbox,
    };
    let outcome = life.live(store, adapters, options);
    // Nothing starts from here on.
    workers.close();
    drop(ctx);
    // What git is at in the user's repository is not left in its middle. A daemon that was replaced
    // or lost its store ends at once: its helpers end with it, and the next finds what they left.
    if outcome.is_ok() && !workers.ended_within(LAST_WORK) {
        tracing::warn!("work that was under way ends with this daemon; the next one finds it");
    }
    for thread in threads {
        if thread.is_finished() {
            let _ = thread.join();
        }
    }
    drop(lock);
    outcome.map(|()| Outcome::Ended)
}

/// Another daemon serves the home: nothing is wrong with that.
fn beside(note: Option<&LockNote>) -> Outcome {
    Manager::of_environment().tell(Moment::NotNeeded);
    Outcome::AlreadyRunning { pid: note.map(|note| note.daemon.pid) }
}

/// Jobs that the store does not know hold the home up while they live. One that was started under
/// a token that this daemon would give again proves that the store went back in time.
fn look_for_strays(home: &Path, store: &mut Store, token: &mut Token) -> Result<Hold, HostError> {
    let known = store.view().known_jobs().map_err(HostError::Epoch)?;
    let strays = repair::strays(home, &known);
    let ahead = strays.iter().filter_map(|stray| stray.token).max();
    if let Some((generation, epoch)) = ahead
        && (Token { generation, epoch }) >= *token
    {
        let ahead = Token { generation, epoch };
        tracing::error!(?ahead, "jobs were started under a later token: the store went back");
        *token = store.raise_generation(ahead, clock::wall()).map_err(HostError::Epoch)?;
    }
    Ok(Hold::new(home, &strays))
}

/// The parts of a running daemon.
struct Life {
    files: HomeFiles,
    token: (u64, u64),
    home_id: String,
    git: Git,
    handle: Handle,
    inbox: Inbox,
}

impl Life {
    fn live(
        &mut self,
        store: Store,
        adapters: Adapters,
        options: &Options,
    ) -> Result<(), HostError> {
        let supervisor = format!("{}-{}", self.home_id, self.token.1);
        let mut chance = engine::Real;
        let (mut engine, recovered) =
            engine::recover(store, adapters, caps(), supervisor.clone(), &mut chance)?;
        engine.keep_commands(options.commands_kept_ms);
        for (run, why) in &recovered.corrupt {
            tracing::error!(%run, why, "corrupt; its lane is held");
        }
        tracing::info!(epoch = self.token.1, adopted = recovered.adopted.len(), "the daemon runs");
        let socket = self.files.socket();
        let io = |doing, path: &Path| {
            let path = path.to_owned();
            move |source| HostError::Io { doing, path, source }
        };
        let listener = listen(&self.files.home, &socket).map_err(io("listen on", &socket))?;
        let site = http::Site {
            handle: self.handle.clone(),
            home_id: self.home_id.clone(),
            git: self.git.clone(),
            version: env!("CARGO_PKG_VERSION"),
            supervisor,
            token: self.token,
            started_at: clock::wall(),
        };
        let server = http::start(listener, site).map_err(io("serve", &socket))?;
        signals::stop_on_signals(&self.handle).map_err(io("watch signals for", &socket))?;
        vigil::stop_without_home(&self.files.home, &self.files.lock(), &self.handle)
            .map_err(io("watch", &self.files.home))?;
        backups::keep(&self.files.home, self.handle.seq())
            .map_err(io("keep copies of the store of", &self.files.home))?;
        spool::ingest(&self.files, &self.handle, &self.git);
        let manager = Manager::of_environment();
        manager.keep_told(&self.handle).map_err(io("tell of", &self.files.home))?;
        manager.tell(Moment::Ready);
        let until = if options.once { Until::Idle } else { Until::Stopped };
        let ended = engine::run(&mut engine, &self.inbox, until);
        manager.tell(Moment::Stopping);
        server.stop();
        let ended = ended?;
        if ended == Ended::Idle {
            tracing::info!("nothing runs and nothing waits");
        }
        remove_stale_socket(&socket).map_err(io("remove", &socket))?;
        Ok(engine.close()?)
    }
}

/// Limits of the home.
fn caps() -> Caps {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let features = u32::try_from(2 * cores).unwrap_or(u32::MAX);
    Caps { features, gates: limits::GATES_PER_HOME }
}

fn note(lock: &HomeLock, generation: u64, epoch: u64) -> Result<(), HostError> {
    let daemon = identity::own().map_err(|source| HostError::Io {
        doing: "identify",
        path: PathBuf::from("/proc/self"),
        source,
    })?;
    lock.write_note(&LockNote {
        v: NOTE_VERSION,
        daemon,
        generation,
        epoch,
        acquired_at_ms: clock::wall().0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    Ok(())
}

/// Listens through the folder's descriptor: a socket's path has 108 bytes at the most.
fn listen(home: &Path, socket: &Path) -> io::Result<UnixListener> {
    use std::os::fd::AsRawFd;
    remove_stale_socket(socket)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(home, flags, Mode::empty())?;
    let short = PathBuf::from(format!("/proc/self/fd/{}/daemon.sock", folder.as_raw_fd()));
    let listener = UnixListener::bind(short)?;
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Makes the secret of the home's tokens of consent.
fn make_key(home: &Path) {
    if let Err(error) = Key::ensure(home) {
        // Without it no token is given; a consent may name its commit.
        tracing::warn!(%error, "the secret of the home's tokens cannot be made");
    }
}
