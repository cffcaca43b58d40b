//! The data of an agent's manifest beside its argv: how its stream is read, when it has succeeded,
//! and how its conversation is taken up again. Others interpret it; nothing here runs or matches.

use crate::told::Class;

/// How an agent's output and end are understood. The default is a program without a stream, whose
/// exit code decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manifest {
    /// The built-in provider that it started from.
    pub provider: Option<String>,
    /// The form of its standard output.
    pub stream: StreamForm,
    /// Where its conversation's id comes from.
    pub session: SessionRule,
    /// The whole argv template of a resumption, with `{session}`. Empty: it cannot be resumed.
    pub resume: Vec<String>,
    /// What the lines of its stream mean. Of those that match a line, the last one counts.
    pub events: Vec<EventRule>,
    /// Patterns of its own for texts of errors, tried before the shared ones.
    pub classes: Vec<ClassRule>,
    /// Patterns of lines on standard error that say that it failed; the first group is the text.
    pub errors: Vec<String>,
    /// Pattern of what a resumption says on standard error when the conversation is gone.
    pub gone: Option<String>,
    /// Exit codes that a success may have. Empty: 0 alone.
    pub exit: Vec<i32>,
    /// How it is talked with while it works.
    pub protocol: Protocol,
    /// Who says what it may do, where its protocol asks.
    pub permissions: Permissions,
    /// The account that it uses: what one agent of it runs into concerns all of them.
    pub account: Option<String>,
}

impl Manifest {
    /// Whether its output or its exit codes say more than an exit code 0 does.
    pub fn judges(&self) -> bool {
        self.stream != StreamForm::Text || !self.exit.is_empty() || !self.errors.is_empty()
    }
}

impl Manifest {
    /// Whether it finds its last conversation by the folder that it works in, without an id.
    pub fn is_found_by_folder(&self) -> bool {
        self.protocol == Protocol::None
            && !self.resume.iter().any(|word| word.contains("{session}"))
    }
}

/// How an agent is talked with while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Not at all: it gets its prompt and ends.
    #[default]
    None,
    /// Claude Code's lines of JSON, with control requests.
    ClaudeStream,
    /// Codex's app server: lines of JSON-RPC.
    CodexAppServer,
}

/// Who says what an agent may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permissions {
    /// Everything is given from the start.
    #[default]
    Given,
    /// A person is asked each time that the agent asks.
    Asked,
}

/// The form of an agent's standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamForm {
    /// Text for people: the exit code is the terminal event.
    #[default]
    Text,
    /// One JSON object a line.
    Jsonl,
}

/// Where a conversation's id comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionRule {
    /// Whether Tidegate chooses it: the argv has its place.
    pub given: bool,
    /// What a line must hold to tell it.
    pub when: Vec<Match>,
    /// Where it stands in that line, as a dotted path.
    pub key: Option<String>,
}

/// A value at a dotted path of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The path; a part that is a number counts in a list.
    pub path: String,
    /// What must stand there.
    pub is: Scalar,
}

/// A value that a rule can ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// True or false.
    Flag(bool),
}

/// What one kind of line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRule {
    /// What it must hold; all of it.
    pub when: Vec<Match>,
    /// What it means.
    pub emit: Emit,
    /// Path of its text: of what was said, or of an error.
    pub text: Option<String>,
    /// Path of an HTTP status.
    pub status: Option<String>,
    /// Path of a wait, in milliseconds.
    pub delay_ms: Option<String>,
    /// Path of the end of a wait: seconds or milliseconds of the epoch, or a time in ISO 8601.
    pub until: Option<String>,
    /// Path of a tool's name.
    pub name: Option<String>,
    /// Path of a tool call's id.
    pub id: Option<String>,
    /// What kind of error it is, when the rule knows.
    pub class: Option<Class>,
    /// Paths of what was used.
    pub usage: Option<UsageRule>,
}

/// What a line can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emit {
    /// The agent says something.
    Text,
    /// A tool begins.
    ToolStart,
    /// A tool has ended.
    ToolEnd,
    /// It waits by itself, for a limit or an error to pass.
    Waiting,
    /// It tells what it used, and nothing else.
    Usage,
    /// An error that a later failure may be about.
    Error,
    /// The turn ended well.
    Completed,
    /// The turn ended with an error.
    Failed,
    /// The turn was broken off.
    Interrupted,
    /// The turn ended at a limit of the agent's own, of turns or money.
    Limit,
}

/// Paths of figures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsageRule {
    /// Tokens in, cached ones included or not, as the agent counts.
    pub input: Option<String>,
    /// Tokens in that came from a cache.
    pub cached: Option<String>,
    /// Tokens out.
    pub output: Option<String>,
    /// What it cost, in dollars.
    pub cost: Option<String>,
    /// What the figures are about.
    pub scope: UsageScope,
}

/// What figures are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsageScope {
    /// The whole process so far: the newest ones count.
    #[default]
    Process,
    /// One step: they are added up.
    Step,
    /// One turn of several that a process may have: tokens are added up, money is that of the whole
    /// process so far.
    Turn,
    /// The whole conversation so far, earlier processes included.
    Session,
}

/// A pattern and the kind of error that it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRule {
    /// A regular expression over the text of an error.
    pub pattern: String,
    /// The kind.
    pub class: Class,
}
