//! Every state of a launcher run and its jobs × every input.

use tidegate_core::exit::Reason;
use tidegate_core::run::{EffectKey, Ingested, Input, Report, Run};

use crate::fixture::{
    cancel, claim, exit, exited, job, job_finished, job_started, launcher_run, launcher_spec,
    stopped,
};
use crate::launcher_fixture::{
    agent, agent_end, ended, final_word, gone, ingested, journal, local, lost, registers, remote,
    says, start_agent, then, usual,
};
use crate::matrix::{approve, clean, hold, ready, retry, slot};
use crate::telling::table;

fn swept(remaining: &[&str]) -> Input {
    let remaining = remaining.iter().map(|id| agent(id)).collect();
    Input::Report(Report::AgentsSwept { remaining })
}

fn quarantined(run: &Run, number: u32) -> Input {
    let detail = "another nonce".to_owned();
    Input::Report(Report::JobQuarantined { job: job(run, number), detail })
}

fn inputs(run: &Run) -> Vec<(&'static str, Input)> {
    let both = || gone([local("local"), remote("remote")]);
    let end = |exit| ended(job(run, 1), exit, both());
    let key = EffectKey("agents:sweep:9".to_owned());
    let late = Report::AgentsSwept { remaining: Vec::new() };
    let told = Ingested { ends: vec![agent_end("local")], ..Ingested::default() };
    vec![
        ("claim", claim()),
        ("adopt", Input::Adopt { supervisor: "home-2".to_owned() }),
        ("cancel", cancel()),
        ("hold", hold()),
        ("release", Input::Release { actor: "ann".to_owned() }),
        ("prioritise", Input::Prioritise { priority: 5, actor: "ann".to_owned() }),
        ("retry a feature", retry()),
        ("approve", approve(crate::fixture::oid(1))),
        ("grant slot", slot()),
        ("worktree ready", ready()),
        ("target clean", clean()),
        ("answer to a closed effect", Input::Answer { key, report: late }),
        ("start agent", start_agent("helper")),
        ("start agent under a registered id", start_agent("local")),
        ("job 1 started", job_started(job(run, 1))),
        ("job 1 exited 0", end(exited(0))),
        ("job 1 exited 3", end(exited(3))),
        ("job 1 stopped", end(stopped())),
        ("job 1 timed out", end(exit(Reason::Timeout, None))),
        ("job 1 signalled", end(exit(Reason::Signalled, None))),
        ("job 1 lost", end(lost())),
        ("job 1 lost by reboot", end(exit(Reason::LostReboot, None))),
        ("job 1 lost, agents alive", ended(job(run, 1), lost(), Ingested::default())),
        ("job 1 quarantined", quarantined(run, 1)),
        ("job 2 started", job_started(job(run, 2))),
        ("job 2 exited 0", job_finished(job(run, 2), exited(0))),
        ("job 2 lost", job_finished(job(run, 2), lost())),
        ("job 2 quarantined", quarantined(run, 2)),
        ("nobody alive", ingested(both())),
        ("local and remote alive", ingested(Ingested::default())),
        ("local ended, remote alive", ingested(told)),
        ("an agent registers", registers(vec![local("other")])),
        ("progress, wave 2", says(journal(2))),
        ("progress, completed", says(final_word(true, None))),
        ("progress, failed with 4", says(final_word(false, Some(4)))),
        ("agents swept", swept(&[])),
        ("agents swept but one", swept(&["local"])),
    ]
}

fn states() -> Vec<(&'static str, Run)> {
    let pending = launcher_run(launcher_spec());
    let launching = then(&pending, &claim());
    let running = usual();
    let with_agents = then(&running, &registers(vec![local("local"), remote("remote")]));
    let with_job = then(&running, &start_agent("helper"));
    let degraded = then(&with_agents, &ended(job(&running, 1), lost(), Ingested::default()));
    let by_job = then(&with_job, &ended(job(&running, 1), lost(), Ingested::default()));
    let resuming = then(&running, &ended(job(&running, 1), lost(), Ingested::default()));
    let sweeping =
        then(&with_agents, &ended(job(&running, 1), exited(0), gone([remote("remote")])));
    let ending = then(&with_job, &ended(job(&running, 1), exited(0), Ingested::default()));
    let odd = then(&running, &quarantined(&running, 1));
    let end = |exit| then(&running, &ended(job(&running, 1), exit, Ingested::default()));
    vec![
        ("pending", pending),
        ("launching", launching.clone()),
        ("launching, being cancelled", then(&launching, &cancel())),
        ("running", running.clone()),
        ("running, with a local and a remote agent", with_agents.clone()),
        ("running, with an agent of ours as job 2", with_job.clone()),
        ("running, being cancelled", then(&running, &cancel())),
        ("running with agents, being cancelled", then(&with_agents, &cancel())),
        ("running with job 2, being cancelled", then(&with_job, &cancel())),
        ("launcher lost, registered agents alive", degraded.clone()),
        ("launcher lost, job 2 alive", by_job.clone()),
        ("launcher lost, agents alive, cancelled", then(&degraded, &cancel())),
        ("launcher lost, job 2 alive, cancelled", then(&by_job, &cancel())),
        ("resuming as job 2", resuming.clone()),
        ("resuming as job 2, being cancelled", then(&resuming, &cancel())),
        ("settled, agents are swept", sweeping),
        ("settled, job 2 is stopped", ending),
        ("launcher quarantined", odd.clone()),
        ("launcher quarantined, cancelled", then(&odd, &cancel())),
        ("completed", end(exited(0))),
        ("failed", end(exited(3))),
        ("cancelled", end(stopped())),
    ]
}

#[test]
fn launcher_run_each_state_answers_each_input_as_decided() {
    let told: Vec<String> =
        states().iter().map(|(name, run)| table(name, run, &inputs(run))).collect();
    insta::assert_snapshot!(told.join("\n"));
}

/// Each state and the effects that it keeps open, so that none is left without its way on.
#[test]
fn launcher_run_each_state_keeps_its_effects_open() {
    let told: Vec<String> = states()
        .iter()
        .map(|(name, run)| {
            let keys: Vec<String> = run.outstanding().keys().map(ToString::to_string).collect();
            format!("{name} ({}): {}", run.status.word(), keys.join(", "))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}
