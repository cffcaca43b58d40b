//! `spec.json`: all that a shim needs to run one attempt of a job.

use std::io;

use serde::{Deserialize, Serialize};

use super::{Text, VERSION};

/// What a shim is to run. Durable before the shim is spawned, never changed afterwards.
///
/// It holds the environment and a token: its file is readable by its owner only, and its `Debug`
/// form shows neither.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Version of the record, [`VERSION`].
    pub v: u32,
    /// Job id, `<run>-<n>`.
    pub job: String,
    /// Run id.
    pub run: String,
    /// Which attempt for its purpose this is, from 1.
    pub attempt: u32,
    /// Program and arguments. A program without `/` is looked up on the `PATH` of `env` when the
    /// job starts. No shell.
    pub argv: Vec<Text>,
    /// Working directory, absolute.
    pub cwd: Text,
    /// The whole environment of the job, in order; the last of equal names counts. The shim adds
    /// `TIDEGATE_RUN_TAG` with `run_tag`.
    pub env: Vec<(Text, Text)>,
    /// Standard input.
    #[serde(default)]
    pub stdin: Stdin,
    /// Standard output and error.
    #[serde(default)]
    pub output: OutputMode,
    /// Limits in time and size.
    #[serde(default)]
    pub limits: Limits,
    /// File mode creation mask of the job.
    #[serde(default = "umask_default")]
    pub umask: u32,
    /// Names this attempt; every record repeats it. See [`Spec::fresh_nonce`].
    pub nonce: String,
    /// Authenticates the job towards the daemon. The shim only carries it.
    #[serde(default)]
    pub token: String,
    /// Generation of the store that started the job; the higher half of the fencing token.
    #[serde(default)]
    pub generation: u64,
    /// Epoch of the daemon that started the job; the lower half of the fencing token.
    pub epoch: u64,
    /// Value of `TIDEGATE_RUN_TAG`: `<home id>:<run id>:<job id>`.
    pub run_tag: String,
    /// Launchers: registered agents live on when the main process ends without an exit code of
    /// its own.
    #[serde(default)]
    pub spare_agents: bool,
}

fn umask_default() -> u32 {
    0o077
}

impl Spec {
    /// Makes a nonce: 128 random bits in hex.
    ///
    /// # Errors
    /// When the kernel gives no random bytes.
    pub fn fresh_nonce() -> io::Result<String> {
        use std::fmt::Write as _;
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }

    /// Whether this program may act on the record: its version is known, there is something to run.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.v != VERSION {
            return Err(format!("version {} is not {VERSION}", self.v));
        }
        if self.argv.is_empty() {
            return Err("argv is empty".to_owned());
        }
        if self.nonce.is_empty() || self.run_tag.is_empty() {
            return Err("nonce or run tag is empty".to_owned());
        }
        Ok(())
    }
}

impl std::fmt::Debug for Spec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spec")
            .field("job", &self.job)
            .field("attempt", &self.attempt)
            .field("argv", &self.argv)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// Where standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// `/dev/null`; with a terminal as output, that terminal.
    #[default]
    Null,
    /// This file, then end of file. A relative path is taken from the job directory.
    File(Text),
    /// A pipe that stays open until it is closed over the control socket.
    Pipe,
}

/// Where standard output and error go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// Two pipes that the shim drains into `output.N` and `index`.
    #[default]
    Pipe,
    /// `/dev/null`.
    Null,
    /// A terminal of this size at the start. It is standard input as well, unless that is a file or a
    /// pipe. All that is written counts as standard output.
    Terminal {
        /// Rows.
        rows: u16,
        /// Columns.
        cols: u16,
    },
}

/// Limits of a job in time and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The job is stopped after this long on `CLOCK_MONOTONIC`, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// A segment of output is closed when it has this many bytes.
    pub segment_bytes: u64,
    /// The oldest segments are removed when all together have more bytes than this. The newest
    /// one always stays.
    pub output_bytes_max: Option<u64>,
    /// Output is not stored while less than this is free on the disk, in bytes: what cannot be
    /// lost needs the rest.
    pub reserve_bytes: u64,
    /// How long grandchildren may go on after the main process ended, in milliseconds.
    pub drain_ms: u64,
    /// How long after TERM a job that is over its limit is killed, in milliseconds.
    pub grace_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout_ms: None,
            segment_bytes: 16 << 20,
            output_bytes_max: None,
            reserve_bytes: 0,
            drain_ms: 200,
            grace_ms: 5_000,
        }
    }
}
