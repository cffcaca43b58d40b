//! Identifiers and moments, in their own text.

use tidegate_core::command::CommandId;
use tidegate_core::ids::{
    AdhocId, AgentId, AgentName, BlobId, FeatureId, GateName, JobId, LaneName, LockName, Oid,
    ProjectId, QuestionId, QueueKey, RoleName, RunId,
};
use tidegate_core::time::{BootMs, WallMs};

use super::json::{Json, Malformed, Text, flattens, record, text};

macro_rules! named {
    ($($type:ident by $read:expr),* $(,)?) => {
        $(impl Text for $type {
            fn to_text(&self) -> String {
                self.to_string()
            }
            fn from_text(text: String) -> Result<Self, Malformed> {
                $read(text)
            }
        }
        text!($type);)*
    };
}

fn refused(error: &tidegate_core::ids::InvalidName) -> Malformed {
    Malformed::new(error.to_string())
}

named!(
    AdhocId by |text: String| AdhocId::new(text).map_err(|e| refused(&e)),
    AgentId by |text: String| AgentId::new(text).map_err(|e| refused(&e)),
    AgentName by |text: String| AgentName::new(text).map_err(|e| refused(&e)),
    FeatureId by |text: String| FeatureId::new(text).map_err(|e| refused(&e)),
    GateName by |text: String| GateName::new(text).map_err(|e| refused(&e)),
    LaneName by |text: String| LaneName::new(text).map_err(|e| refused(&e)),
    LockName by |text: String| LockName::new(text).map_err(|e| refused(&e)),
    ProjectId by |text: String| ProjectId::new(text).map_err(|e| refused(&e)),
    RoleName by |text: String| RoleName::new(text).map_err(|e| refused(&e)),
    CommandId by |text: String| CommandId::new(text).map_err(|e| refused(&e)),
    RunId by |text: String| RunId::new(text).map_err(|e| refused(&e)),
    JobId by |text: String| JobId::parse(&text).map_err(|e| refused(&e)),
    QuestionId by |text: String| QuestionId::parse(&text).map_err(|e| refused(&e)),
    Oid by |text: String| Oid::new(text).ok_or_else(|| Malformed::new("is no object id")),
    BlobId by |text: String| BlobId::new(text).ok_or_else(|| Malformed::new("is no blob id")),
);

record!(QueueKey { project "project", lane "lane", adhoc "adhocRunId" });
flattens!(QueueKey { "project", "lane", "adhocRunId" });

impl Json for BootMs {
    fn to_json(&self) -> serde_json::Value {
        self.0.to_json()
    }
    fn from_json(value: serde_json::Value) -> Result<Self, Malformed> {
        u64::from_json(value).map(Self)
    }
}

impl Json for WallMs {
    fn to_json(&self) -> serde_json::Value {
        self.0.to_json()
    }
    fn from_json(value: serde_json::Value) -> Result<Self, Malformed> {
        u64::from_json(value).map(Self)
    }
}
