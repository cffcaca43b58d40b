//! Standard output is data, standard error is talk. Neither ever panics when it is closed.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;
use serde::Serialize;
use tidegate_protocol::{Envelope, ExitCode};

use crate::error::CliError;

/// How the program ends: one of ours, or a code that is passed through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(u8);

impl Exit {
    /// All went well.
    pub(crate) const OK: Self = Self(0);
    /// The user detached with Ctrl-C: what shells say for a program that SIGINT ended.
    pub(crate) const DETACHED: Self = Self(130);

    /// A launcher's own code. One beyond a byte cannot be passed on and is 10.
    pub(crate) fn passed_through(code: i32) -> Self {
        Self(u8::try_from(code).unwrap_or(ExitCode::RunFailed.code()))
    }

    /// The number that the operating system sees.
    pub(crate) fn code(self) -> u8 {
        self.0
    }
}

impl From<ExitCode> for Exit {
    fn from(code: ExitCode) -> Self {
        Self(code.code())
    }
}

/// Standard output: text or JSON, written whole at the end or at every [`Out::flush`].
pub(crate) struct Out {
    json: bool,
    text: io::BufWriter<AutoStream<io::Stdout>>,
}

impl Out {
    /// With `json` every answer is an envelope.
    pub(crate) fn new(json: bool) -> Self {
        let text = io::BufWriter::new(AutoStream::auto(io::stdout()));
        Self { json, text }
    }

    /// Whether answers are envelopes.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether a person looks at it.
    pub(crate) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Writes `{"ok":true,"data":...}` on a line of its own.
    ///
    /// # Errors
    /// When standard output is closed or full.
    pub(crate) fn data<T: Serialize>(&mut self, data: &T) -> Result<(), CliError> {
        self.envelope(&Envelope::data(data))
    }

    /// Writes an envelope on a line of its own.
    ///
    /// # Errors
    /// As [`Out::data`].
    pub(crate) fn envelope<T: Serialize>(
        &mut self,
        envelope: &Envelope<T>,
    ) -> Result<(), CliError> {
        let mut line = serde_json::to_vec(envelope).map_err(CliError::bug)?;
        line.push(b'\n');
        self.text.write_all(&line).map_err(|error| CliError::stdout(&error))
    }

    /// Writes a line of text; styles are taken off where they are not wanted.
    ///
    /// # Errors
    /// As [`Out::data`].
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> Result<(), CliError> {
        writeln!(self.text, "{text}").map_err(|error| CliError::stdout(&error))
    }

    /// Writes bytes as they are, at once.
    ///
    /// # Errors
    /// As [`Out::data`].
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.flush()?;
        let mut raw = io::stdout().lock();
        let written = raw.write_all(bytes).and_then(|()| raw.flush());
        written.map_err(|error| CliError::stdout(&error))
    }

    /// Hands on what was written.
    ///
    /// # Errors
    /// As [`Out::data`].
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        self.text.flush().map_err(|error| CliError::stdout(&error))
    }
}

/// Says something on standard error. If nobody listens, that is no reason to stop.
pub(crate) fn talk(text: impl fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_beyond_a_byte_is_a_failed_run() {
        assert_eq!(Exit::passed_through(3).code(), 3);
        assert_eq!(Exit::passed_through(255).code(), 255);
        assert_eq!(Exit::passed_through(256).code(), 10);
        assert_eq!(Exit::passed_through(-1).code(), 10);
    }
}
