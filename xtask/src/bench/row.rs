//! One line of the bench's table: what was measured, the bar, and whether it is met.

use std::fmt;
use std::time::Duration;

/// One line.
pub(super) struct Row {
    what: String,
    measured: String,
    bar: String,
    met: Option<bool>,
}

impl Row {
    /// A time that must not be above `bar`; `rule` says where the bar comes from.
    pub(super) fn at_most(what: &str, measured: Duration, bar: Duration, rule: &str) -> Self {
        Self {
            what: what.to_owned(),
            measured: millis(measured),
            bar: format!("<= {} ({rule})", millis(bar)),
            met: Some(measured <= bar),
        }
    }

    /// A figure that must not be above `bar`.
    pub(super) fn below(what: &str, measured: f64, bar: f64, unit: &str) -> Self {
        Self {
            what: what.to_owned(),
            measured: format!("{measured:.3} {unit}"),
            bar: format!("<= {bar} {unit}"),
            met: Some(measured <= bar),
        }
    }

    /// A figure that must not be below `bar`.
    pub(super) fn above(what: &str, measured: f64, bar: f64, unit: &str) -> Self {
        Self {
            what: what.to_owned(),
            measured: format!("{measured:.1} {unit}"),
            bar: format!(">= {bar} {unit}"),
            met: Some(measured >= bar),
        }
    }

    /// How many times faster than the peer, which must not be below `bar`.
    pub(super) fn faster(what: &str, ours: Duration, peer: Duration, bar: f64) -> Self {
        let ratio = peer.as_secs_f64() / ours.as_secs_f64();
        let mut row = Self::above(what, ratio, bar, "x faster than the peer");
        row.measured = format!("{:.1} x ({} to {})", ratio, millis(ours), millis(peer));
        row
    }

    /// A figure without a bar.
    pub(super) fn info(what: &str, measured: impl fmt::Display) -> Self {
        Self {
            what: what.to_owned(),
            measured: measured.to_string(),
            bar: String::new(),
            met: None,
        }
    }

    /// Whether a bar is not met.
    pub(super) fn fails(&self) -> bool {
        self.met == Some(false)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.met {
            Some(true) => "ok",
            Some(false) => "FAIL",
            None => "",
        };
        write!(f, "{verdict:<5} {:<58} {:<34} {}", self.what, self.measured, self.bar)
    }
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
