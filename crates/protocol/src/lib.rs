//! The wire contract of Tidegate: what clients send, what they get, and the closed sets of codes.
//!
//! The same documents stand behind `--json`, the HTTP API and the readers that ask no daemon. This
//! crate knows serde and nothing of ours: no store, no process, no clock.

mod answer;
mod cleanup;
mod code;
mod command;
mod daemon;
mod event;
mod exit_code;
mod explain;
mod feature;
mod job;
mod lane;
mod people;
mod problem;
mod project;
mod provider;
mod request;
mod review;
mod run;
mod snapshot;
mod status;
mod submit;
mod terminal;
mod text;
mod timestamp;
mod usage;
mod wave;
mod wire;

pub use answer::{Asked, CancelAnswer, RetryAnswer, StartAgentAnswer, SubmitAnswer};
pub use cleanup::{
    CleanupAsked, CleanupDoc, CleanupRequest, KeptDoc, RemovalDoc, RestorationDoc, RestoreRequest,
};
pub use code::ErrorCode;
pub use command::{
    ActiveCommand, BackgroundError, CommandDoc, CommandPage, GiveRequest, LaunchItem,
    LaunchRequest, ResumeFeatureRequest, RuntimeDoc,
};
pub use daemon::DaemonDoc;
pub use event::{EventPage, EventView};
pub use exit_code::{EXIT_CODES, ExitCode};
pub use explain::{ExplainDoc, Fact};
pub use feature::{BlockedDoc, EvidenceDoc, FeatureDoc, FeatureList, LockDoc, ShareDoc, TestsDoc};
pub use job::{IdentityDoc, JobDoc, JobList};
pub use lane::{LaneDoc, LaneList, PauseDoc};
pub use people::{
    AnswerDoc, AnswerRequest, AskAnswer, AskRequest, InboxDoc, InboxItem, MessageDoc, QuestionDoc,
    ReceivedRequest, SaidDoc, SendAnswer, SendRequest,
};
pub use problem::{Details, Envelope, Problem};
pub use project::{ProjectDoc, ProjectList};
pub use provider::{CapabilitiesDoc, ProviderDoc, ProvidersDoc};
pub use request::{
    ApproveRequest, DenyRequest, LanesRequest, MoveProjectRequest, PauseRequest, PriorityRequest,
    ProjectRequest, RetryRequest, RollbackRequest, StartAgentRequest, StopDaemonRequest,
};
pub use review::{DiffFile, DiffStats, FindingDoc, ReviewDoc, VerdictDoc};
pub use run::{AgentDoc, Ages, AttentionDoc, CorruptDoc, RunDoc, RunPage};
pub use snapshot::{LeftOutDoc, RestoredDoc, SnapshotDoc, SnapshotList};
pub use status::{
    AttachMode, Disposition, RecoveryState, ResumeAction, RunKind, RunStatus, SessionBackend,
};
pub use submit::{Bundle, LauncherWork, PlanSelection, PlanWork, SubmitRequest, WorkRequest};
pub use terminal::{TERMINAL_UPGRADE, TerminalQuery};
pub use text::Text;
pub use timestamp::Timestamp;
pub use usage::{CostsDoc, FeatureCostsDoc, RunCostsDoc, ToldDoc, UsageDoc};
pub use wave::WaveDoc;
pub use wire::{
    API_PREFIX, BODY_BYTES_MAX, IDEMPOTENCY_HEADER, STREAM_HEARTBEAT_MS, VERSION, VERSION_HEADER,
};
