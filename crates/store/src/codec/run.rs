//! What runs execute, and what their jobs are for.

use serde_json::{Map, Value};
use tidegate_core::evidence::{Evidence, Share, Tests};
use tidegate_core::launcher::Launcher;
use tidegate_core::run::{Phase, Plan, Purpose, Submitted, Work};

use tidegate_core::workplace::Hook;

use super::json::{Fields, Json, Malformed, flattens, record, tagged, words};

words!(Hook { Setup "setup", Teardown "teardown" });
words!(Phase { Branch "branch", Merge "merge" });

tagged!(Purpose by "word" {
    Launcher "launcher" { resume_wave resume_wave "resumeWave" },
    LauncherAgent "launcher_agent" {
        agent agent "agent",
        role role "role",
        argv argv "argv",
        terminal terminal (or_default "terminal"),
    },
    Agent "agent" { feature feature "feature", role role "role", iteration iteration "iteration" },
    Gate "gate" {
        feature feature "feature",
        gate gate "gate",
        commit commit "commit",
        phase phase "phase",
        slot slot "slot",
    },
    Hook "hook" { feature feature "feature", hook hook "hook", making making "making" },
});

record!(Evidence {
    tests "tests",
    coverage "coverage",
    changed "changed",
    problems "problems",
    digest "digest",
});

record!(Tests {
    passed "passed",
    failed "failed",
    errored "errored",
    skipped "skipped",
    flaky "flaky",
});

record!(Share { hit "hit", found "found" });

record!(Plan { features "features" });

record!(Submitted {
    id "runId",
    seq "seq",
    queue flat,
    actor "actor",
    at "at",
    env "env",
    parent "parent",
    priority (later "priority"),
    work "work",
});
flattens!(Submitted {
    "runId", "seq", "project", "lane", "adhocRunId", "actor", "at", "env", "parent", "work",
    "priority",
});

impl Json for Work {
    /// The state is null while it is what the spec alone gives: the rule at a submit.
    fn to_json(&self) -> Value {
        let (word, spec, state) = match self {
            Self::Launcher { spec, state } => (
                "launcher",
                spec.to_json(),
                (*state != Launcher::default()).then_some(state).map(Json::to_json),
            ),
            Self::Plan { spec, state } => (
                "plan",
                spec.to_json(),
                (*state != Plan::new(spec)).then_some(state).map(Json::to_json),
            ),
        };
        let mut map = Map::new();
        map.insert("word".to_owned(), Value::from(word));
        map.insert("spec".to_owned(), spec);
        map.insert("state".to_owned(), state.unwrap_or(Value::Null));
        Value::Object(map)
    }

    fn from_json(value: Value) -> Result<Self, Malformed> {
        let mut fields = Fields::of(value)?;
        let kind: String = fields.take("word")?;
        let work = match kind.as_str() {
            "launcher" => {
                let state: Option<Launcher> = fields.take("state")?;
                Self::Launcher { spec: fields.take("spec")?, state: state.unwrap_or_default() }
            }
            "plan" => {
                let spec = fields.take("spec")?;
                let state: Option<Plan> = fields.take("state")?;
                let state = state.unwrap_or_else(|| Plan::new(&spec));
                Self::Plan { spec, state }
            }
            _ => return Err(Malformed::new(format!("unknown word {kind:?}")).inside("word")),
        };
        fields.end()?;
        Ok(work)
    }
}
