//! The engine's thread: messages in, turns, until it is to end.

use std::time::Duration;

use tidegate_core::time::Now;

use super::dispatch::Dispatch;
use super::handle::{Inbox, Message};
use super::turn::{Chance, Engine, EngineError};
use crate::clock;

/// Messages that share one commit at the most.
const GROUP_MAX: usize = 64;
/// How long reports wait before they are tried again on a full disk.
const RETRY: Duration = Duration::from_millis(500);

/// When the loop ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// When it is told to.
    Stopped,
    /// As soon as nothing runs and nothing waits.
    Idle,
}

/// Why the loop ended in good order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was told to.
    Stopped,
    /// Nothing runs and nothing waits.
    Idle,
}

/// The real clocks and the kernel's random bits.
#[derive(Debug, Default)]
pub struct Real;

impl Chance for Real {
    fn now(&mut self) -> Now {
        clock::now().unwrap_or_else(|error| {
            // Without random bits ids could collide; the wall clock's lowest bits are still fresh.
            tracing::error!(%error, "no random bits");
            let (wall, boot) = (clock::wall(), clock::boot());
            Now { wall, boot, entropy: wall.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ boot.0 }
        })
    }
}

/// Runs the engine until its end. After that nothing starts and nothing is written.
///
/// # Errors
/// [`EngineError`] when the daemon must end at once.
pub fn run<D: Dispatch>(
    engine: &mut Engine<D>,
    inbox: &Inbox,
    mut until: Until,
) -> Result<Ended, EngineError> {
    let mut chance = Real;
    inbox.publish(engine.last_seq());
    loop {
        if until == Until::Idle && engine.is_idle() && !engine.has_deferred() {
            return Ok(Ended::Idle);
        }
        let wait = engine.has_deferred().then_some(RETRY);
        let Some(messages) = inbox.take(GROUP_MAX, wait) else { return Ok(Ended::Stopped) };
        let idle = messages.iter().all(|message| matches!(message, Message::Beat(_)));
        if idle && !messages.is_empty() && !engine.has_deferred() {
            continue;
        }
        let mut stop = false;
        for message in &messages {
            match message {
                Message::Stop { drain: false } => stop = true,
                Message::Stop { drain: true } => until = Until::Idle,
                Message::Beat(_) | Message::Request(_) | Message::Report { .. } => {}
            }
        }
        engine.turn(messages, &mut chance)?;
        inbox.publish(engine.last_seq());
        if stop {
            return Ok(Ended::Stopped);
        }
    }
}

impl<D: Dispatch> Engine<D> {
    /// Records that the daemon ends in good order, and closes the store.
    ///
    /// # Errors
    /// [`EngineError`] when it could not be recorded; nothing is lost by that.
    pub fn close(mut self) -> Result<(), EngineError> {
        self.store.end_epoch(clock::wall()).map_err(EngineError::Store)?;
        self.store.close().map_err(EngineError::Store)
    }
}
