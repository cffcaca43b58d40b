//! The closed sets of words that run documents show.

use std::fmt;

use crate::codec::json::{Malformed, Text};

/// A word that is not in its closed set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown word {0:?}")]
pub struct Unknown(pub String);

macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$each:meta])* $variant:ident $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[$each])* $variant),*
        }

        impl $type {
            /// Every word, in the order of the declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Reads a word.
            ///
            /// # Errors
            /// [`Unknown`] when it is not in the set.
            pub fn parse(word: &str) -> Result<Self, Unknown> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(Unknown(word.to_owned())),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Text for $type {
            fn to_text(&self) -> String {
                self.as_str().to_owned()
            }
            fn from_text(text: String) -> Result<Self, Malformed> {
                Self::parse(&text).map_err(|error| Malformed::new(error.to_string()))
            }
        }
    };
}

words!(
    /// Where a run stands.
    RunStatus {
        /// Waits in its queue.
        Pending "pending",
        /// Claimed.
        Running "running",
        /// Ended well.
        Completed "completed",
        /// Ended badly.
        Failed "failed",
        /// Ended because someone asked for it.
        Cancelled "cancelled",
    }
);

words!(
    /// How a run ended, or what it ends by.
    Disposition {
        /// Waits in its queue.
        Pending "pending",
        /// Goes on.
        Running "running",
        /// Ended well.
        Completed "completed",
        /// Ended badly.
        Failed "failed",
        /// Ended because someone asked for it.
        Cancelled "cancelled",
        /// The launcher is gone, agents of it live on.
        LauncherLostAgentsRunning "launcher-lost-agents-running",
        /// The launcher was lost before it left a word.
        LauncherLostBeforeStatus "launcher-lost-before-status",
    }
);

words!(
    /// How sound the supervision of a run is.
    Recovery {
        /// Not supervised yet.
        Pending "pending",
        /// All is known.
        Healthy "healthy",
        /// Only agents of it are left.
        Degraded "degraded",
        /// The launcher is being started again.
        Resuming "resuming",
        /// The launcher's own journal had the final word.
        RecoveredFromProgress "recovered-from-progress",
        /// Nothing had.
        Failed "failed",
    }
);

words!(
    /// What a run waits for that is not as it should be.
    ResumeAction {
        /// For agents that live on.
        WaitForLiveAgents "wait-for-live-agents",
        /// For the launcher that is started again.
        ResumeCurrentWave "resume-current-wave",
    }
);

impl RunStatus {
    /// Whether the run has ended.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Pending | Self::Running => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }
}
