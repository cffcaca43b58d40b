//! What goes wrong on the command line: one error, one printer. It must not know which verb failed.

use std::fmt;
use std::io;
use std::path::Path;

use tidegate_protocol::{Envelope, ErrorCode, ExitCode, Problem};

use crate::output::{Exit, Out, talk};
use crate::render::style;

/// Why a verb could not do what was asked, and what to do about it.
#[derive(Debug)]
pub(crate) enum CliError {
    /// A refusal, from the daemon or from here.
    Refused {
        /// The refusal itself.
        problem: Box<Problem>,
        /// What to do about it, beside the problem's own hint.
        hints: Vec<String>,
    },
    /// Nobody reads standard output any more: there is nobody to tell.
    StdoutClosed,
}

impl CliError {
    /// A refusal with a code.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Problem::new(code, message).into()
    }

    /// Bad input that no other code names.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidInput, message)
    }

    /// A flag that clap accepted and that does not go with the others.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidCliArgs, message)
    }

    /// A fault of ours.
    pub(crate) fn bug(message: impl fmt::Display) -> Self {
        Self::new(ErrorCode::Internal, format!("BUG: {message}"))
    }

    /// A file that could not be used.
    pub(crate) fn io(doing: &str, path: &Path, source: &io::Error) -> Self {
        Self::new(ErrorCode::Io, format!("{doing} {}: {source}", path.display()))
    }

    /// Standard output that could not be written.
    pub(crate) fn stdout(source: &io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe {
            return Self::StdoutClosed;
        }
        Self::new(ErrorCode::Io, format!("write standard output: {source}"))
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        match &mut self {
            Self::Refused { hints, .. } => hints.push(hint.into()),
            Self::StdoutClosed => {}
        }
        self
    }

    /// Its code, where it has one.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused { problem, .. } => Some(problem.code),
            Self::StdoutClosed => None,
        }
    }

    /// What it says, in one line.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Refused { problem, .. } => problem.message.clone(),
            Self::StdoutClosed => "standard output is closed".to_owned(),
        }
    }

    /// How the program ends with it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Refused { problem, .. } => problem.code.exit_code().into(),
            Self::StdoutClosed => ExitCode::StdoutClosed.into(),
        }
    }

    /// Tells it: `error:` and `hint:` lines on standard error, or the envelope on standard output.
    pub(crate) fn report(&self, out: &mut Out) -> Exit {
        let Self::Refused { problem, hints } = self else { return self.exit() };
        if out.is_json() {
            let envelope = Envelope::<()>::error(with_hints(problem, hints));
            if let Err(error) = out.envelope(&envelope).and_then(|()| out.flush()) {
                return error.exit();
            }
        } else {
            talk(self);
        }
        self.exit()
    }
}

/// The text of the printer: `error: ...`, then a `hint: ...` line for each hint.
impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Refused { problem, hints } = self else {
            return f.write_str("standard output is closed");
        };
        let (error, hint) = (style::ERROR, style::HINT);
        write!(f, "{error}error:{error:#} {}", printable(&problem.message))?;
        problem
            .details
            .hint
            .iter()
            .chain(hints)
            .try_for_each(|text| write!(f, "\n{hint}hint:{hint:#} {}", printable(text)))
    }
}

impl From<Problem> for CliError {
    fn from(problem: Problem) -> Self {
        Self::Refused { problem: Box::new(problem), hints: Vec::new() }
    }
}

fn with_hints(problem: &Problem, hints: &[String]) -> Problem {
    let mut problem = problem.clone();
    let all: Vec<&str> = problem.details.hint.iter().chain(hints).map(String::as_str).collect();
    problem.details.hint = (!all.is_empty()).then(|| all.join("; "));
    problem
}

/// Text from elsewhere without characters that would steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && character != '\n' && character != '\t' {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(error: &CliError) -> String {
        anstream::adapter::strip_str(&error.to_string()).to_string()
    }

    #[test]
    fn error_with_hints_is_printed_line_by_line() {
        let problem = Problem::not_found("there is no run `r1`").hint("`tidegate list` shows all");
        let error = CliError::from(problem).hint("did you mean `r2`?");
        insta::assert_snapshot!(plain(&error), @r"
        error: there is no run `r1`
        hint: `tidegate list` shows all
        hint: did you mean `r2`?
        ");
    }

    #[test]
    fn error_with_control_characters_does_not_steer_the_terminal() {
        let error = CliError::refused("bad \u{1b}[2J name");
        assert_eq!(plain(&error), "error: bad \\u{1b}[2J name");
    }

    #[test]
    fn broken_pipe_is_not_an_error_to_tell() {
        let error = CliError::stdout(&io::ErrorKind::BrokenPipe.into());
        assert_eq!(error.exit(), Exit::from(ExitCode::StdoutClosed));
        assert!(error.code().is_none());
    }

    #[test]
    fn every_code_has_a_public_exit_code() {
        for code in ErrorCode::ALL {
            let exit = CliError::new(*code, "x").exit();
            assert!(
                tidegate_protocol::EXIT_CODES.iter().any(|known| Exit::from(*known) == exit),
                "{code}"
            );
        }
    }
}
