//! Signals reach the process that was meant, or nobody.

use std::io::Write as _;
use std::process::{Child, Command};

use tidegate_core::exit::Identity;
use tidegate_process::identity::{self, Sent};

use crate::fixture::{identity_of, until};

fn sleeper() -> Child {
    Command::new("sleep").arg("1000").spawn().unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn identity_of_a_living_process_is_stable_and_complete() {
    let child = sleeper();
    let one = identity_of(child.id());
    assert_eq!(one, identity_of(child.id()));
    assert!(one.start_ticks > 0 && one.boot_id.len() == 36);
    assert!(identity::is_alive(&one).unwrap());
    assert_ne!(one, identity::own().unwrap());
    end(child);
    assert!(!identity::is_alive(&one).unwrap());
    assert_eq!(identity::signal(&one, libc::SIGKILL).unwrap(), Sent::Gone);
}

#[test]
fn zombie_counts_as_gone() {
    let mut child = sleeper();
    let one = identity_of(child.id());
    child.kill().unwrap();
    until(|| (!identity::is_alive(&one).unwrap()).then_some(()));
    assert_eq!(identity::of(child.id()).unwrap(), None);
    child.wait().unwrap();
}

#[test]
fn any_difference_in_identity_signals_nobody() {
    let child = sleeper();
    let real = identity_of(child.id());
    let others = [
        Identity { start_ticks: real.start_ticks + 1, ..real.clone() },
        Identity { boot_id: "another".into(), ..real.clone() },
        Identity { pidfs_inode: real.pidfs_inode + 1, ..real.clone() },
        Identity { pid: 0, ..real.clone() },
        Identity { pid: u32::MAX, ..real.clone() },
    ];
    for other in others {
        assert_eq!(identity::signal(&other, libc::SIGKILL).unwrap(), Sent::Gone, "{other:?}");
    }
    assert!(identity::is_alive(&real).unwrap());
    // A kernel without pidfs gave no inode: the rest of the identity decides.
    let old = Identity { pidfs_inode: 0, ..real.clone() };
    assert_eq!(identity::signal(&old, libc::SIGTERM).unwrap(), Sent::Delivered);
    until(|| (!identity::is_alive(&real).unwrap()).then_some(()));
    end(child);
}

#[test]
fn recycled_pid_is_a_stranger() {
    let victim = sleeper();
    let old = identity_of(victim.id());
    end(victim);
    // The kernel hands pids out in turn from the one after this; others may be faster, so try.
    for _ in 0..200 {
        let mut last = std::fs::File::create("/proc/sys/kernel/ns_last_pid").unwrap();
        write!(last, "{}", old.pid - 1).unwrap();
        let stranger = sleeper();
        if stranger.id() == old.pid {
            assert!(!identity::is_alive(&old).unwrap());
            assert_eq!(identity::signal(&old, libc::SIGKILL).unwrap(), Sent::Gone);
            assert!(identity::is_alive(&identity_of(stranger.id())).unwrap());
            return end(stranger);
        }
        end(stranger);
    }
    panic!("the pid could not be recycled");
}
