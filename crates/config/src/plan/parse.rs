//! From the bytes of a plan file to the model, whichever form it has.

use tidegate_core::limits::PLAN_BYTES_MAX;

use super::doc::PlanDoc;
use super::foreign::{Form, form_of};
use super::markdown::read_markdown;
use super::schema::plan_of;
use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::source::Source;
use crate::toml_text::read_toml;

/// Bytes of a plan file that are read; specs may be longer.
pub(crate) const PLAN_FILE_BYTES_MAX: usize = PLAN_BYTES_MAX / 4;

/// A plan file that was read as far as its grammar allows.
#[derive(Debug)]
pub struct ParsedPlan {
    /// The file's text; `None` when the bytes are no text.
    pub source: Option<Source>,
    /// What the file says; `None` when its grammar is violated.
    pub doc: Option<PlanDoc>,
    /// What was found.
    pub findings: Vec<Diagnostic>,
}

/// Reads the bytes of a plan file. `path` decides the form and stands in the findings.
pub fn parse_plan(path: &str, bytes: &[u8]) -> ParsedPlan {
    let source = match Source::decode(path, bytes, PLAN_FILE_BYTES_MAX) {
        Ok(source) => source,
        Err(findings) => return ParsedPlan { source: None, doc: None, findings },
    };
    let mut sink = Sink::new(&source);
    let doc = read(&mut sink);
    let findings = sink.finish();
    ParsedPlan { source: Some(source), doc, findings }
}

fn read(sink: &mut Sink<'_>) -> Option<PlanDoc> {
    let source = sink.source();
    if source.is_blank() {
        let message = "the plan is empty";
        sink.error_hint(Code::EmptyFile, &(0..0), message, "`tidegate init` writes a first plan");
        return None;
    }
    let table = match form_of(source) {
        Form::Toml => read_toml(&(0..source.text().len()), sink)?,
        Form::Markdown => read_markdown(sink)?,
        Form::Foreign(foreign) => {
            let message = format!("this is {}, not a Tidegate plan", foreign.name);
            sink.error_hint(Code::ForeignFormat, &foreign.span, message, super::foreign::HINT);
            return None;
        }
    };
    Some(plan_of(&table, sink))
}
