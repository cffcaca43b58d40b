//! `agents/<id>.json`: a process that a launcher registered as an agent of its run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tidegate_core::exit::Identity;

use super::IdentityRecord;

/// A registered agent. The shim reads identity, `remote` and `ended`; `more` belongs to those who
/// write it and is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Version of the record.
    pub v: u32,
    /// Agent id, unique within the run.
    pub id: String,
    /// The process, for local agents.
    #[serde(default, with = "optional_identity", skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// It runs elsewhere: it is never signalled, only its heartbeats count.
    #[serde(default)]
    pub remote: bool,
    /// Its exit was reported.
    #[serde(default)]
    pub ended: bool,
    /// Everything else in the record: heartbeat, log path, session, role, exit.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

mod optional_identity {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Identity, IdentityRecord};

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "IdentityRecord")] Identity);

    #[expect(clippy::ref_option, reason = "the signature that serde calls")]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Identity>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.clone().map(Wrapped).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Identity>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
    }
}
