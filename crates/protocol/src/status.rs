//! The closed sets of words in the run document.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every word.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it stands on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value of a word, `None` for an unknown one.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// Where a run stands.
    RunStatus {
        /// Waits in its queue.
        Pending = "pending",
        /// Claimed.
        Running = "running",
        /// Ended well.
        Completed = "completed",
        /// Ended badly.
        Failed = "failed",
        /// Ended because someone asked for it.
        Cancelled = "cancelled",
    }
}

impl RunStatus {
    /// Whether the run has ended.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Pending | Self::Running => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}

words! {
    /// What a run works at.
    RunKind {
        /// A command that orchestrates by itself.
        Launcher = "launcher",
        /// A plan.
        Plan = "plan",
    }
}

words! {
    /// How a run, or an agent of it, ended or is about to end.
    Disposition {
        /// Waits.
        Pending = "pending",
        /// Recorded, not known to run (agents).
        Launching = "launching",
        /// Runs.
        Running = "running",
        /// Ended well.
        Completed = "completed",
        /// Ended badly.
        Failed = "failed",
        /// Was ended (agents).
        Terminated = "terminated",
        /// Ended because someone asked for it.
        Cancelled = "cancelled",
        /// The launcher is gone, agents of it live on.
        LauncherLostAgentsRunning = "launcher-lost-agents-running",
        /// The launcher is gone and left no word.
        LauncherLostBeforeStatus = "launcher-lost-before-status",
    }
}

words! {
    /// How sound the supervision of a run is.
    RecoveryState {
        /// Not started.
        Pending = "pending",
        /// All is as it should be.
        Healthy = "healthy",
        /// The launcher is gone, its agents are not.
        Degraded = "degraded",
        /// The launcher is being started again.
        Resuming = "resuming",
        /// The launcher's journal told the end that its exit record did not.
        RecoveredFromProgress = "recovered-from-progress",
        /// Lost.
        Failed = "failed",
    }
}

words! {
    /// What happens next to a run whose launcher is gone.
    ResumeAction {
        /// Its agents are waited for.
        WaitForLiveAgents = "wait-for-live-agents",
        /// Its launcher is started again at its active wave.
        ResumeCurrentWave = "resume-current-wave",
    }
}

words! {
    /// What a job's standard streams are.
    SessionBackend {
        /// Pipes or files.
        Process = "process",
        /// A terminal.
        Terminal = "terminal",
    }
}

words! {
    /// How one looks at a job.
    AttachMode {
        /// By its log.
        LogTail = "log-tail",
        /// By its terminal session.
        Session = "session",
    }
}
