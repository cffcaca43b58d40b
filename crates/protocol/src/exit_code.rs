//! The exit codes of the CLI: public, closed, tested.

/// How the `tidegate` program ends. A launcher's own code, passed through, is not one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// All went well.
    Ok = 0,
    /// Refused, or bad input.
    Refused = 1,
    /// The command line is wrong.
    Usage = 2,
    /// Standard output was closed.
    StdoutClosed = 3,
    /// The daemon cannot be reached, or it is incompatible.
    Unreachable = 4,
    /// `wait` reached its deadline.
    TimedOut = 5,
    /// The run failed.
    RunFailed = 10,
    /// The run was cancelled.
    RunCancelled = 11,
    /// A person is needed.
    PersonNeeded = 12,
    /// A fault of Tidegate itself.
    Bug = 70,
    /// The deadline passed where a launcher's own code would be passed through.
    DeadlineBeforeCode = 124,
}

/// Every exit code, in rising order.
pub const EXIT_CODES: &[ExitCode] = &[
    ExitCode::Ok,
    ExitCode::Refused,
    ExitCode::Usage,
    ExitCode::StdoutClosed,
    ExitCode::Unreachable,
    ExitCode::TimedOut,
    ExitCode::RunFailed,
    ExitCode::RunCancelled,
    ExitCode::PersonNeeded,
    ExitCode::Bug,
    ExitCode::DeadlineBeforeCode,
];

impl ExitCode {
    /// The number that the operating system sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}
