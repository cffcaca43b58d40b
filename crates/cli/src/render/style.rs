//! The few styles of the output. They are taken off where they are not wanted.

use anstyle::{AnsiColor, Style};
use tidegate_protocol::RunStatus;

/// The word `error:`.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The word `warning:`.
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The word `hint:`.
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
/// What a person must look at.
pub(crate) const ATTENTION: Style = AnsiColor::Yellow.on_default().bold();
/// What went well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What went badly.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// What happens now.
pub(crate) const LIVE: Style = AnsiColor::Blue.on_default();
/// Labels and ages.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Names.
pub(crate) const STRONG: Style = Style::new().bold();

/// The style of a run's status.
pub(crate) fn of_status(status: RunStatus) -> Style {
    match status {
        RunStatus::Pending => FAINT,
        RunStatus::Running => LIVE,
        RunStatus::Completed => GOOD,
        RunStatus::Failed => BAD,
        RunStatus::Cancelled => ATTENTION,
    }
}
