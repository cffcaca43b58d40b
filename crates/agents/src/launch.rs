//! An argv from a manifest's template, and the way that the prompt takes.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use tidegate_core::limits::ARGV_PROMPT_BYTES_MAX;
use tidegate_core::plan::{AgentSpec, PromptChannel};

/// The job that an agent is started for.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Run id.
    pub run: &'a str,
    /// Feature id.
    pub feature: &'a str,
    /// Iteration of the feature, from 1.
    pub iteration: u32,
    /// Attempt for the same purpose, from 1.
    pub attempt: u32,
    /// The id of its conversation, when it is known.
    pub session: Option<&'a str>,
    /// Whether that was begun by an earlier job.
    pub resumed: bool,
    /// The server of tools that it may start.
    pub tools: Tools<'a>,
}

/// A program that serves tools to an agent over its standard streams.
#[derive(Debug, Clone, Copy)]
pub struct Tools<'a> {
    /// The program, absolute.
    pub program: &'a str,
    /// Its arguments.
    pub args: &'a [&'a str],
}

/// The prompt, as text and as the file that holds it.
#[derive(Debug, Clone, Copy)]
pub struct PromptInput<'a> {
    /// Its text.
    pub text: &'a str,
    /// A file with the same text, absolute.
    pub file: &'a Path,
}

/// How an agent is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Whether the prompt's file is its standard input; else that is empty.
    pub prompt_on_stdin: bool,
}

/// Why an agent cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The prompt is too long for an argument.
    #[error(
        "the prompt has {len} bytes, an argument at most {ARGV_PROMPT_BYTES_MAX}: \
         use prompt = \"stdin\" or \"file\""
    )]
    PromptTooLong {
        /// Its length, in bytes.
        len: usize,
    },
}

/// Fills the manifest's argv template, of a start or of a resumption: `{prompt}`, `{prompt_file}`,
/// `{run}`, `{feature}`, `{iteration}`, `{attempt}`, `{session}`, and `{mcp_command}` and `{mcp_args}` as JSON. What is
/// filled in is not looked at again; other braces stay.
///
/// # Errors
/// [`LaunchError::PromptTooLong`] when the prompt goes by argument and is too long for one.
pub fn plan(
    agent: &AgentSpec,
    place: Place<'_>,
    prompt: PromptInput<'_>,
) -> Result<Launch, LaunchError> {
    let len = prompt.text.len();
    if agent.prompt == PromptChannel::Argv && len > ARGV_PROMPT_BYTES_MAX {
        return Err(LaunchError::PromptTooLong { len });
    }
    let value = |name: &str| -> Option<OsString> {
        match name {
            "prompt" => Some(prompt.text.into()),
            "prompt_file" => Some(prompt.file.as_os_str().to_owned()),
            "run" => Some(place.run.into()),
            "feature" => Some(place.feature.into()),
            "iteration" => Some(place.iteration.to_string().into()),
            "attempt" => Some(place.attempt.to_string().into()),
            "session" => place.session.map(OsString::from),
            // Strings of JSON are strings of TOML, too.
            "mcp_command" => Some(serde_json::Value::from(place.tools.program).to_string().into()),
            "mcp_args" => Some(serde_json::Value::from(place.tools.args).to_string().into()),
            _ => None,
        }
    };
    let template = if place.resumed { &agent.manifest.resume } else { &agent.argv };
    let argv = template.iter().map(|part| fill(part, value)).collect();
    Ok(Launch { argv, prompt_on_stdin: agent.prompt == PromptChannel::Stdin })
}

fn fill(part: &str, value: impl Fn(&str) -> Option<OsString>) -> OsString {
    let mut filled = OsString::new();
    let mut rest = part;
    while let Some(open) = rest.find('{') {
        let known = rest[open..].find('}').and_then(|close| {
            value(&rest[open + 1..open + close]).map(|value| (open + close + 1, value))
        });
        if let Some((end, value)) = known {
            filled.push(&rest[..open]);
            filled.push(value);
            rest = &rest[end..];
        } else {
            filled.push(&rest[..=open]);
            rest = &rest[open + 1..];
        }
    }
    filled.push(OsStr::new(rest));
    filled
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const TOOLS: Tools<'_> =
        Tools { program: "/opt/a \"b\"/tidegate", args: &["--home", "/h", "mcp"] };

    fn agent(argv: &[&str], prompt: PromptChannel) -> AgentSpec {
        AgentSpec {
            argv: argv.iter().map(ToString::to_string).collect(),
            prompt,
            env: BTreeMap::new(),
            timeout_ms: 1,
            grace_ms: 1,
            terminal: false,
            manifest: tidegate_core::manifest::Manifest::default(),
        }
    }

    fn planned(argv: &[&str], prompt: PromptChannel, text: &str) -> Result<Launch, LaunchError> {
        let place = Place {
            run: "r1",
            feature: "berths",
            iteration: 2,
            attempt: 3,
            session: Some("id-1"),
            resumed: false,
            tools: TOOLS,
        };
        let file = Path::new("/jobs/j/prompt");
        plan(&agent(argv, prompt), place, PromptInput { text, file })
    }

    #[test]
    fn placeholders_are_filled_once_and_unknown_ones_stay() {
        let argv =
            ["scribe", "{prompt}", "a{run}{feature}b", "{iteration}.{attempt}", "{x} {", "{{run}}"];
        let launch = planned(&argv, PromptChannel::Argv, "say {feature}").unwrap();
        let expected = ["scribe", "say {feature}", "ar1berthsb", "2.3", "{x} {", "{r1}"];
        assert_eq!(launch.argv, expected);
        assert!(!launch.prompt_on_stdin);
    }

    #[test]
    fn server_of_tools_is_written_as_json_among_json() {
        let argv = ["a", r#"{"s":{"command":{mcp_command},"args":{mcp_args}}}"#, "x={mcp_args}"];
        let launch = planned(&argv, PromptChannel::Stdin, "x").unwrap();
        let word = launch.argv[1].to_str().unwrap();
        let value: serde_json::Value = serde_json::from_str(word).unwrap();
        assert_eq!(value["s"]["command"], TOOLS.program);
        assert_eq!(value["s"]["args"][1], "/h");
        assert_eq!(launch.argv[2], r#"x=["--home","/h","mcp"]"#);
    }

    #[test]
    fn a_resumption_has_its_own_argv_and_the_id() {
        let mut agent = agent(&["a", "--session-id", "{session}"], PromptChannel::Stdin);
        agent.manifest.resume = vec!["a".to_owned(), "--resume={session}".to_owned()];
        let argv = |resumed| {
            let place = Place {
                run: "r1",
                feature: "berths",
                iteration: 1,
                attempt: 2,
                session: Some("id-1"),
                resumed,
                tools: TOOLS,
            };
            let prompt = PromptInput { text: "x", file: Path::new("/p") };
            plan(&agent, place, prompt).unwrap().argv
        };
        assert_eq!(argv(false), ["a", "--session-id", "id-1"]);
        assert_eq!(argv(true), ["a", "--resume=id-1"]);
    }

    #[test]
    fn prompt_by_file_is_named_and_stdin_stays_empty() {
        let launch = planned(&["a", "{prompt_file}"], PromptChannel::File, "x").unwrap();
        assert_eq!(launch.argv, ["a", "/jobs/j/prompt"]);
        assert!(!launch.prompt_on_stdin);
    }

    #[test]
    fn long_prompt_goes_by_stdin_and_never_by_argument() {
        let text = "x".repeat(ARGV_PROMPT_BYTES_MAX + 1);
        assert!(planned(&["a"], PromptChannel::Stdin, &text).unwrap().prompt_on_stdin);
        let refused = planned(&["a", "{prompt}"], PromptChannel::Argv, &text);
        assert_eq!(refused, Err(LaunchError::PromptTooLong { len: ARGV_PROMPT_BYTES_MAX + 1 }));
    }
}
