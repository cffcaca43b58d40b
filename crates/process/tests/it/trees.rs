//! Nothing of a job's tree outlives its record.

use std::time::{Duration, Instant};

use tidegate_process::record::ReasonRecord;
use tidegate_process::{AgentRecord, Sweep, identity};

use crate::fixture::{Job, PATIENCE, identity_of, is_gone, until};

fn ends_without(script: &str) {
    let job = Job::sh(&format!("{script}; exit 6"));
    job.start();
    let pids = job.wait_pids("pids");
    assert_eq!(job.wait_shim().code, Some(0));
    let exit = job.exit();
    assert_eq!((exit.reason, exit.code), (ReasonRecord::Exited, Some(6)));
    assert!(pids.iter().copied().all(is_gone), "{pids:?}");
    assert!(pids.iter().all(|pid| exit.swept.contains(pid)), "{pids:?} {:?}", exit.swept);
}

/// Waits in the shell until `pids` has `count` lines.
fn wait_lines(count: u32) -> String {
    format!("while [ \"$(cat pids 2>/dev/null | wc -l)\" -lt {count} ]; do sleep 0.01; done")
}

#[test]
fn background_child_is_ended() {
    ends_without("sleep 1000 & echo $! > pids");
}

#[test]
fn double_forked_daemon_is_ended() {
    let wait = wait_lines(1);
    ends_without(&format!("(sh -c 'echo $$ >> pids; exec sleep 1000' &) ; {wait}"));
}

#[test]
fn escapee_with_its_own_session_and_empty_environment_is_ended() {
    let wait = wait_lines(1);
    ends_without(&format!("setsid env -i sh -c 'echo $$ >> pids; exec sleep 1000' & {wait}"));
}

#[test]
fn deep_tree_that_ignores_everything_is_ended() {
    let wait = wait_lines(4);
    let nest = "trap '' TERM HUP INT; echo $$ >> pids; \
                [ $1 -gt 0 ] && { setsid sh ./nest $(($1-1)) & }; while :; do sleep 1000; done";
    let job = Job::sh(&format!("sh ./nest 3 & {wait}; exit 6"));
    std::fs::write(job.home.path().join("nest"), nest).unwrap();
    job.start();
    assert_eq!(job.wait_shim().code, Some(0));
    let pids = job.wait_pids("pids");
    assert_eq!(pids.len(), 4);
    assert!(pids.into_iter().all(is_gone));
}

#[test]
fn fork_bomb_is_ended() {
    // Bounded in number and rate so that a failure does not take the machine with it.
    let job = Job::sh(
        "cat > bomb <<'E'\n[ \"$(ls slots | wc -l)\" -lt 150 ] || exit 0\n\
         touch slots/$$; sh ./bomb & sh ./bomb & sleep 1000\nE\n\
         mkdir slots; sh ./bomb & while [ \"$(ls slots | wc -l)\" -lt 60 ]; do :; done; exit 6",
    );
    let exit = job.run();
    assert_eq!(exit.code, Some(6));
    let sweep = Sweep::tagged(vec![job.spec.run_tag.clone()]);
    assert!(!sweep.is_anything_alive().unwrap());
}

#[test]
fn pipe_held_after_the_exit_does_not_keep_the_job() {
    let mut job = Job::sh("setsid sh -c 'echo $$ > pids; exec sleep 1000' & echo said; exit 0");
    job.spec.limits.drain_ms = 100;
    let begin = Instant::now();
    let exit = job.run();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(exit.bytes.stdout, 5);
    let pids = job.wait_pids("pids");
    assert!(pids.into_iter().all(is_gone));
}

#[test]
fn grandchild_may_finish_writing_in_the_drain_time() {
    let mut job = Job::sh("(sleep 0.1; echo late) & exit 0");
    job.spec.limits.drain_ms = 20_000;
    let begin = Instant::now();
    let exit = job.run();
    assert_eq!(job.written(tidegate_process::output::Stream::Stdout), b"late\n");
    assert!(exit.swept.is_empty());
    assert!(begin.elapsed() < Duration::from_secs(10), "ends with its last child");
}

#[test]
fn job_without_children_ends_without_drain() {
    let mut job = Job::sh("exit 0");
    job.spec.limits.drain_ms = 600_000;
    assert_eq!(job.run().code, Some(0));
}

#[test]
fn stranger_outside_the_tree_is_left_alone() {
    let mut stranger = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    Job::sh("sleep 1000 & exit 0").run();
    assert!(!is_gone(stranger.id()));
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn tagged_process_outside_the_tree_is_ended() {
    let job = Job::sh("echo up > up; read line < go; exit 0");
    std::process::Command::new("mkfifo").arg(job.home.path().join("go")).status().unwrap();
    job.start();
    job.wait_file("up");
    let mut command = std::process::Command::new("sleep");
    let tagged = command.arg("1000").env("TIDEGATE_RUN_TAG", &job.spec.run_tag);
    let mut tagged = tagged.spawn().unwrap();
    std::fs::write(job.home.path().join("go"), "go\n").unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert!(is_gone(tagged.id()));
    assert!(job.exit().swept.contains(&tagged.id()));
    tagged.wait().unwrap();
}

/// A launcher with a registered agent (which has a child) and an unregistered process.
fn launcher(end: &str) -> (Job, Vec<u32>) {
    let mut job = Job::sh(&format!(
        "setsid sh -c 'sleep 1000 & echo $! >> pids; echo $$ >> pids; wait' & \
         {}; sleep 1000 & echo $! >> pids; read line < go; {end}",
        wait_lines(2)
    ));
    job.spec.spare_agents = true;
    std::process::Command::new("mkfifo").arg(job.home.path().join("go")).status().unwrap();
    job.start();
    let pids = until(|| {
        let pids = std::fs::read_to_string(job.home.path().join("pids")).unwrap_or_default();
        let pids: Vec<_> = pids.lines().filter_map(|pid| pid.parse().ok()).collect();
        (pids.len() == 3).then_some(pids)
    });
    let agent = AgentRecord {
        v: 1,
        id: "a1".into(),
        identity: Some(identity_of(pids[1])),
        remote: false,
        ended: false,
        more: serde_json::from_str("{\"heartbeatAt\":7}").unwrap(),
    };
    job.dir.write_agent(&agent).unwrap();
    assert_eq!(job.dir.agents().unwrap().pop().unwrap().unwrap(), agent);
    std::fs::write(job.home.path().join("go"), "go\n").unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    (job, pids)
}

#[test]
fn registered_agent_outlives_a_launcher_that_was_killed() {
    let (job, pids) = launcher("kill -9 $$");
    let exit = job.exit();
    assert_eq!((exit.reason, exit.spared), (ReasonRecord::Signalled, vec!["a1".to_owned()]));
    assert!(!is_gone(pids[0]) && !is_gone(pids[1]), "agent and its child live");
    assert!(is_gone(pids[2]), "what was not registered is ended");
    let swept = Sweep::processes(vec![identity_of(pids[1])]).run(PATIENCE).unwrap();
    assert!(swept.is_empty() && is_gone(pids[0]) && is_gone(pids[1]));
}

#[test]
fn registered_agent_ends_with_a_launcher_that_ended_by_itself() {
    let (job, pids) = launcher("exit 1");
    assert_eq!((job.exit().code, job.exit().spared.len()), (Some(1), 0));
    assert!(pids.into_iter().all(is_gone));
}

#[test]
fn agent_record_of_a_stranger_saves_nobody() {
    let mut job = Job::sh("echo up > up; read line < go; kill -9 $$");
    job.spec.spare_agents = true;
    std::process::Command::new("mkfifo").arg(job.home.path().join("go")).status().unwrap();
    job.start();
    job.wait_file("up");
    let stranger = AgentRecord {
        v: 1,
        id: "s".into(),
        identity: Some(identity::own().unwrap()),
        remote: false,
        ended: false,
        more: serde_json::Map::new(),
    };
    job.dir.write_agent(&stranger).unwrap();
    std::fs::write(job.dir.file("agents").join("bad.json"), "{").unwrap();
    std::fs::write(job.home.path().join("go"), "go\n").unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert!(job.exit().spared.is_empty());
}
