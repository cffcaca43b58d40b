//! The files by which a launcher speaks while no daemon may be there: its journal, and the agents
//! that it registers. Each is written whole (temporary file, fsync, rename, fsync of the folder).
//!
//! It owns the format. The command line writes by it, the daemon ingests by it, readers show by it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tidegate_core::exit::Identity;
use tidegate_core::ids::AgentId;
use tidegate_core::launcher::{
    AgentDisposition, AgentEnd, AgentProcess, Finalized, Journal, Registered,
};
use tidegate_core::time::WallMs;
use tidegate_process::JobDir;
use tidegate_process::record::{AgentRecord, VERSION};

const PROGRESS: &str = "progress.json";

/// What a launcher says of its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProgressFile {
    v: u32,
    at: u64,
    wave: Option<u32>,
    phase: Option<String>,
    finalized: Option<FinalWord>,
    exit_code: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FinalWord {
    Completed,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExitFile {
    v: u32,
    at: u64,
    code: Option<i32>,
    disposition: EndWord,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EndWord {
    Completed,
    Failed,
    Terminated,
}

/// What stands in a launcher's files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spooled {
    /// The journal's newest entry.
    pub journal: Option<Journal>,
    /// Registered agents, with their latest heartbeat and their end.
    pub agents: Vec<(AgentId, Registered)>,
    /// Files that do not read well: their names, and what is wrong.
    pub damaged: Vec<(PathBuf, String)>,
}

/// Registers an agent. `process` is `None` for one that runs elsewhere.
///
/// # Errors
/// When the file cannot be written.
pub fn register(
    job_dir: &Path,
    agent: &AgentId,
    process: Option<Identity>,
    log: Option<&str>,
    session: Option<&str>,
    at: WallMs,
) -> io::Result<()> {
    let mut more = Map::new();
    more.insert("at".to_owned(), at.0.into());
    let mut put = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            more.insert(name.to_owned(), Value::from(value));
        }
    };
    put("log", log);
    put("session", session);
    let remote = process.is_none();
    let id = agent.to_string();
    let record = AgentRecord { v: VERSION, id, identity: process, remote, ended: false, more };
    let agents = job_dir.join("agents");
    // A new life of the agent: what was said of the former one is over.
    for stale in ["exit", "heartbeat"] {
        remove(&agents.join(format!("{agent}.{stale}")))?;
    }
    write(&agents, &format!("{agent}.json"), &to_bytes(&record)?)
}

/// Notes that an agent is alive.
///
/// # Errors
/// When the file cannot be written.
pub fn heartbeat(job_dir: &Path, agent: &AgentId, at: WallMs) -> io::Result<()> {
    write(&job_dir.join("agents"), &format!("{agent}.heartbeat"), at.0.to_string().as_bytes())
}

/// Notes the end of an agent.
///
/// # Errors
/// When the file cannot be written.
pub fn exit(job_dir: &Path, agent: &AgentId, end: &AgentEnd) -> io::Result<()> {
    let disposition = match end.disposition {
        AgentDisposition::Completed => EndWord::Completed,
        AgentDisposition::Failed => EndWord::Failed,
        AgentDisposition::Terminated | AgentDisposition::Launching | AgentDisposition::Running => {
            EndWord::Terminated
        }
    };
    let file = ExitFile { v: VERSION, at: end.at.0, code: end.code, disposition };
    write(&job_dir.join("agents"), &format!("{agent}.exit"), &to_bytes(&file)?)
}

/// Replaces the journal's newest entry.
///
/// # Errors
/// When the file cannot be written.
pub fn progress(job_dir: &Path, journal: &Journal) -> io::Result<()> {
    let finalized = journal
        .finalized
        .map(|word| if word.completed { FinalWord::Completed } else { FinalWord::Failed });
    let file = ProgressFile {
        v: VERSION,
        at: journal.at.0,
        wave: journal.wave,
        phase: journal.phase.clone(),
        finalized,
        exit_code: journal.finalized.and_then(|word| word.exit_code),
    };
    write(job_dir, PROGRESS, &to_bytes(&file)?)
}

/// Reads what stands in a launcher's files; writes nothing. Whether the registered processes
/// belong to the run is not checked here.
pub fn read(job_dir: &Path) -> Spooled {
    let mut spooled = Spooled::default();
    let path = job_dir.join(PROGRESS);
    match read_json::<ProgressFile>(&path) {
        Ok(file) => spooled.journal = file.map(journal_of),
        Err(why) => spooled.damaged.push((path, why)),
    }
    let records = JobDir::open(job_dir).and_then(|dir| dir.agents()).unwrap_or_default();
    for record in records {
        match record {
            Ok(record) => match read_agent(job_dir, &record) {
                Ok(agent) => spooled.agents.push(agent),
                Err(damage) => spooled.damaged.push(damage),
            },
            Err(error) => spooled.damaged.push((job_dir.join("agents"), error.to_string())),
        }
    }
    spooled
}

fn read_agent(
    job_dir: &Path,
    record: &AgentRecord,
) -> Result<(AgentId, Registered), (PathBuf, String)> {
    let agents = job_dir.join("agents");
    let damage = |why: String| (agents.join(format!("{}.json", record.id)), why);
    let id = AgentId::new(record.id.clone()).map_err(|error| damage(error.to_string()))?;
    let process = match (record.remote, record.identity.clone()) {
        (true, _) => AgentProcess::Remote,
        (false, Some(identity)) => AgentProcess::Local(identity),
        (false, None) => return Err(damage("a local agent without an identity".to_owned())),
    };
    let at = WallMs(record.more.get("at").and_then(Value::as_u64).unwrap_or(0));
    let text = |name: &str| record.more.get(name).and_then(Value::as_str).map(str::to_owned);
    let exit_path = agents.join(format!("{id}.exit"));
    let end =
        read_json::<ExitFile>(&exit_path).map_err(|why| (exit_path, why))?.as_ref().map(end_of);
    let beat = fs::read_to_string(agents.join(format!("{id}.heartbeat")));
    let heartbeat = beat.ok().and_then(|text| text.trim().parse().ok()).map(WallMs);
    let registered = Registered {
        process,
        log: text("log"),
        session: text("session"),
        at,
        heartbeat_at: heartbeat.unwrap_or(at).max(at),
        end,
    };
    Ok((id, registered))
}

fn journal_of(file: ProgressFile) -> Journal {
    let finalized = file.finalized.map(|word| Finalized {
        completed: word == FinalWord::Completed,
        exit_code: file.exit_code,
    });
    Journal { wave: file.wave, phase: file.phase, finalized, at: WallMs(file.at) }
}

fn end_of(file: &ExitFile) -> AgentEnd {
    let disposition = match file.disposition {
        EndWord::Completed => AgentDisposition::Completed,
        EndWord::Failed => AgentDisposition::Failed,
        EndWord::Terminated => AgentDisposition::Terminated,
    };
    AgentEnd { code: file.code, disposition, at: WallMs(file.at) }
}

fn to_bytes(value: &impl Serialize) -> io::Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(io::Error::other)
}

/// `Ok(None)` when there is no such file.
fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| error.to_string())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Puts `bytes` under `dir/name`, whole or not at all, durably.
pub(crate) fn write(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temp = dir.join(format!("{name}.{}.tmp", std::process::id()));
    remove(&temp)?;
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&temp)?;
    file.write_all(bytes)?;
    fail::fail_point!("spool.file.before_fsync");
    file.sync_data()?;
    fail::fail_point!("spool.file.before_rename");
    fs::rename(&temp, dir.join(name))?;
    fail::fail_point!("spool.file.after_rename");
    File::open(dir)?.sync_all()
}
