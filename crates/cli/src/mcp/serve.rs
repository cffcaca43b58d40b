//! Lines in and out, one after the other, until the agent closes its end.

use std::io::{self, BufRead, Read, Write};

use super::message::answer;
use super::tools::Desk;
use crate::error::CliError;
use crate::home::Home;

/// Longest line that is read, in bytes; a longer one is no message.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Serves the tools of the job that this process is a part of.
///
/// # Errors
/// When it is part of none, or the streams break.
pub(crate) fn serve(home: &Home) -> Result<(), CliError> {
    let mut desk = Desk::of_job(home)?;
    let failed = |source: io::Error| CliError::io("speak over", home.path(), &source);
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed)?;
        if line.is_empty() {
            return Ok(());
        }
        if !line.ends_with(b"\n") && line.len() as u64 >= LINE_BYTES_MAX {
            input.skip_until(b'\n').map_err(failed)?;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(answer) = answer(&line, &mut desk) else { continue };
        let written = writeln!(output, "{answer}").and_then(|()| output.flush());
        match written {
            // The agent has gone: so do we.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.map_err(failed)?,
        }
    }
}
