//! Talks with agents by their protocols: reads what they write, has it said what is due, and writes that
//! into their input, once: what was written stands in the journal of the input, so a daemon that dies
//! is followed by one that goes on in the same conversation.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidegate_agents::{Dialogue, Due, Opening};
use tidegate_core::ids::{JobId, RunId};
use tidegate_core::manifest::{Permissions, Protocol};
use tidegate_core::run::{EffectKey, Report, ToSay};
use tidegate_process::control::{INPUT_BYTES_MAX, Refused};
use tidegate_process::output::{Frame, FrameKind, OutputReader, Stream};
use tidegate_process::{ControlClient, ControlError, Inputs, JobDir};

use super::context::Shared;
use super::launch;
use crate::engine::Target;

/// How long a shim may take to answer.
const SHIM_PATIENCE: Duration = Duration::from_secs(3);
/// How long until a conversation that could not go on is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How often one is looked at without a hint: hints may be lost.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The conversations of one daemon.
#[derive(Debug)]
pub(super) struct Conversations {
    ctx: Shared,
    open: Mutex<HashMap<JobId, Arc<Conversation>>>,
}

/// One of them.
#[derive(Debug)]
struct Conversation {
    ctx: Shared,
    job: JobId,
    dir: PathBuf,
    nonce: String,
    protocol: Protocol,
    permissions: Permissions,
    cwd: String,
    session: Option<String>,
    resumed: bool,
    /// What is to be said, and the effect that says so.
    wanted: Mutex<Option<(EffectKey, ToSay)>>,
    /// Whether a look is on its way.
    poked: AtomicBool,
    /// Whether a look without a hint is.
    ticking: AtomicBool,
    /// Held by whoever looks: of two that write at once, one would be lost.
    state: Mutex<Option<State>>,
}

/// Where a conversation is. All of it could be read again.
#[derive(Debug)]
struct State {
    dialogue: Dialogue,
    output: OutputReader,
    prompt: String,
    /// The number of the last input.
    last: u64,
}

/// Why a conversation does not go on now.
#[derive(Debug, thiserror::Error)]
enum Stuck {
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: io::Error },
    #[error(transparent)]
    Shim(#[from] ControlError),
    #[error("asked to fail")]
    Asked,
}

impl Conversations {
    pub(super) fn new(ctx: &Shared) -> Arc<Self> {
        Arc::new(Self { ctx: Arc::clone(ctx), open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<JobId, Arc<Conversation>>> {
        // An entry is put in as a whole, so a panic leaves none half made.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on this is to be said to the agent of a job.
    pub(super) fn want(&self, target: &Target, key: &EffectKey, id: &JobId, to_say: ToSay) {
        let mut open = self.open();
        if !open.contains_key(id) {
            let Some(made) = self.make(target, id) else { return };
            open.insert(id.clone(), Arc::new(made));
        }
        let Some(conversation) = open.get(id).cloned() else { return };
        drop(open);
        *lock(&conversation.wanted) = Some((key.clone(), to_say));
        conversation.poke();
    }

    fn make(&self, target: &Target, id: &JobId) -> Option<Conversation> {
        let run = &target.run;
        let (job, manifest) = (run.jobs.get(id)?, run.manifest_of(id)?);
        let feature = job.purpose.feature()?;
        let (_, plan) = run.plan()?;
        let session = job.session.as_ref();
        Some(Conversation {
            ctx: Arc::clone(&self.ctx),
            job: id.clone(),
            dir: self.ctx.job_dir(id),
            nonce: job.nonce.clone(),
            protocol: manifest.protocol,
            permissions: manifest.permissions,
            cwd: plan.features.get(feature)?.worktree.clone()?,
            session: session.and_then(|session| session.id.clone()),
            resumed: session.is_some_and(|session| session.resumed),
            wanted: Mutex::default(),
            poked: AtomicBool::default(),
            ticking: AtomicBool::default(),
            state: Mutex::default(),
        })
    }

    /// An effect is open no more; nothing changes when a later one of the same job is.
    pub(super) fn close(&self, run: &RunId, key: &EffectKey) {
        for (_, conversation) in self.open().iter().filter(|(id, _)| id.run() == run) {
            let mut wanted = lock(&conversation.wanted);
            if wanted.as_ref().is_some_and(|(of, _)| of == key) {
                *wanted = None;
            }
        }
    }

    /// Talks with a job no more.
    pub(super) fn end(&self, id: &JobId) {
        if let Some(conversation) = self.open().remove(id) {
            *lock(&conversation.wanted) = None;
        }
    }

    /// A job wrote something.
    pub(super) fn poke(&self, id: &JobId) {
        let conversation = self.open().get(id).cloned();
        if let Some(conversation) = conversation {
            conversation.poke();
        }
    }
}

impl Conversation {
    /// Has a worker look, once for all that asks for it meanwhile.
    fn poke(self: &Arc<Self>) {
        if !self.poked.swap(true, Ordering::AcqRel) {
            let conversation = Arc::clone(self);
            self.ctx.workers.now(move || conversation.look());
        }
    }

    fn poke_after(self: &Arc<Self>, wait: Duration) {
        if !self.ticking.swap(true, Ordering::AcqRel) {
            let conversation = Arc::clone(self);
            self.ctx.workers.after(wait, move || {
                conversation.ticking.store(false, Ordering::Release);
                conversation.poke();
            });
        }
    }

    fn look(self: &Arc<Self>) {
        self.poked.store(false, Ordering::Release);
        let mut state = lock(&self.state);
        if lock(&self.wanted).is_none() {
            return;
        }
        match self.go_on(&mut state) {
            Ok(()) => self.poke_after(LOOK_AGAIN),
            Err(error) => {
                tracing::debug!(job = %self.job, %error, "a conversation goes on later");
                // What was accepted is read from the journal.
                *state = None;
                self.poke_after(AGAIN);
            }
        }
    }

    fn go_on(&self, state: &mut Option<State>) -> Result<(), Stuck> {
        let known = if let Some(known) = state.take() { Some(known) } else { self.begin()? };
        let Some(state) = known.map(|known| state.insert(known)) else { return Ok(()) };
        let mut shim = None;
        loop {
            let heard = state.listen()?;
            let Some(to_say) = lock(&self.wanted).as_ref().map(|(_, to_say)| to_say.clone()) else {
                return Ok(());
            };
            while let Some(due) = state.dialogue.due(&self.opening(&state.prompt), &to_say) {
                match due {
                    Due::Tell(fact) => {
                        let job = self.job.clone();
                        self.ctx.report(job.run(), Report::Conversed { job: job.clone(), fact });
                    }
                    Due::Write(line) => self.write(state, &line, &mut shim)?,
                    Due::Close => {
                        let last = state.last + 1;
                        ended(self.shim(&mut shim)?.close_input(last))?;
                        state.last = last;
                        state.dialogue.closed();
                    }
                }
            }
            if !heard {
                return Ok(());
            }
        }
    }

    /// Reads what was said in both directions so far.
    fn begin(&self) -> Result<Option<State>, Stuck> {
        let io = |doing| move |source| Stuck::Io { doing, source };
        let Some(mut dialogue) = Dialogue::new(self.protocol) else { return Ok(None) };
        let inputs = Inputs::read(&self.dir).map_err(io("read the inputs"))?;
        dialogue.wrote(&inputs.bytes);
        if inputs.closed {
            dialogue.closed();
        }
        let prompt = std::fs::read(self.dir.join(launch::PROMPT)).map_err(io("read the prompt"))?;
        let prompt = String::from_utf8_lossy(&prompt).into_owned();
        let output = OutputReader::new(&self.dir);
        Ok(Some(State { dialogue, output, prompt, last: inputs.last }))
    }

    fn opening<'a>(&'a self, prompt: &'a str) -> Opening<'a> {
        Opening {
            prompt,
            cwd: &self.cwd,
            session: self.session.as_deref(),
            resumed: self.resumed,
            permissions: self.permissions,
            job: self.job.number(),
        }
    }

    fn write(
        &self,
        state: &mut State,
        line: &[u8],
        shim: &mut Option<ControlClient>,
    ) -> Result<(), Stuck> {
        // A line of which a part was accepted before a daemon died is ended first.
        let begun = state.dialogue.unfinished();
        let rest = match line.strip_prefix(begun) {
            Some(rest) => rest.to_vec(),
            None => [&b"\n"[..], line].concat(),
        };
        for part in rest.chunks(INPUT_BYTES_MAX) {
            fail::fail_point!("conversing.before_input", |_| Err(Stuck::Asked));
            let last = state.last + 1;
            let taken = ended(self.shim(shim)?.input(last, part))?;
            fail::fail_point!("conversing.after_input");
            if !taken {
                // It ends, and its end says the rest.
                state.dialogue.closed();
                return Ok(());
            }
            state.last = last;
            state.dialogue.wrote(part);
        }
        Ok(())
    }

    fn shim<'s>(
        &self,
        shim: &'s mut Option<ControlClient>,
    ) -> Result<&'s mut ControlClient, Stuck> {
        let client = if let Some(open) = shim.take() {
            open
        } else {
            let io = |source: io::Error| Stuck::Io { doing: "open the job", source };
            let dir = open_dir(&self.dir).map_err(io)?;
            ControlClient::connect(&dir, &self.nonce, self.ctx.token, SHIM_PATIENCE)?.0
        };
        Ok(shim.insert(client))
    }
}

impl State {
    /// Takes in what the agent wrote; false when there was nothing new.
    fn listen(&mut self) -> Result<bool, Stuck> {
        let io = |source| Stuck::Io { doing: "read the output", source };
        let frames = self.output.next_frames().map_err(io)?;
        let said = |frame: &&Frame| {
            matches!((frame.kind, frame.stream), (FrameKind::Data, Stream::Stdout))
        };
        for frame in frames.iter().filter(said) {
            if let Some(bytes) = self.output.bytes(frame).map_err(io)? {
                self.dialogue.heard(&bytes);
            }
        }
        Ok(!frames.is_empty())
    }
}

fn open_dir(path: &Path) -> io::Result<JobDir> {
    JobDir::open(path).map_err(|error| io::Error::other(error.to_string()))
}

/// Whether a shim took an input; not, when its job takes none any more.
fn ended<T>(answer: Result<T, ControlError>) -> Result<bool, ControlError> {
    match answer {
        Ok(_) => Ok(true),
        Err(ControlError::Refused { why, reply }) => match why {
            Refused::AlreadyEnded | Refused::InputClosed | Refused::NoInput => Ok(false),
            Refused::StaleEpoch
            | Refused::BadRequest
            | Refused::UnknownOp
            | Refused::NoTerminal
            | Refused::TooMany
            | Refused::OutOfOrder
            | Refused::InputFull
            | Refused::Storage
            | Refused::Unknown => Err(ControlError::Refused { why, reply }),
        },
        Err(error) => Err(error),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each is replaced as a whole, so a panic leaves none half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
