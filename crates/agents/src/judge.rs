//! What an agent told, from all that it wrote: a fold over its output. The same bytes in any
//! pieces give the same answer, so it can be computed again after every restart.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::manifest::{StreamForm, UsageScope};
use tidegate_core::told::{Class, Outcome, Told, Usage};

use crate::event::{Event, Trouble, bounded};
use crate::lines::Splitter;
use crate::reset;
use crate::rules::Rules;

/// Most of what an agent says about its end that is recorded, in bytes.
const DETAIL_BYTES: usize = 400;

/// Reads an agent's output as it comes and keeps what its end depends on.
#[derive(Debug)]
pub struct Judge<'m> {
    rules: &'m Rules<'m>,
    out: Splitter,
    err: Splitter,
    seen: Seen,
}

#[derive(Debug, Default)]
struct Seen {
    session: Option<String>,
    ended: Option<(Outcome, Option<Trouble>)>,
    /// The newest error that was told and not waited for since.
    error: Option<Trouble>,
    of_process: Usage,
    of_steps: Usage,
    cumulative: bool,
    gone: bool,
    /// The newest line on standard error that says something.
    last_words: Option<String>,
}

impl<'m> Judge<'m> {
    /// Nothing is read yet.
    pub fn new(rules: &'m Rules<'m>) -> Self {
        Self { rules, out: Splitter::default(), err: Splitter::default(), seen: Seen::default() }
    }

    /// Takes bytes of standard output; what they mean goes to `take`, too.
    pub fn stdout(&mut self, bytes: &[u8], mut take: impl FnMut(&Event)) {
        let (rules, seen) = (self.rules, &mut self.seen);
        match rules.manifest().stream {
            StreamForm::Text => {}
            StreamForm::Jsonl => self.out.feed(bytes, |line| {
                rules.read(line, &mut |event| {
                    take(&event);
                    seen.event(event);
                });
            }),
        }
    }

    /// Takes bytes of standard error.
    pub fn stderr(&mut self, bytes: &[u8]) {
        let (rules, seen) = (self.rules, &mut self.seen);
        self.err.feed(bytes, |line| seen.error_line(rules, line.bytes));
    }

    /// What it told, by its end. `resumed`: whether it was to take up a conversation.
    pub fn end(mut self, exit: &Exit, resumed: bool, mut take: impl FnMut(&Event)) -> Told {
        let (rules, seen) = (self.rules, &mut self.seen);
        if rules.manifest().stream == StreamForm::Jsonl {
            self.out.finish(|line| {
                rules.read(line, &mut |event| {
                    take(&event);
                    seen.event(event);
                });
            });
        }
        self.err.finish(|line| seen.error_line(rules, line.bytes));
        self.seen.told(rules, exit, resumed)
    }
}

impl Seen {
    fn event(&mut self, event: Event) {
        match event {
            Event::Session(id) => self.session = Some(id),
            Event::Usage { usage, scope } => match scope {
                UsageScope::Process => self.of_process = usage,
                UsageScope::Turn => {
                    let tokens = Usage { cost_micros: None, ..usage };
                    self.of_steps = self.of_steps.plus(tokens);
                    let cost_micros = usage.cost_micros.or(self.of_process.cost_micros);
                    self.of_process = Usage { cost_micros, ..Usage::default() };
                }
                UsageScope::Step => self.of_steps = self.of_steps.plus(usage),
                UsageScope::Session => {
                    self.of_process = usage;
                    self.cumulative = true;
                }
            },
            Event::Error(trouble) => self.error = Some(trouble),
            Event::TurnEnd { outcome, trouble } => self.ended = Some((outcome, trouble)),
            // Whatever was the matter, it works again.
            Event::Text(_) | Event::ToolStart { .. } | Event::ToolEnd { .. } => self.error = None,
            Event::Waiting { .. } | Event::Raw { .. } => {}
        }
    }

    fn error_line(&mut self, rules: &Rules<'_>, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let line = text.trim();
        self.gone |= rules.says_gone(line);
        if let Some(trouble) = rules.read_error(line) {
            self.ended = Some((Outcome::Failed(trouble.class), Some(trouble)));
        }
        if !line.is_empty() {
            self.last_words = Some(bounded(line, DETAIL_BYTES));
        }
    }

    fn told(self, rules: &Rules<'_>, exit: &Exit, resumed: bool) -> Told {
        let fits = exit.reason == Reason::Exited
            && exit.code.is_some_and(|code| is_success(&rules.manifest().exit, code));
        // What stands there after a kill is about something else.
        let mut words = self.last_words.filter(|_| exit.reason == Reason::Exited && !fits);
        let text = rules.manifest().stream == StreamForm::Text;
        let ended = self.ended.or_else(|| (text && fits).then_some((Outcome::Completed, None)));
        let (outcome, trouble) = match ended {
            Some((Outcome::Completed, _)) if !fits => (Outcome::Unknown, None),
            Some((Outcome::Failed(class), None)) => {
                let trouble = self.error;
                let class = trouble.as_ref().map_or(class, |trouble| trouble.class);
                (Outcome::Failed(class), trouble)
            }
            Some(ended) => ended,
            None if text && exit.reason == Reason::Exited => (Outcome::Failed(Class::Other), None),
            None => (Outcome::Unknown, None),
        };
        let offset_s = rules.offset_s();
        let reset = trouble.as_ref().map(|trouble| trouble.reset);
        let reset = reset.and_then(|reset| reset::resolve(reset, exit.at, offset_s));
        let says_gone = |trouble: &Trouble| rules.says_gone(&trouble.text);
        let gone = self.gone || trouble.as_ref().is_some_and(says_gone);
        let said = trouble.map(|trouble| trouble.text).filter(|text| !text.is_empty());
        let detail = said.or_else(|| words.take()).map(|text| bounded(&text, DETAIL_BYTES));
        Told {
            session: self.session,
            outcome,
            detail: detail.filter(|_| outcome != Outcome::Completed),
            reset,
            usage: self.of_process.plus(self.of_steps),
            cumulative: self.cumulative,
            gone: resumed && gone && outcome != Outcome::Completed,
        }
    }
}

fn is_success(codes: &[i32], code: i32) -> bool {
    if codes.is_empty() { code == 0 } else { codes.contains(&code) }
}
