//! A mount namespace of its own, made with root's rights, in which one thing of the system is
//! different.

use std::process::{Command, Stdio};

use super::{Fence, Home, until};

/// Makes a namespace with these `mount` commands (`$T` is the folder beside the home); `None` where
/// the system does not allow it.
pub(crate) fn namespace(home: &Home, mounts: &str) -> Option<Fence> {
    let name = format!("namespace-{}", mounts.len());
    // One process for as long as it holds: children of its own would come and go among those
    // that a test looks for.
    let script = format!("{{ {mounts}; }} || exit 1\nmark {name}; exec sleep infinity");
    let program = home.program(&format!("{name}.sh"), &script);
    let mut holder = Command::new("unshare");
    holder.args(["--mount", "--propagation", "private", &program]);
    home.place(&mut holder);
    let holder = Fence::start(holder.stdout(Stdio::null()).stderr(Stdio::null()));
    let made = until("a namespace", || {
        if home.beside(&name).exists() {
            return Some(true);
        }
        super::is_gone(holder.pid()).then_some(false)
    });
    made.then_some(holder)
}
