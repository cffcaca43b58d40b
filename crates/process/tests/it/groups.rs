//! Jobs in a delegated control group, and processes that nothing can kill. Both need a machine with
//! the hierarchies that this one has; without, the tests say why they were skipped.

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use tidegate_core::verdict::Mark;
use tidegate_process::control::Phase;
use tidegate_process::{ShimProgram, Spawner, Sweep, identity};

use crate::fixture::{Job, PATIENCE, is_gone, shim_program, until};

/// A group below `parent`, removed at the end.
struct Group(PathBuf);

impl Group {
    fn make(parent: &str) -> Option<Self> {
        let path = Path::new(parent).join(format!("tidegate-test-{}", std::process::id()));
        std::fs::create_dir(&path).ok()?;
        Some(Self(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        until(|| std::fs::remove_dir(&self.0).ok().or_else(|| (!self.0.exists()).then_some(())));
    }
}

fn v2_mount() -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    line.split(' ').nth(4).map(str::to_owned)
}

/// A job whose shim runs in a delegated group, with an escapee that only the group can name.
fn confined() -> Option<(Group, Job, u32)> {
    let group = v2_mount().and_then(|mount| Group::make(&mount))?;
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(&group.0, "trusted.delegate", b"1", flags).ok()?;
    let mut job = Job::sh("setsid env -i sh -c 'echo $$ > pid; exec sleep 1000' & sleep 1000");
    let script = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
    let arguments =
        ["-c".into(), script.into(), group.0.clone().into(), shim_program().program.into()];
    let env = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
    let program = ShimProgram { program: "/bin/sh".into(), arguments: arguments.into(), env };
    let (tell, ended) = mpsc::channel();
    job.spawner = Spawner::start(program, tell).unwrap();
    job.ended = ended;
    job.start();
    let pid = job.wait_pids("pid")[0];
    Some((group, job, pid))
}

#[test]
fn survivor_that_left_session_and_environment_is_swept_by_its_group() {
    let Some((_group, job, pid)) = confined() else {
        return eprintln!("skipped because there is no cgroup v2 that can be delegated");
    };
    let started = job.wait_started();
    let own = PathBuf::from(started.cgroup.as_ref().unwrap().as_os_str());
    identity::signal(&started.shim, libc::SIGKILL).unwrap();
    job.wait_shim();
    until(|| is_gone(started.child.pid).then_some(()));
    let Mark::Present(lost) = job.look().to_core().started else { panic!() };
    let sweep = Sweep::lost_shim(&lost, &job.spec.run_tag);
    sweep.run(PATIENCE).unwrap();
    assert!(!is_gone(pid), "nothing else names it");
    let swept = sweep.with_cgroup_of(&job.dir).unwrap().run(PATIENCE).unwrap();
    assert!(swept.is_empty() && swept.ended == [pid], "{swept:?}");
    assert!(!own.exists());
}

#[test]
fn group_is_removed_when_its_job_ends() {
    let Some((_group, job, pid)) = confined() else {
        return eprintln!("skipped because there is no cgroup v2 that can be delegated");
    };
    let own = PathBuf::from(job.wait_started().cgroup.as_ref().unwrap().as_os_str());
    assert!(own.exists());
    job.control((1, 5)).stop("ana", 0).unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert!(is_gone(pid) && !own.exists());
}

#[test]
fn process_that_cannot_be_killed_keeps_the_job_and_is_named() {
    let Some(group) = Group::make("/sys/fs/cgroup/freezer") else {
        return eprintln!("skipped because there is no cgroup v1 freezer");
    };
    let job = Job::sh("sleep 1000 & echo $! > pid; read line < go; exit 3");
    std::process::Command::new("mkfifo").arg(job.home.path().join("go")).status().unwrap();
    job.start();
    let pid = job.wait_pids("pid")[0];
    std::fs::write(group.0.join("cgroup.procs"), pid.to_string()).unwrap();
    std::fs::write(group.0.join("freezer.state"), "FROZEN").unwrap();
    std::fs::write(job.home.path().join("go"), "go\n").unwrap();
    let mut control = job.control((1, 5));
    let status = until(|| {
        let status = control.status().unwrap().status;
        (!status.requires_human.is_empty()).then_some(status)
    });
    assert_eq!(status.phase, Phase::Ending);
    assert!(status.requires_human[0].contains(&pid.to_string()), "{status:?}");
    assert!(job.look().lock_held && job.look().exit == Mark::Absent);
    std::fs::write(group.0.join("freezer.state"), "THAWED").unwrap();
    assert_eq!(job.wait_shim().code, Some(0));
    assert!(is_gone(pid));
    assert_eq!((job.exit().code, job.exit().requires_human.len()), (Some(3), 0));
}
