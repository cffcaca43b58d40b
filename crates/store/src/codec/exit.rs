//! How jobs were started and how they ended.

use tidegate_core::exit::{Exit, Identity, Reason, Started};

use super::json::{record, tagged};

record!(Identity {
    pid "pid",
    start_ticks "startTicks",
    boot_id "bootId",
    pidfs_inode "pidfsInode",
});

record!(Started { shim "shim", child "child", at "at" });

tagged!(Reason by "word" {
    Exited "exited" {},
    Signalled "signalled" {},
    Stopped "stopped" { actor actor "actor" },
    Timeout "timeout" {},
    Limit "limit" {},
    Oom "oom" {},
    LostShim "lost_shim" {},
    LostReboot "lost_reboot" {},
    ExecFailed "exec_failed" {},
    Storage "storage" {},
});

record!(Exit {
    reason "reason",
    code "code",
    signal "signal",
    at "at",
    ran_ms "ranMs",
    output_bytes "outputBytes",
    detail "detail",
    requires_human "requiresHuman",
});
