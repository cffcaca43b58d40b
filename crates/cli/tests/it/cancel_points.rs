//! Cancels that meet a shim which stands still somewhere on its way to the start.

use rustix::process::Signal;

use crate::harness::{Home, is_gone, mentioning, signal, until};

#[test]
fn run_that_is_cancelled_while_its_shim_stands_still_is_withdrawn_or_stopped() {
    for point in
        ["shim.before_lock", "shim.after_lock", "started.before_link", "started.after_link"]
    {
        let home = Home::new();
        let _daemon = home.daemon_with(&[("TIDEGATE_FAIL", &format!("{point}=stop"))]);
        let run = home.script(&[], "count starts; await never");
        let shim = until("a stopped shim", || {
            let shims = mentioning(&format!("{}/jobs/", home.path().display()));
            shims.into_iter().find(|pid| {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
            })
        });
        home.run(&["cancel", &run]).ends_with(0);
        let is_locked = point != "shim.before_lock";
        if !is_locked {
            // Without the lock nobody waits for the shim: it comes too late.
            home.ended(&run);
        }
        signal(shim, Signal::CONT);
        assert_eq!(home.ended(&run)["status"], "cancelled", "{point}");
        until("the shim's end", || is_gone(shim).then_some(()));
        assert!(home.lines("starts") <= usize::from(is_locked), "{point}");
        assert!(home.processes(&run).is_empty(), "{point}");
        home.close();
    }
}
