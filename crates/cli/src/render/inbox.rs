//! The inbox for people: what waits, and what to type.

use tidegate_protocol::{InboxDoc, InboxItem, MessageDoc, QuestionDoc};

use super::style;
use crate::error::{CliError, printable};
use crate::output::Out;

/// Prints an inbox; one line says so when it is empty.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn inbox(out: &mut Out, inbox: &InboxDoc) -> Result<(), CliError> {
    if inbox.is_empty() {
        return out.line("nothing waits");
    }
    for question in &inbox.questions {
        of_question(out, question, inbox.job_id.is_some())?;
    }
    for item in inbox.approvals.iter().chain(&inbox.blocks) {
        of_item(out, item)?;
    }
    for message in &inbox.messages {
        of_message(out, message)?;
    }
    Ok(())
}

fn of_question(out: &mut Out, question: &QuestionDoc, own: bool) -> Result<(), CliError> {
    let (strong, attention, faint) = (style::STRONG, style::ATTENTION, style::FAINT);
    let who = question.feature.as_deref().unwrap_or(&question.job_id);
    let id = &question.question_id;
    let text = printable(&question.question);
    out.line(format_args!("{strong}{id}{strong:#} {who} asks: {text}"))?;
    for (number, choice) in (1..).zip(&question.choices) {
        out.line(format_args!("  {number}: {}", printable(choice)))?;
    }
    match (&question.answer, &question.closed) {
        (Some(answer), _) => {
            let (by, at, text) = (&answer.by, answer.at.as_str(), printable(&answer.text));
            out.line(format_args!("  {faint}{by} answered at {at}:{faint:#} {text}"))
        }
        (None, Some(why)) => out.line(format_args!("  {faint}{why}{faint:#}")),
        (None, None) if own => out.line("  nobody has answered yet"),
        (None, None) => {
            let how = if question.choices.is_empty() { "TEXT" } else { "--choice NUMBER" };
            out.line(format_args!("  {attention}tidegate answer {id} {how}{attention:#}"))
        }
    }
}

fn of_item(out: &mut Out, item: &InboxItem) -> Result<(), CliError> {
    let (strong, attention) = (style::STRONG, style::ATTENTION);
    let name = match &item.feature {
        Some(feature) => format!("{}/{feature}", item.run_id),
        None => item.run_id.clone(),
    };
    let (reason, message) = (&item.reason, printable(&item.message));
    out.line(format_args!("{strong}{name}{strong:#} {reason}: {message}"))?;
    out.line(format_args!("  {attention}{}{attention:#}", printable(&item.unblocks)))
}

fn of_message(out: &mut Out, message: &MessageDoc) -> Result<(), CliError> {
    let (strong, faint) = (style::STRONG, style::FAINT);
    let name = format!("{}/{}", message.run_id, message.feature);
    let (number, by, text) = (message.message, &message.by, printable(&message.text));
    let way = message.way.as_ref().map(|way| format!(" ({way})")).unwrap_or_default();
    let word = &message.delivery;
    out.line(format_args!(
        "{strong}message {number}{strong:#} of {by} to {name}, {faint}{word}{way}{faint:#}: {text}"
    ))
}
