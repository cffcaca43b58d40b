//! One attached session: keys to the job, its output to the screen, until the user detaches or the job
//! ends. The terminal lives with the job, so a daemon that ends is only a pause.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use tidegate_daemon::terminal::{FrameKind, TerminalFrame, decode_frames, encode_frame};
use tidegate_protocol::{ErrorCode, TerminalQuery};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, channel};

use super::keys::Keys;
use super::screen::Screen;
use crate::client::{Client, Starting, TerminalLink};
use crate::error::CliError;
use crate::home::Home;

/// Pause between two tries to come back.
const PAUSE: Duration = Duration::from_millis(100);

/// How long another daemon is waited for before one is started from here.
const SUCCESSOR_LIMIT: Duration = Duration::from_secs(3);

/// Tries of the first connection: a daemon that goes away in the middle is no reason to give up.
const FIRST_TRIES: u32 = 3;

/// Failed tries to come back before it is said.
const QUIET_TRIES: u32 = 10;

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The user detached; the job goes on.
    Detached,
    /// The job ended.
    Over,
    /// A signal asked the program to end; the job goes on.
    Signalled,
}

/// What a session attaches to, and how.
pub(crate) struct Session<'h> {
    pub(crate) home: &'h Home,
    pub(crate) run: String,
    pub(crate) job: String,
    pub(crate) read_only: bool,
    pub(crate) keys: Keys,
}

type Reader = ReadHalf<TerminalLink>;
type Writer = WriteHalf<TerminalLink>;

/// What the user's side brings.
struct Here {
    typed: Receiver<Vec<u8>>,
    window: Signal,
    ends: [Signal; 3],
}

/// Why one connection is over.
enum Cut {
    Ended(Ended),
    /// The daemon is gone, or let go of us.
    Broken,
}

impl Session<'_> {
    /// Attaches and stays. The terminal is given back before this returns, whatever happens.
    ///
    /// # Errors
    /// The daemon's refusal of the first try, that no daemon can be had, or a terminal that refuses.
    pub(crate) fn run(mut self, client: &Client<'_>) -> Result<Ended, CliError> {
        client.block_on(async {
            // Refused before anything is painted: it looks as any other error.
            let mut tries = FIRST_TRIES;
            let first = loop {
                tries -= 1;
                match self.connect(client, true, Starting::WhenAbsent).await {
                    Err(error) if tries > 0 && passes(&error) => tokio::time::sleep(PAUSE).await,
                    other => break other?,
                }
            };
            let mut screen = Screen::take()
                .map_err(|error| CliError::refused(format!("use the terminal: {error}")))?;
            let mut here = Here::watch().map_err(CliError::bug)?;
            self.stay(client, first, &mut screen, &mut here).await
        })
    }

    async fn stay(
        &mut self,
        client: &Client<'_>,
        first: TerminalLink,
        screen: &mut Screen,
        here: &mut Here,
    ) -> Result<Ended, CliError> {
        let mut link: Result<_, CliError> = Ok(first);
        let mut failures = 0;
        let mut cut_at = Instant::now();
        loop {
            match link {
                Ok(open) => {
                    let (reader, writer) = tokio::io::split(open);
                    match self.exchange(reader, writer, screen, here).await {
                        Cut::Ended(ended) => return Ok(ended),
                        Cut::Broken => (failures, cut_at) = (0, Instant::now()),
                    }
                }
                // It ended while nobody was connected.
                Err(error) if error.code() == Some(ErrorCode::InvalidStatusTransition) => {
                    return Ok(Ended::Over);
                }
                Err(error) if passes(&error) => {
                    failures += 1;
                    if failures >= QUIET_TRIES {
                        screen.say(&format!("{}; trying again", error.message()));
                    }
                }
                Err(error) => return Err(error),
            }
            if let Some(ended) = here.pause(PAUSE, &mut self.keys).await {
                return Ok(ended);
            }
            // Who ended the daemon mostly starts another.
            let waits = cut_at.elapsed() < SUCCESSOR_LIMIT;
            let starting = if waits { Starting::Never } else { Starting::WhenAbsent };
            link = self.connect(client, false, starting).await;
        }
    }

    async fn connect(
        &self,
        client: &Client<'_>,
        history: bool,
        starting: Starting,
    ) -> Result<TerminalLink, CliError> {
        let window = Screen::window();
        let query = TerminalQuery {
            job: self.job.clone(),
            rows: window.rows,
            cols: window.cols,
            read_only: self.read_only,
            history,
        };
        client.terminal(self.home, &self.run, &query, starting).await
    }

    async fn exchange(
        &mut self,
        mut reader: Reader,
        mut writer: Writer,
        screen: &mut Screen,
        here: &mut Here,
    ) -> Cut {
        let mut received = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let [one, other, third] = &mut here.ends;
            let out = tokio::select! {
                read = reader.read(&mut buffer) => {
                    let Ok(count @ 1..) = read else { return Cut::Broken };
                    received.extend_from_slice(&buffer[..count]);
                    let Ok(frames) = decode_frames(&mut received) else { return Cut::Broken };
                    match show(screen, frames) {
                        Ok(false) => continue,
                        Ok(true) => return Cut::Ended(Ended::Over),
                        Err(_) => return Cut::Ended(Ended::Signalled),
                    }
                }
                typed = here.typed.recv() => {
                    // The end of standard input: nobody will type any more.
                    let Some(typed) = typed else { return Cut::Ended(Ended::Detached) };
                    let typed = self.keys.take(&typed);
                    if typed.detach {
                        let mut out = Vec::new();
                        encode_frame(&mut out, FrameKind::Input, &typed.pass);
                        let _ = writer.write_all(&out).await;
                        return Cut::Ended(Ended::Detached);
                    }
                    (FrameKind::Input, typed.pass)
                }
                _ = here.window.recv() => {
                    let window = Screen::window();
                    let frame = TerminalFrame::size(FrameKind::Resize, window.rows, window.cols);
                    (frame.kind, frame.bytes)
                }
                _ = one.recv() => return Cut::Ended(Ended::Signalled),
                _ = other.recv() => return Cut::Ended(Ended::Signalled),
                _ = third.recv() => return Cut::Ended(Ended::Signalled),
            };
            let mut bytes = Vec::new();
            encode_frame(&mut bytes, out.0, &out.1);
            if !out.1.is_empty() && writer.write_all(&bytes).await.is_err() {
                return Cut::Broken;
            }
        }
    }
}

/// Whether a refusal ends without the user.
fn passes(error: &CliError) -> bool {
    matches!(
        error.code(),
        Some(
            ErrorCode::DaemonUnreachable
                | ErrorCode::DaemonStopping
                | ErrorCode::ShimUnresponsive
                | ErrorCode::Busy
        )
    )
}

/// Shows what came; true at the end of the job.
fn show(screen: &mut Screen, frames: Vec<TerminalFrame>) -> io::Result<bool> {
    for frame in frames {
        match frame.kind {
            FrameKind::Snapshot => screen.repaint(&frame.bytes)?,
            FrameKind::Output => screen.show(&frame.bytes)?,
            FrameKind::End => return Ok(true),
            FrameKind::Size | FrameKind::Input | FrameKind::Resize => {}
        }
    }
    Ok(false)
}

impl Here {
    fn watch() -> io::Result<Self> {
        let (sender, typed) = channel(16);
        // It ends with the program: a read of the terminal cannot be called back.
        std::thread::Builder::new().name("keys".into()).spawn(move || {
            let mut buffer = [0; 4096];
            let mut input = io::stdin();
            loop {
                match input.read(&mut buffer) {
                    Ok(count @ 1..) => {
                        if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => return,
                }
            }
        })?;
        let ends = [
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
        ];
        Ok(Self { typed, window: signal(SignalKind::window_change())?, ends })
    }

    /// Waits a moment; what is typed meanwhile can only detach.
    async fn pause(&mut self, pause: Duration, keys: &mut Keys) -> Option<Ended> {
        let [one, other, third] = &mut self.ends;
        let rest = tokio::time::sleep(pause);
        tokio::pin!(rest);
        loop {
            tokio::select! {
                () = &mut rest => return None,
                typed = self.typed.recv() => match typed {
                    Some(typed) if !keys.take(&typed).detach => {}
                    Some(_) | None => return Some(Ended::Detached),
                },
                _ = one.recv() => return Some(Ended::Signalled),
                _ = other.recv() => return Some(Ended::Signalled),
                _ = third.recv() => return Some(Ended::Signalled),
            }
        }
    }
}
