//! Launchers, their journals and their agents.

use tidegate_core::launcher::{
    AgentDisposition, AgentEnd, AgentProcess, Degraded, End, Finalized, Journal, Launcher,
    LauncherSpec, Registered, Selection, SelectionStyle, Settled, Source,
};

use super::json::{flattens, record, tagged, words};

record!(Selection { start_wave "startWave", end_wave "endWave", auto_next "autoNext" });

tagged!(SelectionStyle by "word" {
    EnvironmentOnly "environment" {},
    Append "append" {},
    ResumeArgv "resume_argv" { 0 argv "argv" },
});

record!(LauncherSpec {
    argv "argv",
    cwd "cwd",
    selection "selection",
    style "style",
    resumes_max "resumesMax",
    timeout_ms "timeoutMs",
    terminal (or_default "terminal"),
    stall_after_ms (later "stallAfterMs"),
});

record!(Finalized { completed "completed", exit_code "exitCode" });
record!(Journal { wave "wave", phase "phase", finalized "finalized", at "at" });

tagged!(AgentProcess by "word" {
    Local "local" { 0 identity "identity" },
    Remote "remote" {},
});

words!(AgentDisposition {
    Launching "launching",
    Running "running",
    Completed "completed",
    Failed "failed",
    Terminated "terminated",
});

record!(AgentEnd { code "code", disposition "disposition", at "at" });

record!(Registered {
    process "process",
    log "log",
    session "session",
    at "at",
    heartbeat_at "heartbeatAt",
    end "end",
});

record!(Degraded { end "end", agents "agentIds" });

words!(Source {
    ExitRecord "exit-record",
    ProgressJournal "progress-journal",
    Nothing "nothing",
});

tagged!(End by "word" {
    Completed "completed" {},
    Failed "failed" {},
    Cancelled "cancelled" { actor actor "actor" },
});

record!(Settled {
    end "outcome",
    source "source",
    code "exitCode",
    signal "signal",
    at "at",
    wave "wave",
    detail "detail",
});
flattens!(Settled { "outcome", "source", "exitCode", "signal", "at", "wave", "detail" });

record!(Launcher {
    job "job",
    resumes "resumes",
    resumes_since_progress "resumesSinceProgress",
    resumed_wave "resumedWave",
    journal "journal",
    active_wave "activeWave",
    registered "registered",
    started "started",
    degraded "degraded",
    settled "settled",
    swept "swept",
});
