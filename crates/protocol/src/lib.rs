//! The wire contract of Tidegate: what clients send, what they get, and the closed sets of codes.
//!
//! The same documents stand behind `--json`, the HTTP API and the readers that ask no daemon. This
//! crate knows serde and nothing of ours: no store, no process, no clock.

mod answer;
mod code;
mod daemon;
mod event;
mod exit_code;
mod explain;
mod feature;
mod job;
mod problem;
mod project;
mod request;
mod run;
mod status;
mod submit;
mod text;
mod timestamp;
mod wave;

pub use answer::{Asked, CancelAnswer, RetryAnswer, StartAgentAnswer, SubmitAnswer};
pub use code::ErrorCode;
pub use daemon::DaemonDoc;
pub use event::{EventPage, EventView};
pub use exit_code::{EXIT_CODES, ExitCode};
pub use explain::{ExplainDoc, Fact};
pub use feature::{BlockedDoc, EvidenceDoc, FeatureDoc, FeatureList};
pub use job::{IdentityDoc, JobDoc, JobList};
pub use problem::{Details, Envelope, Problem};
pub use project::{ProjectDoc, ProjectList};
pub use request::{
    ApproveRequest, MoveProjectRequest, ProjectRequest, RetryRequest, StartAgentRequest,
    StopDaemonRequest,
};
pub use run::{AgentDoc, Ages, AttentionDoc, CorruptDoc, RunDoc, RunPage};
pub use status::{
    AttachMode, Disposition, RecoveryState, ResumeAction, RunKind, RunStatus, SessionBackend,
};
pub use submit::{Bundle, LauncherWork, PlanSelection, PlanWork, SubmitRequest, WorkRequest};
pub use text::Text;
pub use timestamp::Timestamp;
pub use wave::WaveDoc;

/// Path prefix of every versioned route.
pub const API_PREFIX: &str = "/api/v1";
/// Request header: the version of the client. Another one than the daemon's is refused on writes.
pub const VERSION_HEADER: &str = "tidegate-version";
/// Request header: names one command, so that it is executed once however often it is sent.
pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// Largest request body that is read, in bytes.
pub const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Time between two heartbeat comments of an event stream, in milliseconds.
pub const STREAM_HEARTBEAT_MS: u64 = 15_000;
/// Version of this build; client and daemon compare it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
