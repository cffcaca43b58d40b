//! The text that each builder gets: a prompt of the plan, or the bytes of a spec file.

use std::collections::HashMap;

use tidegate_core::limits::{ARGV_PROMPT_BYTES_MAX, PLAN_BYTES_MAX};
use tidegate_core::plan::PromptChannel;

use crate::bundle::{Bundle, ReadError, SPEC_BYTES_MAX, SpecFile};
use crate::check::spec_path;
use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::near::quoted;
use crate::plan::{FeatureDoc, PlanDoc};
use crate::settings::Layered;
use crate::source::Source;
use crate::span::{Span, Spanned};

/// The prompts of a plan, in the order of its features.
pub(super) struct Prompts {
    /// The bytes for each feature; `None` where there is an error.
    pub(super) bytes: Vec<Option<Vec<u8>>>,
    /// What was found in the spec files themselves.
    pub(super) findings: Vec<Diagnostic>,
}

impl Prompts {
    pub(super) fn read(
        doc: &PlanDoc,
        bundle: &Bundle,
        layered: &Layered,
        sink: &mut Sink<'_>,
    ) -> Self {
        let specs = bundle.specs.iter().map(|spec| (spec.path.as_str(), spec)).collect();
        let mut reader = Reader { bundle, specs, seen: HashMap::new(), findings: Vec::new() };
        let mut bytes = Vec::new();
        for feature in doc.features() {
            let prompt = reader.prompt_of(feature, sink);
            if let Some(text) = &prompt {
                check_channel(feature, text, layered, sink);
            }
            bytes.push(prompt);
        }
        let total: usize = bytes.iter().flatten().map(Vec::len).sum();
        if total > PLAN_BYTES_MAX {
            let message =
                format!("prompts and specs have {total} bytes, at most {PLAN_BYTES_MAX} are read");
            sink.error_hint(Code::FileTooLarge, &(0..0), message, "split the plan");
        }
        Self { bytes, findings: reader.findings }
    }
}

struct Reader<'b> {
    bundle: &'b Bundle,
    specs: HashMap<&'b str, &'b SpecFile>,
    /// Spec files that were looked into, and whether they are fit.
    seen: HashMap<String, bool>,
    findings: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn prompt_of(&mut self, feature: &FeatureDoc, sink: &mut Sink<'_>) -> Option<Vec<u8>> {
        let id = feature.id.as_ref();
        let at = id.map_or(&feature.span, |id| &id.span);
        let name = id.map_or_else(|| "this feature".to_owned(), |id| quoted(&id.value));
        match (&feature.spec, &feature.prompt) {
            (Some(spec), None) => self.spec(spec, sink),
            (None, Some(prompt)) => {
                let text = prompt.value.replace("\r\n", "\n");
                let text = text.trim();
                if text.is_empty() {
                    sink.error(
                        Code::NoPrompt,
                        &prompt.span,
                        format!("the prompt of {name} is empty"),
                    );
                    return None;
                }
                Some(text.as_bytes().to_vec())
            }
            (Some(spec), Some(prompt)) => {
                let line = sink.source().line(prompt.span.start);
                let message = format!("{name} has both a spec and a prompt (line {line})");
                let hint = "keep one of them; a spec file can say all that the prompt says";
                sink.error_hint(Code::SpecAndPrompt, &spec.span, message, hint);
                None
            }
            (None, None) if feature.says_prompt => None,
            (None, None) => {
                let message = format!("{name} has neither a spec nor a prompt");
                let hint = "add spec = \"PATH\" or prompt = \"TEXT\"; in Markdown the text below the \
                            heading is the prompt";
                sink.error_hint(Code::NoPrompt, at, message, hint);
                None
            }
        }
    }

    fn spec(&mut self, spec: &Spanned<String>, sink: &mut Sink<'_>) -> Option<Vec<u8>> {
        let shown = quoted(&spec.value);
        let path = match spec_path(&self.bundle.plan.path, &spec.value) {
            Ok(path) if !path.is_empty() => path,
            Ok(_) => {
                sink.error(Code::BadPath, &spec.span, format!("the spec {shown} is a folder"));
                return None;
            }
            Err(why) => {
                let out = why.contains("out") || why.contains("absolute");
                let code = if out { Code::SpecOutside } else { Code::BadPath };
                sink.error(code, &spec.span, format!("the spec {shown} {why}"));
                return None;
            }
        };
        let content = self
            .specs
            .get(path.as_str())
            .map_or(Err(&ReadError::NotFound), |spec| spec.content.as_ref());
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(error) => {
                refuse(&shown, error, &spec.span, sink);
                return None;
            }
        };
        let fit = if let Some(fit) = self.seen.get(&path) {
            *fit
        } else {
            let fit = self.look_into(&path, bytes);
            self.seen.insert(path, fit);
            fit
        };
        fit.then(|| bytes.clone())
    }

    /// Whether the file is a text with something in it.
    fn look_into(&mut self, path: &str, bytes: &[u8]) -> bool {
        let source = match Source::decode(path, bytes, SPEC_BYTES_MAX) {
            Ok(source) => source,
            Err(found) => {
                self.findings.extend(found);
                return false;
            }
        };
        if source.is_blank() {
            let mut sink = Sink::new(&source);
            sink.error(Code::EmptyFile, &(0..0), "the spec file is empty");
            self.findings.extend(sink.finish());
            return false;
        }
        true
    }
}

fn refuse(shown: &str, error: &ReadError, span: &Span, sink: &mut Sink<'_>) {
    let (code, hint) = match error {
        ReadError::NotFound => (
            Code::SpecMissing,
            "paths count from the root of the repository; `./` from the plan's folder",
        ),
        ReadError::Outside => (Code::SpecOutside, ""),
        ReadError::TooLarge { .. } => (Code::FileTooLarge, ""),
        ReadError::NotAFile | ReadError::Failed { .. } => (Code::SpecUnreadable, ""),
    };
    let error = error.to_string();
    let error = quoted(&error);
    let message = format!("the spec {shown} cannot be read: {}", error.trim_matches('`'));
    sink.error_hint(code, span, message, hint);
}

/// A prompt that goes by argument must fit into one.
fn check_channel(feature: &FeatureDoc, text: &[u8], layered: &Layered, sink: &mut Sink<'_>) {
    if text.len() <= ARGV_PROMPT_BYTES_MAX {
        return;
    }
    let config = &layered.config;
    let builder = config.roles.iter().find(|(role, _)| role.as_str() == "builder");
    let name = match (&feature.agent, builder) {
        (Some(agent), _) => agent.value.as_str(),
        (None, Some((_, role))) => role.value.agent.value.as_str(),
        (None, None) => return,
    };
    let agent = config.agents.iter().find(|(known, _)| known.as_str() == name);
    if agent.is_some_and(|(_, agent)| agent.value.prompt == PromptChannel::Argv) {
        let place = feature.spec.as_ref().or(feature.prompt.as_ref());
        let span = place.map_or(&feature.span, |place| &place.span);
        let message = format!(
            "the prompt has {} bytes, and the agent {} takes it as an argument of at most {}",
            text.len(),
            quoted(name),
            ARGV_PROMPT_BYTES_MAX
        );
        let hint = "let the agent read it from stdin or from a file";
        sink.error_hint(Code::PromptTooLong, span, message, hint);
    }
}
