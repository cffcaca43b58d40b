//! A home on a disk of its own whose power can be cut: a loop device in a mount namespace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::harness::{Fence, Home, is_gone, mentioning, namespace, signal, until};

/// Cuts the file system at `$1` off from its disk at once; nothing more is written, and its log is
/// not finished.
const CUT: &str = r#"open(F, "<", $ARGV[0]) or die "open: $!"; my $how = pack("L", 2);
ioctl(F, 0x8004587d, $how) or die "cut: $!";"#;

/// A home whose power can be cut.
pub(super) struct Disk {
    pub(super) home: Home,
    place: Fence,
    device: String,
}

impl Disk {
    /// Makes it with this kind of file system; `None` where the system does not allow one.
    pub(super) fn new(kind: &str) -> Option<Self> {
        let home = Home::new();
        let device = attach(&home, kind)?;
        let mounts = format!("mkdir $T/home && mount {device} $T/home && chmod 700 $T/home");
        let Some(place) = namespace(&home, &mounts) else {
            detach(&device);
            return None;
        };
        home.enter(Some(place.pid()));
        Some(Self { home, place, device })
    }

    /// The home as this process reaches it.
    pub(super) fn seen(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.place.pid(), self.home.path().display()))
    }

    /// The processes of the home: daemons, shims, jobs, helpers.
    pub(super) fn processes(&self) -> Vec<u32> {
        let path = self.home.path().display().to_string();
        mentioning(&path).into_iter().filter(|pid| *pid != self.place.pid()).collect()
    }

    /// Stops whoever could write.
    pub(super) fn freeze(&self) {
        for _ in 0..2 {
            for pid in self.processes() {
                signal(pid, Signal::STOP);
            }
        }
    }

    /// Takes the power away, without a warning and without a last write.
    pub(super) fn cut(&self) {
        let cut = self.within(&["perl", "-e", CUT]).arg(self.home.path()).output().unwrap();
        assert!(cut.status.success(), "{cut:?}");
    }

    /// Ends what the cut would have ended, and gives the power back.
    pub(super) fn again(&self) {
        until("the end of all processes", || {
            let left = self.processes();
            for pid in &left {
                signal(*pid, Signal::KILL);
            }
            left.is_empty().then_some(())
        });
        let path = self.home.path();
        // A killed process lets go of its files a moment after it is gone.
        until("the disk to be let go", || {
            quietly(self.within(&["umount"]).arg(&path)).then_some(())
        });
        assert!(quietly(self.within(&["mount", &self.device]).arg(&path)), "it cannot be mounted");
    }

    fn within(&self, words: &[&str]) -> Command {
        let mut call = Command::new("nsenter");
        call.args(["--mount", "--target", &self.place.pid().to_string()]).args(words);
        call
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for pid in self.processes() {
            signal(pid, Signal::KILL);
        }
        let holder = self.place.pid();
        signal(holder, Signal::KILL);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !is_gone(holder) && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
        detach(&self.device);
        self.home.enter(None);
    }
}

/// Makes an image with a file system, and a device of it.
fn attach(home: &Home, kind: &str) -> Option<String> {
    let image = home.beside("disk");
    let size = if kind == "xfs" { 320 << 20 } else { 96 << 20 };
    std::fs::File::create(&image).unwrap().set_len(size).unwrap();
    let quiet = if kind == "xfs" { "-qf" } else { "-qF" };
    let made = Command::new(format!("mkfs.{kind}")).arg(quiet).arg(&image).output().ok()?;
    assert!(made.status.success(), "{made:?}");
    let output = Command::new("losetup").args(["--find", "--show"]).arg(&image).output().ok()?;
    let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    (output.status.success() && Path::new(&device).exists()).then_some(device)
}

fn detach(device: &str) {
    let _ = quietly(Command::new("losetup").args(["--detach", device]));
}

fn quietly(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}
