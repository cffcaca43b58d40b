//! The store: every chain and row, and the invariants of the home as a whole.

use tidegate_daemon::audit::{self, AuditReport};
use tidegate_daemon::verify as verify_store;
use tidegate_daemon::views::open_problem;
use tidegate_protocol::ErrorCode;

use super::Check;
use crate::home::Home;

/// How many findings are told in one line each.
const TOLD: usize = 50;

/// Every chain, and every row against the replay of its events. A home without a store is sound.
pub(crate) fn verify(home: &Home) -> Check {
    let report = match verify_store(home.path()) {
        Ok(report) => report,
        Err(error) => return unreadable("store", &error),
    };
    match report.broken.first() {
        None => {
            Check::good("store", format!("{} runs, {} events: all fit", report.runs, report.events))
        }
        Some(first) => {
            let run = first.run.as_ref().map_or("the home".to_owned(), ToString::to_string);
            let place = first.seq.map(|seq| format!(", event {seq}")).unwrap_or_default();
            let more = report.broken.len() - 1;
            Check::wrong("store", format!("{run}{place}: {} (and {more} more)", first.why)).then(
                "its lane is held, the rest goes on; `tidegate doctor --restore` goes back to a \
                 backup",
            )
        }
    }
}

/// The invariants of the home and of what it has on this machine.
pub(crate) fn audit(home: &Home) -> (Vec<Check>, Option<AuditReport>) {
    let report = match audit::audit(home.path()) {
        Ok(report) => report,
        Err(error) => return (vec![unreadable("audit", &error)], None),
    };
    if report.findings.is_empty() {
        let AuditReport { runs, jobs, processes, .. } = report;
        let text = format!("{runs} runs, {jobs} jobs, {processes} processes: all holds");
        return (vec![Check::good("audit", text)], Some(report));
    }
    let checks = report.findings.iter().take(TOLD).map(|finding| {
        let promise = finding.invariant.in_words();
        let text =
            format!("{:?}, {promise}: {}: {}", finding.invariant, finding.about, finding.text);
        Check::wrong("audit", text)
            .then("stop the daemon, keep a copy of the home, and report it with the copy")
    });
    (checks.collect(), Some(report))
}

fn unreadable(name: &'static str, error: &tidegate_daemon::OpenError) -> Check {
    let problem = open_problem(error);
    match problem.code {
        ErrorCode::NoStore => Check::good(name, "there is none yet"),
        ErrorCode::Corrupt => Check::wrong(name, problem.message).then("tidegate doctor --restore"),
        _ => {
            let todo = problem.details.hint.clone();
            let check = Check::wrong(name, problem.message);
            match todo {
                Some(todo) => check.then(todo),
                None => check,
            }
        }
    }
}
