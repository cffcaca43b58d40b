//! A network of its own for one test: loopback and nothing else.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Sets the flag of the interface `lo` that it is up; perl is there wherever git is.
const RAISE: &str = r#"socket(my $s, 2, 2, 0) or die; my $r = pack("a16 s x22", "lo", 0x49);
ioctl($s, 0x8914, $r) or die; print "up\n"; close STDOUT; sleep 1000"#;

/// Runs a test on a thread whose network, and that of all it starts, is loopback alone. Where the
/// system does not allow that, it runs in the network that there is.
pub(crate) fn in_own_network(test: impl FnOnce() + Send) {
    let done = std::thread::scope(|scope| {
        let run = || {
            enter();
            test();
        };
        scope.spawn(run).join()
    });
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

/// Whether the calling thread is in a network of its own now.
fn enter() -> Option<()> {
    let mut holder = Command::new("unshare");
    holder.args(["--net", "perl", "-e", RAISE]).stdin(Stdio::null());
    holder.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut holder = holder.spawn().ok()?;
    let mut said = String::new();
    let _ = BufReader::new(holder.stdout.take()?).read_line(&mut said);
    let network = File::open(format!("/proc/{}/ns/net", holder.id())).ok();
    let network = network.filter(|_| said == "up\n");
    let entered = network.and_then(|network| {
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).ok()
    });
    // The namespace lives with the threads that are in it.
    let _ = holder.kill();
    let _ = holder.wait();
    entered
}
