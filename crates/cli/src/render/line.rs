//! A run on one line, for scripts that read `key=value`.

use std::fmt::Display;

use tidegate_protocol::RunDoc;

/// `run_id= status= lane= project= pid= exit_code= terminal_disposition= recovery_state=
/// resume_action=`, with `n/a` for what is not known and `none` for no action.
pub(crate) fn oneline(run: &RunDoc) -> String {
    let or = |value: Option<String>, missing: &str| value.unwrap_or_else(|| missing.to_owned());
    let number = |value: Option<&dyn Display>| or(value.map(ToString::to_string), "n/a");
    format!(
        "run_id={} status={} lane={} project={} pid={} exit_code={} terminal_disposition={} \
         recovery_state={} resume_action={}",
        run.run_id,
        run.status,
        run.lane,
        run.project,
        number(run.launcher_pid.as_ref().map(|pid| pid as &dyn Display)),
        number(run.exit_code.as_ref().map(|code| code as &dyn Display)),
        run.terminal_disposition,
        run.recovery_state,
        or(run.resume_action.map(|action| action.to_string()), "none"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::run_page::sample;
    use tidegate_protocol::{Disposition, RecoveryState, ResumeAction, RunStatus};

    #[test]
    fn oneline_of_a_pending_run_says_what_is_not_known() {
        insta::assert_snapshot!(oneline(&sample()), @"run_id=r0000010000 status=pending lane=main project=harbour pid=n/a exit_code=n/a terminal_disposition=pending recovery_state=pending resume_action=none");
    }

    #[test]
    fn oneline_of_a_degraded_run_has_every_value() {
        let mut run = sample();
        run.status = RunStatus::Running;
        run.launcher_pid = Some(4711);
        run.exit_code = Some(0);
        run.terminal_disposition = Disposition::LauncherLostAgentsRunning;
        run.recovery_state = RecoveryState::Degraded;
        run.resume_action = Some(ResumeAction::WaitForLiveAgents);
        insta::assert_snapshot!(oneline(&run), @"run_id=r0000010000 status=running lane=main project=harbour pid=4711 exit_code=0 terminal_disposition=launcher-lost-agents-running recovery_state=degraded resume_action=wait-for-live-agents");
    }
}
