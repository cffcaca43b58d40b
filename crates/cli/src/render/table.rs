//! Tables without borders, fitted to the terminal when there is one.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, ContentArrangement, Row, Table};
use tidegate_protocol::{RunDoc, RunStatus};

use super::age::age;
use super::style;
use crate::error::printable;
use crate::output::Out;

/// Columns of text below a head; cells must not hold line breaks.
pub(crate) fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(head.iter().copied());
    if Out::is_terminal()
        && let Some(width) = width()
    {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    for row in rows {
        let mut row = Row::from(row.into_iter().map(Cell::new).collect::<Vec<_>>());
        row.max_height(1);
        table.add_row(row);
    }
    let text = table.to_string();
    // The table pads every cell: the first column starts at the margin, and no line has a tail.
    let line = |line: &str| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned();
    let mut lines: Vec<String> = text.lines().map(line).collect();
    if let Some(head) = lines.first_mut() {
        let faint = style::FAINT;
        *head = format!("{faint}{head}{faint:#}");
    }
    lines.join("\n")
}

/// Runs, one a line, in their order.
pub(crate) fn runs(runs: &[RunDoc]) -> String {
    let rows = runs.iter().map(|run| {
        vec![
            run.run_id.clone(),
            status_word(run),
            queue(run),
            age(run.ages.completed_ms.or(run.ages.started_ms).unwrap_or(run.ages.submitted_ms)),
            printable(&run.title).replace('\n', " "),
            why(run),
        ]
    });
    table(&["RUN", "STATUS", "QUEUE", "AGE", "WORK", "WHY"], rows.collect())
}

/// The status, or that a person is needed.
fn status_word(run: &RunDoc) -> String {
    let waits = run.attention.iter().any(|one| !one.is_warning());
    if run.status == RunStatus::Running && waits {
        return "needs you".to_owned();
    }
    match run.exit_code.filter(|code| run.status == RunStatus::Failed && *code != 0) {
        Some(code) => format!("{} ({code})", run.status),
        None => run.status.to_string(),
    }
}

/// `project/lane`, and the ad-hoc id.
pub(super) fn queue(run: &RunDoc) -> String {
    match &run.adhoc_run_id {
        Some(adhoc) => format!("{}/{}+{adhoc}", run.project, run.lane),
        None => format!("{}/{}", run.project, run.lane),
    }
}

/// The one reason that matters most.
pub(super) fn why(run: &RunDoc) -> String {
    let attention = run.attention.first().map(|one| one.message.as_str());
    let reason = attention.or(run.detail.as_deref()).or(run.waits_for.as_deref());
    printable(reason.unwrap_or_default()).replace('\n', " ")
}

fn width() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col >= 40).then_some(size.ws_col)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::run_page::sample;

    #[test]
    fn table_of_runs_says_what_needs_a_person() {
        let mut waiting = sample();
        waiting.status = RunStatus::Running;
        waiting.attention = vec![tidegate_protocol::AttentionDoc {
            reason: "target_dirty".into(),
            feature: Some("berths".into()),
            job_id: None,
            message: "main has uncommitted changes".into(),
            unblocks: "commit or stash them".into(),
            commit: None,
        }];
        let mut failed = sample();
        failed.status = RunStatus::Failed;
        failed.exit_code = Some(3);
        failed.adhoc_run_id = Some("try".into());
        let text = runs(&[waiting, failed, sample()]);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
