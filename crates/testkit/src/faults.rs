//! The faults that strike a simulated world, and the mutations that show that its oracles see.

/// A fault. Each seed has some of them, each with a rate of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The daemon is killed within a transaction: nothing of the group is recorded.
    KillInTransaction,
    /// The daemon is killed after its commit, with some effects handed on and others not.
    KillInDispatch,
    /// The daemon is killed after its commit and dispatch, before it replied to any client.
    KillBeforeReply,
    /// The daemon is killed at rest, with adapters at work.
    KillDaemon,
    /// The daemon is stopped in good order, and started again.
    StopDaemon,
    /// Another daemon takes over; the old one wakes up and tries to write.
    ReplaceDaemon,
    /// A report comes twice.
    RepeatReport,
    /// A report comes late.
    LateReport,
    /// A client sends a request again that was answered.
    RepeatRequest,
    /// A shim is killed.
    KillShim,
    /// A shim is stopped for a while.
    StallShim,
    /// A job's main process is killed from outside.
    KillMain,
    /// The host restarts.
    Reboot,
    /// The wall clock jumps by a day.
    JumpClock,
    /// Someone else pushes to a target.
    RivalPush,
    /// The checkout of a target gets uncommitted changes for a while.
    DirtyCheckout,
    /// Another home serves a repository for a while.
    HoldRepository,
    /// A target is deleted.
    DeleteTarget,
    /// A record of a job gets unreadable.
    GarbleRecord,
    /// Someone cancels a run.
    Cancel,
    /// Someone retries a run or a feature.
    Retry,
    /// A commit finds the disk full. Needs the feature `failpoints`, and one thread.
    FullDisk,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::KillInTransaction,
        Self::KillInDispatch,
        Self::KillBeforeReply,
        Self::KillDaemon,
        Self::StopDaemon,
        Self::ReplaceDaemon,
        Self::RepeatReport,
        Self::LateReport,
        Self::RepeatRequest,
        Self::KillShim,
        Self::StallShim,
        Self::KillMain,
        Self::Reboot,
        Self::JumpClock,
        Self::RivalPush,
        Self::DirtyCheckout,
        Self::HoldRepository,
        Self::DeleteTarget,
        Self::GarbleRecord,
        Self::Cancel,
        Self::Retry,
        Self::FullDisk,
    ];

    /// How often it strikes where it can, in percent, when a seed has it. Faults that come by
    /// themselves, not on an occasion, have none.
    pub fn percent(self) -> Option<u64> {
        match self {
            Self::KillInTransaction
            | Self::KillInDispatch
            | Self::KillBeforeReply
            | Self::Cancel => Some(3),
            Self::RepeatReport | Self::LateReport => Some(12),
            Self::RivalPush | Self::DirtyCheckout => Some(15),
            Self::RepeatRequest => Some(40),
            Self::FullDisk => Some(4),
            Self::KillDaemon
            | Self::StopDaemon
            | Self::ReplaceDaemon
            | Self::KillShim
            | Self::StallShim
            | Self::KillMain
            | Self::Reboot
            | Self::JumpClock
            | Self::HoldRepository
            | Self::DeleteTarget
            | Self::GarbleRecord
            | Self::Retry => None,
        }
    }
}

/// A lie of the played world that no product can survive: an oracle must see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mutation {
    /// The world is honest.
    #[default]
    None,
    /// A `started` record does not keep a second shim from starting.
    StartTwice,
    /// The target is moved without a comparison.
    SkipCompare,
    /// Some reports never come, and nobody looks again.
    LoseReports,
    /// Every gate is reported as passed.
    GatesLie,
    /// A sweep ends nothing, and says that all is gone.
    SweepNothing,
    /// A client forgets its key when it asks again.
    ForgetKeys,
    /// A byte of the log changes on the disk.
    TamperWithLog,
    /// The engine is told of more room than there is.
    WideCaps,
    /// A daemon that is taken for replaced was not.
    NoTakeover,
    /// The target does not move, and is said to have moved.
    LandNothing,
}
