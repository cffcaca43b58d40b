//! Ends the daemon in good order when the system or the user asks by signal.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

use crate::engine::Handle;

/// From now on TERM and INT end the daemon at its next recorded step, however often they come;
/// HUP is taken and ignored, since jobs and clients do not depend on a terminal.
///
/// # Errors
/// When the thread or the handlers cannot be made.
pub(super) fn stop_on_signals(handle: &Handle) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut term, mut int, mut hup) = {
        let _entered = runtime.enter();
        (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
        )
    };
    let handle = handle.clone();
    let wait = async move {
        loop {
            tokio::select! {
                _ = term.recv() => handle.stop(false),
                _ = int.recv() => handle.stop(false),
                _ = hup.recv() => {}
            }
        }
    };
    let serve = move || runtime.block_on(wait);
    std::thread::Builder::new().name("signals".into()).spawn(serve)?;
    Ok(())
}
