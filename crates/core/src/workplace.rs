//! What the worktrees of a plan's features get beside the files of their commits, as the pinned
//! config says it, and what one of them got.

use std::collections::BTreeMap;

use crate::limits;
use crate::plan::GateRun;

/// What worktrees of a plan get. The default is that of a config without `[worktree]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeSpec {
    /// Run in a new worktree before any agent.
    pub setup: Option<HookSpec>,
    /// Run in the worktree once its feature has ended.
    pub teardown: Option<HookSpec>,
    /// Whether the setup also runs in the checkouts of gates, before the gate.
    pub setup_gates: bool,
    /// Whether files that `.worktreeinclude` names are copied from the user's checkout.
    pub include: bool,
    /// What becomes of submodules.
    pub submodules: SubmodulePolicy,
    /// What becomes of files in Git LFS.
    pub lfs: LfsPolicy,
    /// TCP ports that each feature gets for itself.
    pub ports: u32,
    /// First port that is given.
    pub port_first: u32,
    /// Last port that is given.
    pub port_last: u32,
}

impl Default for WorktreeSpec {
    fn default() -> Self {
        Self {
            setup: None,
            teardown: None,
            setup_gates: false,
            include: true,
            submodules: SubmodulePolicy::Init,
            lfs: LfsPolicy::Off,
            ports: 0,
            port_first: limits::PORT_FIRST,
            port_last: limits::PORT_LAST,
        }
    }
}

/// A command that is run in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSpec {
    /// What is executed.
    pub run: GateRun,
    /// Environment that the config adds.
    pub env: BTreeMap<String, String>,
    /// Limit, in milliseconds on the monotonic clock.
    pub timeout_ms: u64,
}

/// What becomes of submodules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmodulePolicy {
    /// They stay empty.
    Off,
    /// Those that the user's repository holds are filled from there; no network.
    Init,
}

/// What becomes of files in Git LFS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LfsPolicy {
    /// They stay pointers.
    Off,
    /// Their content is fetched.
    Pull,
}

/// Which command of a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hook {
    /// Before the first agent.
    Setup,
    /// After the end of the feature.
    Teardown,
}

impl Hook {
    /// Its word in the config, the run document and the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Setup => "setup",
            Self::Teardown => "teardown",
        }
    }
}

impl WorktreeSpec {
    /// The command of a hook, when there is one.
    pub fn hook(&self, hook: Hook) -> Option<&HookSpec> {
        match hook {
            Hook::Setup => self.setup.as_ref(),
            Hook::Teardown => self.teardown.as_ref(),
        }
    }
}

/// What one worktree got beside the files of its commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Furnished {
    /// Names this making of the worktree; another one has another name.
    pub making: String,
    /// TCP ports that are the feature's until it ends.
    pub ports: Vec<u32>,
    /// Files that were copied from the user's checkout.
    pub included: Vec<String>,
    /// Files that `.worktreeinclude` names and that were not copied.
    pub left_out: Vec<NotCopied>,
    /// Submodules that have their files.
    pub submodules: Vec<String>,
    /// Submodules that are empty, as in the user's repository.
    pub empty_submodules: Vec<String>,
    /// Files that are pointers of Git LFS.
    pub pointers: Vec<String>,
    /// Whether only those files of the commit are there that the user's sparse checkout has.
    pub sparse: bool,
}

/// A file that was not copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCopied {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

impl Furnished {
    /// Whether there is nothing to tell: the files of the commit, and no more.
    pub fn is_plain(&self) -> bool {
        let named = Self { making: self.making.clone(), ..Self::default() };
        *self == named
    }
}
