//! A manifest as it is written: its keys, what is laid over what, and the entry that it makes.

use std::collections::BTreeMap;

use tidegate_core::manifest::{Emit, Manifest, Permissions, Protocol, SessionRule, StreamForm};
use tidegate_core::plan::PromptChannel;

use super::agent::{CHANNELS, argv_of, channel_of, check_placeholders, environment};
use super::config::AgentEntry;
use super::manifest::{self, Reading};
use crate::diagnostic::{Code, Sink};
use crate::fields::Fields;
use crate::node::Node;
use crate::span::{Span, Spanned};

/// Keys of a manifest that later versions use.
const LATER: &[&str] = &["stop"];

/// Words of `kind`; `None` is one of a later version.
const KINDS: &[(&str, Option<Protocol>)] = &[
    ("oneshot", Some(Protocol::None)),
    ("claude_stream", Some(Protocol::ClaudeStream)),
    ("codex_app_server", Some(Protocol::CodexAppServer)),
    ("acp", None),
];

/// Words of `permissions`.
const PERMISSIONS: &[(&str, Permissions)] =
    &[("given", Permissions::Given), ("asked", Permissions::Asked)];

/// Words of an argv template, with their places.
type Words = Spanned<Vec<Spanned<String>>>;

/// A manifest as it is written, or several of them laid over each other.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    argv: Option<Words>,
    channel: Option<Spanned<PromptChannel>>,
    env: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    grace_ms: Option<u64>,
    terminal: Option<bool>,
    model: Option<Spanned<String>>,
    model_argv: Option<Words>,
    args: Option<Words>,
    mcp: Option<Words>,
    account: Option<Spanned<String>>,
    kind: Option<Spanned<Protocol>>,
    permissions: Option<Spanned<Permissions>>,
    given_argv: Option<Words>,
    asked_argv: Option<Words>,
    resume: Option<Words>,
    resume_argv: Option<Words>,
    reading: Reading,
    unused: Vec<(String, Node)>,
}

impl Draft {
    /// Reads the keys that are there.
    pub(crate) fn read(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Self {
        let argv = argv_of(fields, "argv", sink);
        let channel = fields.choice("prompt", CHANNELS, sink);
        let env = environment(fields, sink);
        let timeout_ms = fields.duration("timeout", sink).map(|limit| limit.value);
        let grace_ms = fields.duration("grace", sink).map(|grace| grace.value);
        let terminal = fields.boolean("terminal", sink).map(|terminal| terminal.value);
        let model = fields.string("model", sink);
        let model_argv = fields.strings("model_argv", sink);
        let more = fields.strings("args", sink);
        let mcp = fields.strings("mcp", sink);
        let resume = fields.strings("resume", sink);
        let resume_argv = argv_of(fields, "resume_argv", sink);
        let account = account_of(fields, sink);
        let kind = kind_of(fields, sink);
        let permissions = fields.choice("permissions", PERMISSIONS, sink);
        let given_argv = fields.strings("given_argv", sink);
        let asked_argv = fields.strings("asked_argv", sink);
        let reading = manifest::read(fields, sink);
        let unused = fields.reserved(LATER, sink);
        Self {
            argv,
            channel,
            env,
            timeout_ms,
            grace_ms,
            terminal,
            model,
            model_argv,
            args: more,
            mcp,
            account,
            kind,
            permissions,
            given_argv,
            asked_argv,
            resume,
            resume_argv,
            reading,
            unused,
        }
    }

    /// Whether it has variables of its own.
    pub(crate) fn has_variables(&self) -> bool {
        !self.env.is_empty()
    }

    /// What is written in another text is said to stand where that text is named.
    pub(crate) fn stand_at(&mut self, span: &Span) {
        let words = [
            &mut self.argv,
            &mut self.model_argv,
            &mut self.args,
            &mut self.mcp,
            &mut self.given_argv,
            &mut self.asked_argv,
            &mut self.resume,
            &mut self.resume_argv,
        ];
        for words in words.into_iter().flatten() {
            stand(words, span);
        }
        if let Some(kind) = &mut self.kind {
            kind.span = span.clone();
        }
        if let Some(channel) = &mut self.channel {
            channel.span = span.clone();
        }
        let given = self.reading.session.as_mut().and_then(|session| session.given.as_mut());
        if let Some(given) = given {
            stand(given, span);
        }
    }

    /// `upper` laid over it: its keys count, its variables and rules are added.
    pub(crate) fn under(self, upper: Self) -> Self {
        let mut env = self.env;
        env.extend(upper.env);
        // An argv of one's own has its own way of the prompt.
        let channel = if upper.argv.is_some() { None } else { self.channel };
        let (lower, over) = (self.reading, upper.reading);
        let reading = Reading {
            stream: over.stream.or(lower.stream),
            session: over.session.or(lower.session),
            events: lower.events.into_iter().chain(over.events).collect(),
            events_at: over.events_at.or(lower.events_at),
            classes: over.classes.into_iter().chain(lower.classes).collect(),
            errors: over.errors.or(lower.errors),
            gone: over.gone.or(lower.gone),
            exit: over.exit.or(lower.exit),
        };
        Self {
            argv: upper.argv.or(self.argv),
            channel: upper.channel.or(channel),
            env,
            timeout_ms: upper.timeout_ms.or(self.timeout_ms),
            grace_ms: upper.grace_ms.or(self.grace_ms),
            terminal: upper.terminal.or(self.terminal),
            model: upper.model.or(self.model),
            model_argv: upper.model_argv.or(self.model_argv),
            args: upper.args.or(self.args),
            mcp: upper.mcp.or(self.mcp),
            account: upper.account.or(self.account),
            kind: upper.kind.or(self.kind),
            permissions: upper.permissions.or(self.permissions),
            given_argv: upper.given_argv.or(self.given_argv),
            asked_argv: upper.asked_argv.or(self.asked_argv),
            resume: upper.resume.or(self.resume),
            resume_argv: upper.resume_argv.or(self.resume_argv),
            reading,
            unused: upper.unused,
        }
    }

    /// The entry that it makes, once what belongs together fits.
    pub(crate) fn entry(
        self,
        provider: Option<String>,
        at: &Span,
        sink: &mut Sink<'_>,
    ) -> Option<AgentEntry> {
        let argv = self.argv.clone()?;
        let prompt = channel_of(&argv, self.channel.clone(), sink);
        self.check_model(&argv, sink);
        self.check_stream(at, sink);
        self.check_kind(prompt, sink);
        if let Some(mcp) = &self.mcp {
            check_placeholders(&mcp.value, sink);
        }
        if let Some(resume) = &self.resume_argv {
            check_placeholders(&resume.value, sink);
            let has = resume.value.iter().any(|word| word.value.contains("{prompt}"));
            if prompt == PromptChannel::Argv && !has {
                let message = "`resume_argv` has no `{prompt}`, although the prompt is an argument";
                sink.error(Code::IllegalValue, &resume.span, message);
            }
        }
        let fresh = self.expanded(&argv, true);
        let resume = match (&self.resume_argv, &self.resume) {
            (Some(whole), _) => self.expanded(whole, true),
            (None, Some(more)) => [fresh.clone(), self.expanded(more, false)].concat(),
            (None, None) => Vec::new(),
        };
        let session = self.reading.session.as_ref();
        let given = session.and_then(|session| session.given.as_ref());
        let given = given.map(|given| self.words(given)).unwrap_or_default();
        let permissions = self.permissions();
        let manifest = Manifest {
            provider,
            stream: self.reading.stream.map(|stream| stream.value).unwrap_or_default(),
            session: SessionRule {
                given: !given.is_empty(),
                when: session.map(|session| session.when.clone()).unwrap_or_default(),
                key: session.and_then(|session| session.key.clone()),
            },
            resume,
            events: self.reading.events,
            classes: self.reading.classes,
            errors: self.reading.errors.unwrap_or_default(),
            gone: self.reading.gone,
            exit: self.reading.exit.unwrap_or_default(),
            protocol: self.kind.as_ref().map(|kind| kind.value).unwrap_or_default(),
            permissions,
            account: self.account.map(|account| account.value),
        };
        Some(AgentEntry {
            argv: [fresh, given].concat(),
            prompt,
            env: self.env,
            timeout_ms: self.timeout_ms,
            grace_ms: self.grace_ms,
            terminal: self.terminal.unwrap_or_default(),
            manifest,
            unused: self.unused,
        })
    }

    fn check_model(&self, argv: &Words, sink: &mut Sink<'_>) {
        let Some(model) = &self.model else { return };
        let has =
            |word: &Spanned<String>| word.value.contains("{model}") || word.value == "{model_argv}";
        if !argv.value.iter().any(has) {
            let message = "`model` is said, but `argv` has no `{model}`";
            let hint = "put `{model}` where its name belongs";
            sink.error_hint(Code::IllegalValue, &model.span, message, hint);
        }
    }

    fn permissions(&self) -> Permissions {
        self.permissions.as_ref().map(|permissions| permissions.value).unwrap_or_default()
    }

    /// An agent that is talked with gets its prompt by its protocol, and only such a one can ask.
    fn check_kind(&self, prompt: PromptChannel, sink: &mut Sink<'_>) {
        let protocol = self.kind.as_ref().filter(|kind| kind.value != Protocol::None);
        match protocol {
            Some(kind) if prompt != PromptChannel::Stdin || self.terminal == Some(true) => {
                let message =
                    "an agent of this kind has no terminal, and its prompt goes by its protocol";
                let hint = "leave `terminal` and `prompt` out";
                sink.error_hint(Code::IllegalValue, &kind.span, message, hint);
            }
            Some(_) => {}
            None => {
                let asked = self.permissions.as_ref();
                if let Some(asked) = asked.filter(|asked| asked.value == Permissions::Asked) {
                    let message = "only an agent with a protocol can ask for permissions";
                    let hint = "kind = \"claude_stream\" or \"codex_app_server\" has one";
                    sink.error_hint(Code::IllegalValue, &asked.span, message, hint);
                }
            }
        }
    }

    fn check_stream(&self, at: &Span, sink: &mut Sink<'_>) {
        let stream = self.reading.stream.as_ref().map(|stream| stream.value).unwrap_or_default();
        match stream {
            StreamForm::Text => {
                if let Some(events) = &self.reading.events_at {
                    let message = "`event` says what lines mean, but the stream is text";
                    let hint = "write stream = \"jsonl\" if the agent writes JSON objects";
                    sink.error_hint(Code::IllegalValue, events, message, hint);
                }
            }
            StreamForm::Jsonl => {
                let ends = self.reading.events.iter().any(|rule| rule.emit == Emit::Completed);
                if !ends {
                    let at = self.reading.stream.as_ref().map_or(at, |stream| &stream.span);
                    let message = "no event emits \"completed\", so the agent could never succeed";
                    let hint = "say which line means that the turn has ended well";
                    sink.error_hint(Code::IllegalValue, at, message, hint);
                }
            }
        }
    }

    /// A template with the model and the further arguments in their places.
    fn expanded(&self, template: &Words, whole: bool) -> Vec<String> {
        let args = self.args.as_ref().map(|args| self.words(args)).unwrap_or_default();
        let mut words = Vec::new();
        let mut placed = false;
        for word in &template.value {
            match word.value.as_str() {
                "{model_argv}" if self.model.is_some() => {
                    words.extend(self.model_argv.iter().flat_map(|more| self.words(more)));
                }
                "{model_argv}" => {}
                "{permissions_argv}" => {
                    let of_them = match self.permissions() {
                        Permissions::Given => &self.given_argv,
                        Permissions::Asked => &self.asked_argv,
                    };
                    words.extend(of_them.iter().flat_map(|more| self.words(more)));
                }
                "{mcp}" => words.extend(self.mcp.iter().flat_map(|more| self.words(more))),
                "{args}" => {
                    placed = true;
                    words.extend(args.iter().cloned());
                }
                _ => words.push(self.word(&word.value)),
            }
        }
        if whole && !placed {
            words.extend(args);
        }
        words
    }

    fn words(&self, words: &Words) -> Vec<String> {
        words.value.iter().map(|word| self.word(&word.value)).collect()
    }

    fn word(&self, word: &str) -> String {
        let word = word.replace("{uuid}", "{session}");
        match &self.model {
            Some(model) => word.replace("{model}", &model.value),
            None => word,
        }
    }
}

fn account_of(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Option<Spanned<String>> {
    let account = fields.string("account", sink)?;
    let text = &account.value;
    let fits = !text.is_empty() && text.len() <= 100 && !text.chars().any(char::is_control);
    if !fits {
        let message = "`account` has 1 to 100 bytes, none a control";
        sink.error(Code::IllegalValue, &account.span, message);
    }
    fits.then_some(account)
}

fn kind_of(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Option<Spanned<Protocol>> {
    let kind = fields.choice("kind", KINDS, sink)?;
    if kind.value.is_none() {
        let message = "agents of kind `acp` come with a later version";
        sink.error(Code::LaterVersion, &kind.span, message);
    }
    kind.value.map(|protocol| Spanned::new(protocol, kind.span.clone()))
}

fn stand(words: &mut Words, span: &Span) {
    words.span = span.clone();
    for word in &mut words.value {
        word.span = span.clone();
    }
}
