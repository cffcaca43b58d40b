//! What is wrong with a plan or its settings, shown with the line that it is about.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use tidegate_config::{Bundle, ConfigFiles, Diagnostic, Severity, has_errors};
use tidegate_protocol::{ErrorCode, Problem};

use crate::error::{CliError, printable};
use crate::render::style;

/// Characters of a source line that are shown.
const LINE_CHARS_MAX: usize = 160;

/// Findings, with the texts that they point into.
pub(crate) struct Findings {
    found: Vec<Diagnostic>,
    texts: BTreeMap<String, String>,
}

impl Findings {
    /// Findings about a bundle.
    pub(crate) fn in_bundle(found: Vec<Diagnostic>, bundle: &Bundle) -> Self {
        let mut findings = Self::in_config(found, &bundle.config);
        findings.add_text(&bundle.plan.path, &bundle.plan.bytes);
        for spec in &bundle.specs {
            if let Ok(bytes) = &spec.content {
                findings.add_text(&spec.path, bytes);
            }
        }
        findings
    }

    /// Findings about settings.
    pub(crate) fn in_config(found: Vec<Diagnostic>, config: &ConfigFiles) -> Self {
        let mut findings = Self { found, texts: BTreeMap::new() };
        for file in [&config.user, &config.repository].into_iter().flatten() {
            findings.add_text(&file.path, &file.bytes);
        }
        findings
    }

    fn add_text(&mut self, path: &str, bytes: &[u8]) {
        self.texts.insert(path.to_owned(), String::from_utf8_lossy(bytes).into_owned());
    }

    /// Whether any of them refuses its file.
    pub(crate) fn has_errors(&self) -> bool {
        has_errors(&self.found)
    }

    /// How many errors and warnings there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let errors = self.found.iter().filter(|one| one.severity == Severity::Error).count();
        (errors, self.found.len() - errors)
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Value {
        self.found.iter().map(finding_json).collect()
    }

    /// For people: one block each, without a final line break.
    pub(crate) fn blocks(&self) -> Vec<String> {
        self.found.iter().map(|one| self.block(one)).collect()
    }

    fn block(&self, one: &Diagnostic) -> String {
        let (style, faint, hint) = (severity_style(one.severity), style::FAINT, style::HINT);
        let Diagnostic { severity, code, file, line, column, message, .. } = one;
        let mut block = format!(
            "{file}:{line}:{column}: {style}{}[{code}]{style:#}: {message}",
            severity.as_str()
        );
        let text = self
            .texts
            .get(file)
            .and_then(|text| text.lines().nth((*line as usize).checked_sub(1)?));
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            let shown: String =
                printable(text).replace('\t', " ").chars().take(LINE_CHARS_MAX).collect();
            let _ = write!(block, "\n {faint}{line:>5} |{faint:#} {shown}");
            let before = column.saturating_sub(1) as usize;
            if before < shown.chars().count() {
                let pad = " ".repeat(before);
                let _ = write!(block, "\n       {faint}|{faint:#} {pad}{style}^{style:#}");
            }
        }
        if let Some(text) = &one.hint {
            let _ = write!(block, "\n       {hint}hint:{hint:#} {text}");
        }
        block
    }
}

/// The refusal of a plan with errors: its findings go into the details.
pub(crate) fn invalid_plan(findings: &Findings) -> CliError {
    let (errors, _) = findings.counts();
    let plural = if errors == 1 { "" } else { "s" };
    Problem::new(ErrorCode::InvalidPlan, format!("the plan has {errors} error{plural}"))
        .with("diagnostics", findings.to_json())
        .into()
}

fn severity_style(severity: Severity) -> anstyle::Style {
    match severity {
        Severity::Error => style::ERROR,
        Severity::Warning => style::WARNING,
    }
}

fn finding_json(one: &Diagnostic) -> Value {
    json!({
        "severity": one.severity.as_str(),
        "code": one.code.as_str(),
        "file": one.file,
        "line": one.line,
        "column": one.column,
        "message": one.message,
        "hint": one.hint,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_config::{NamedFile, Selection, check};

    #[test]
    fn finding_shows_its_line_and_its_hint() {
        let plan = "title = 'x'\n[[wave]]\nname = 'one'\n  [[wave.feature]]\n  id = 'a'\n  \
            promt = 'do it'\n";
        let bundle = Bundle {
            plan: NamedFile { path: "plan.toml".into(), bytes: plan.into() },
            config: ConfigFiles::default(),
            specs: Vec::new(),
        };
        let findings = Findings::in_bundle(check(&bundle, &Selection::default()), &bundle);
        assert!(findings.has_errors());
        let text = findings.blocks().join("\n");
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
