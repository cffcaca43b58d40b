//! All lanes at a glance: what each runs, and how much waits behind it.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_protocol::{RunDoc, RunStatus};

use super::table::{queue, table, why};

/// One queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaneView {
    /// Its project.
    pub(crate) project: String,
    /// Its lane.
    pub(crate) lane: String,
    /// Set for a queue of its own.
    pub(crate) adhoc_run_id: Option<String>,
    /// The run that is active.
    pub(crate) active: Option<RunDoc>,
    /// How many wait behind it.
    pub(crate) pending: usize,
    /// The newest run that has ended.
    pub(crate) last: Option<RunDoc>,
}

/// Sorts runs into their queues. Queues come by name.
pub(crate) fn lanes_of(runs: Vec<RunDoc>) -> Vec<LaneView> {
    let mut lanes: BTreeMap<String, LaneView> = BTreeMap::new();
    for run in runs {
        let lane = lanes.entry(queue(&run)).or_insert_with(|| LaneView {
            project: run.project.clone(),
            lane: run.lane.clone(),
            adhoc_run_id: run.adhoc_run_id.clone(),
            active: None,
            pending: 0,
            last: None,
        });
        match run.status {
            RunStatus::Pending => lane.pending += 1,
            RunStatus::Running => lane.active = Some(run),
            RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => {
                if lane.last.as_ref().is_none_or(|last| last.run_id < run.run_id) {
                    lane.last = Some(run);
                }
            }
        }
    }
    lanes.into_values().collect()
}

/// The queues, one a line.
pub(crate) fn lanes(lanes: &[LaneView]) -> String {
    let rows = lanes.iter().map(|lane| {
        let shown = lane.active.as_ref().or(lane.last.as_ref());
        let text = |of: fn(&RunDoc) -> String| shown.map(of).unwrap_or_default();
        let name = match &lane.adhoc_run_id {
            Some(adhoc) => format!("{}/{}+{adhoc}", lane.project, lane.lane),
            None => format!("{}/{}", lane.project, lane.lane),
        };
        vec![
            name,
            lane.pending.to_string(),
            text(|run| run.run_id.clone()),
            text(|run| run.status.to_string()),
            text(why),
        ]
    });
    table(&["QUEUE", "PENDING", "RUN", "STATUS", "WHY"], rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::run_page::sample;

    #[test]
    fn lanes_have_one_line_per_queue() {
        let with = |id: &str, status, lane: &str| {
            let mut run = sample();
            run.run_id = id.to_owned();
            run.status = status;
            run.lane = lane.to_owned();
            run
        };
        let views = lanes_of(vec![
            with("r1", RunStatus::Failed, "main"),
            with("r3", RunStatus::Pending, "main"),
            with("r2", RunStatus::Running, "main"),
            with("r0", RunStatus::Completed, "side"),
        ]);
        let [main, side] = views.as_slice() else { panic!("two queues, not {views:?}") };
        assert_eq!(main.active.as_ref().map(|run| run.run_id.as_str()), Some("r2"));
        assert_eq!(main.last.as_ref().map(|run| run.run_id.as_str()), Some("r1"));
        assert_eq!((main.pending, side.pending), (1, 0));
    }
}
