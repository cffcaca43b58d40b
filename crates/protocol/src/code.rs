//! The closed set of error codes. Each says by default whether a program may try again, whether a
//! person must act, and which exit code the CLI gives for it.

use crate::ExitCode;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal,
        retryable $retryable:literal, human $human:literal, http $http:literal, exit $exit:ident;)+) => {
        /// Why a request was refused. Closed: clients may match on it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum ErrorCode {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code as it stands on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// One line on what it means.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// Whether the same request may succeed later without anybody acting.
            pub fn is_retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)+ }
            }

            /// Whether a person must act before it can succeed.
            pub fn requires_human(self) -> bool {
                match self { $(Self::$variant => $human,)+ }
            }

            /// The HTTP status of an answer with it.
            pub fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)+ }
            }

            /// The exit code of the CLI.
            pub fn exit_code(self) -> ExitCode {
                match self { $(Self::$variant => ExitCode::$exit,)+ }
            }
        }
    };
}

codes! {
    /// A flag or an argument of the command line is wrong.
    InvalidCliArgs = "invalid_cli_args", retryable false, human false, http 400, exit Usage;
    /// A field of the request is missing or wrong.
    InvalidInput = "invalid_input", retryable false, human false, http 400, exit Refused;
    /// The plan or its config has errors; `details.diagnostics` lists them all.
    InvalidPlan = "invalid_plan", retryable false, human false, http 422, exit Refused;
    /// The repository's `tidegate.toml` has commands and its hash is not trusted yet.
    UntrustedConfig = "untrusted_config", retryable false, human true, http 403, exit Refused;
    /// The working directory is in no git repository.
    NotARepository = "not_a_repository", retryable false, human false, http 422, exit Refused;
    /// There is no such run, feature, job, project or route.
    NotFound = "not_found", retryable false, human false, http 404, exit Refused;
    /// The prefix fits more than one run; `details.candidates` lists them.
    AmbiguousId = "ambiguous_id", retryable false, human false, http 409, exit Refused;
    /// The command is not legal in the state that the run or feature is in.
    InvalidStatusTransition = "invalid_status_transition", retryable false, human false, http 409, exit Refused;
    /// The idempotency key was used before with another body.
    IdempotencyMismatch = "idempotency_mismatch", retryable false, human false, http 409, exit Refused;
    /// The daemon has more requests than it can take; nothing was recorded.
    Busy = "busy", retryable true, human false, http 503, exit Refused;
    /// The request took too long; whether it was recorded is not known. Send it with the same key.
    RequestTimeout = "request_timeout", retryable true, human false, http 504, exit Unreachable;
    /// The disk is full; nothing was recorded.
    StorageFull = "storage_full", retryable true, human true, http 507, exit Refused;
    /// A process inside a job asked for what only the user may do.
    ForbiddenScope = "forbidden_scope", retryable false, human true, http 403, exit Refused;
    /// The request body is larger than the limit.
    BodyTooLarge = "body_too_large", retryable false, human false, http 413, exit Refused;
    /// No daemon answers, and none may be started from here.
    DaemonUnreachable = "daemon_unreachable", retryable true, human false, http 503, exit Unreachable;
    /// The daemon is ending and takes no more commands.
    DaemonStopping = "daemon_stopping", retryable true, human false, http 503, exit Unreachable;
    /// Client and daemon have different versions; `daemon restart` brings them together.
    VersionMismatch = "version_mismatch", retryable false, human true, http 426, exit Unreachable;
    /// The store is older than this binary; `daemon restart` migrates it.
    StoreNeedsMigration = "store_needs_migration", retryable false, human true, http 409, exit Unreachable;
    /// The store was written by a newer binary.
    StoreNewer = "store_newer", retryable false, human true, http 409, exit Unreachable;
    /// The home has no store yet: nothing was ever submitted.
    NoStore = "no_store", retryable false, human false, http 404, exit Refused;
    /// Stored data does not read well; it is shown as it is and never replaced by a default.
    Corrupt = "corrupt", retryable false, human true, http 500, exit Refused;
    /// The target branch does not exist.
    TargetMissing = "target_missing", retryable false, human true, http 422, exit Refused;
    /// The process is not in the launcher's tree and does not carry its run's tag.
    ForeignProcess = "foreign_process", retryable false, human false, http 403, exit Refused;
    /// Another home serves this repository.
    RepoBusy = "repo_busy", retryable true, human false, http 409, exit Refused;
    /// The lane has an active run that cannot take this.
    RunAlreadyActive = "run_already_active", retryable true, human false, http 409, exit Refused;
    /// Other work is under way in the background of the lane; `details.active_command` names it.
    RuntimeBusy = "runtime_busy", retryable true, human false, http 409, exit Refused;
    /// What was looked at has changed meanwhile; the same request looks again.
    VersionConflict = "version_conflict", retryable true, human false, http 409, exit Refused;
    /// What was named is no longer the newest; look at what is.
    VersionNotCurrent = "version_not_current", retryable false, human true, http 409, exit Refused;
    /// What is asked for meets something else of that name or place; `details` say what.
    CollisionDetected = "collision_detected", retryable false, human true, http 409, exit Refused;
    /// A feature that was to land is given up, because its gates or its repair failed; a retry
    /// begins the repair anew.
    MergeDisabled = "merge_disabled", retryable true, human false, http 409, exit Refused;
    /// A conflict with the target was resolved by no reconciler.
    ReconciliationFailed = "reconciliation_failed", retryable true, human true, http 409, exit Refused;
    /// The target and its remote have gone different ways.
    RemoteLocalDivergence = "remote_local_divergence", retryable false, human true, http 409, exit Refused;
    /// Uncommitted work in the checkout of the target is in the way; it is never touched.
    UncommittedChanges = "uncommitted_changes", retryable true, human true, http 409, exit Refused;
    /// The job has no terminal to attach to; its log can be followed.
    NoTerminal = "no_terminal", retryable false, human false, http 409, exit Refused;
    /// The agent is known and has written no log that could be shown.
    NoLog = "no_log", retryable false, human false, http 404, exit Refused;
    /// The process that owns the job does not answer: it is stopped, or hangs.
    ShimUnresponsive = "shim_unresponsive", retryable true, human true, http 504, exit Refused;
    /// There is no such command.
    UnsupportedCommand = "unsupported_command", retryable false, human false, http 400, exit Refused;
    /// A person must consent first.
    UserApprovalRequired = "user_approval_required", retryable false, human true, http 403, exit Refused;
    /// Reading or writing a file failed.
    Io = "io", retryable true, human true, http 500, exit Refused;
    /// The deadline passed before the run ended.
    WaitTimedOut = "wait_timed_out", retryable true, human false, http 504, exit TimedOut;
    /// A fault of Tidegate itself.
    Internal = "internal", retryable false, human true, http 500, exit Bug;
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn codes_are_snake_case_unique_and_documented() {
        let mut seen = std::collections::BTreeSet::new();
        for code in ErrorCode::ALL {
            let text = code.as_str();
            assert!(seen.insert(text), "{text} twice");
            assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{text}");
            assert!(code.meaning().ends_with('.'), "{text}: {}", code.meaning());
            assert_eq!(serde_json::to_value(code).unwrap(), text);
            let back: ErrorCode = serde_json::from_value(text.into()).unwrap();
            assert_eq!(back, *code);
        }
    }

    #[test]
    fn page_of_commands_names_every_code_as_it_is() {
        let page = include_str!("../../../docs/commands.md");
        let yes = |what| if what { "yes" } else { "no" };
        for code in ErrorCode::ALL {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{code}` |")));
            let row = row.unwrap_or_else(|| panic!("docs/commands.md does not name {code}"));
            let (again, person) = (yes(code.is_retryable()), yes(code.requires_human()));
            let end = format!("| {again} | {person} | {} |", code.http_status());
            assert!(row.ends_with(&end), "{row}: {end}");
        }
    }

    #[test]
    fn codes_of_success_ranges_are_none() {
        assert!(ErrorCode::ALL.iter().all(|code| code.http_status() >= 400));
        assert!(ErrorCode::ALL.iter().all(|code| code.exit_code() != ExitCode::Ok));
    }
}
