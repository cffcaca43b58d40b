//! What is wrong with a file, where, and what to do about it. It must not know how it is shown.

use std::fmt;

use crate::near::is_hidden;
use crate::source::Source;
use crate::span::Span;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is refused.
    Error,
    /// The file is accepted.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The closed set of findings. The text of each is public and stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code in snake case, as the JSON output gives it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// The file has no content.
    EmptyFile = "empty_file",
    /// The file is longer than what is read.
    FileTooLarge = "file_too_large",
    /// A byte sequence is not UTF-8.
    NotUtf8 = "not_utf8",
    /// The file is UTF-16.
    Utf16 = "utf16",
    /// A NUL character.
    NulByte = "nul_byte",
    /// A format that is not a plan.
    ForeignFormat = "foreign_format",
    /// The TOML grammar is violated.
    InvalidToml = "invalid_toml",
    /// The YAML grammar is violated, or a budget against bombs is spent.
    InvalidYaml = "invalid_yaml",
    /// Front matter without its closing line.
    UnclosedFrontMatter = "unclosed_front_matter",
    /// A code fence that runs to the end of the file.
    UnclosedFence = "unclosed_fence",
    /// A comment that runs to the end of the file.
    UnclosedComment = "unclosed_comment",
    /// A line that is too long to be Markdown by hand.
    LineTooLong = "line_too_long",
    /// A heading that is neither a wave nor a feature.
    UnexpectedHeading = "unexpected_heading",
    /// A line of a settings list that is no setting.
    InvalidSetting = "invalid_setting",
    /// A key that the schema does not have.
    UnknownKey = "unknown_key",
    /// A key that is given twice.
    DuplicateKey = "duplicate_key",
    /// A key that must be there.
    MissingKey = "missing_key",
    /// A value of the wrong type.
    WrongType = "wrong_type",
    /// A value out of its range or set.
    IllegalValue = "illegal_value",
    /// A thing that a later version brings.
    LaterVersion = "later_version",
    /// A key that is accepted and has no effect yet.
    NotUsedYet = "not_used_yet",
    /// A name with characters that are not allowed.
    IllegalName = "illegal_name",
    /// Two features with one id.
    DuplicateId = "duplicate_id",
    /// Two waves with one name.
    DuplicateWave = "duplicate_wave",
    /// The plan has no feature.
    NoFeatures = "no_features",
    /// The plan has too many features.
    TooManyFeatures = "too_many_features",
    /// A wave has no feature.
    EmptyWave = "empty_wave",
    /// A wave's number is not above the one before it.
    WaveNotRising = "wave_not_rising",
    /// A feature has both a spec and a prompt.
    SpecAndPrompt = "spec_and_prompt",
    /// A feature has neither a spec nor a prompt.
    NoPrompt = "no_prompt",
    /// A prompt is too long for the way it would take.
    PromptTooLong = "prompt_too_long",
    /// A spec file does not exist.
    SpecMissing = "spec_missing",
    /// A spec file lies outside the repository.
    SpecOutside = "spec_outside",
    /// A spec file cannot be read.
    SpecUnreadable = "spec_unreadable",
    /// A path that may not stand where it stands.
    BadPath = "bad_path",
    /// A glob that does not parse.
    BadGlob = "bad_glob",
    /// Two features of a wave declare paths that can meet.
    OverlappingPaths = "overlapping_paths",
    /// `needs` names an unknown feature.
    UnknownNeed = "unknown_need",
    /// A feature needs itself.
    SelfNeed = "self_need",
    /// A feature needs one of a later wave.
    LaterNeed = "later_need",
    /// Features need each other in a circle.
    NeedCycle = "need_cycle",
    /// A gate that the config does not define.
    UnknownGate = "unknown_gate",
    /// An agent that the config does not define.
    UnknownAgent = "unknown_agent",
    /// A role that the config does not define.
    UnknownRole = "unknown_role",
    /// Nothing says which agent builds.
    NoBuilder = "no_builder",
    /// A reviewer is asked for, and no role is one.
    NoReviewer = "no_reviewer",
    /// A feature lands without any gate.
    NoGates = "no_gates",
    /// The selection names a feature or wave that the plan does not have.
    UnknownSelection = "unknown_selection",
    /// The selection leaves out what a selected feature needs.
    NeedNotSelected = "need_not_selected",
    /// The selection is empty.
    EmptySelection = "empty_selection",
    /// Further findings were left out.
    TooManyFindings = "too_many_findings",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the file is refused.
    pub severity: Severity,
    /// What kind of finding it is.
    pub code: Code,
    /// Path of the file as given; for overrides the name of the variable or flag.
    pub file: String,
    /// Line from 1.
    pub line: u32,
    /// Column from 1, in characters.
    pub column: u32,
    /// One sentence of bounded length, without line breaks or control characters.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Byte range in the text, after a byte order mark was taken off.
    pub span: Span,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, code, file, line, column, message, .. } = self;
        let file: String = file.chars().filter(|character| !is_hidden(*character)).collect();
        write!(f, "{file}:{line}:{column}: {}[{code}]: {message}", severity.as_str())?;
        self.hint.iter().try_for_each(|hint| write!(f, " (hint: {hint})"))
    }
}

/// Whether any of `found` refuses its file.
pub fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|one| one.severity == Severity::Error)
}

/// Sorts by file, line and column, and drops exact repetitions.
pub fn sort(found: &mut Vec<Diagnostic>) {
    found.sort_by(|a, b| {
        let key = |one: &Diagnostic| (one.line, one.column, one.severity, one.code);
        a.file.cmp(&b.file).then(key(a).cmp(&key(b))).then(a.message.cmp(&b.message))
    });
    found.dedup();
}

/// Collects the findings of one file.
#[derive(Debug)]
pub(crate) struct Sink<'s> {
    source: &'s Source,
    found: Vec<Diagnostic>,
    left_out: usize,
}

impl<'s> Sink<'s> {
    /// Findings of one file that are kept; the rest is only counted.
    const MAX: usize = 200;

    pub(crate) fn new(source: &'s Source) -> Self {
        Self { source, found: Vec::new(), left_out: 0 }
    }

    pub(crate) fn source(&self) -> &'s Source {
        self.source
    }

    /// Whether further findings are only counted, so that their texts need not be made.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= Self::MAX
    }

    pub(crate) fn error(&mut self, code: Code, span: &Span, message: impl Into<String>) {
        self.push(Severity::Error, code, span, message, "");
    }

    pub(crate) fn error_hint(
        &mut self,
        code: Code,
        span: &Span,
        message: impl Into<String>,
        hint: &str,
    ) {
        self.push(Severity::Error, code, span, message, hint);
    }

    pub(crate) fn warning(
        &mut self,
        code: Code,
        span: &Span,
        message: impl Into<String>,
        hint: &str,
    ) {
        self.push(Severity::Warning, code, span, message, hint);
    }

    fn push(
        &mut self,
        severity: Severity,
        code: Code,
        span: &Span,
        message: impl Into<String>,
        hint: &str,
    ) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        self.found.push(self.source.diagnostic(severity, code, span, message, hint));
    }

    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            let end = self.source.text().len();
            let message = format!("{} further findings are left out", self.left_out);
            let code = Code::TooManyFindings;
            self.found.push(self.source.diagnostic(
                Severity::Error,
                code,
                &(end..end),
                message,
                "",
            ));
        }
        self.found
    }
}
