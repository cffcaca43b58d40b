//! What each tool does: questions and messages go through the daemon, which knows the job by the
//! process tree; what an agent says of its work goes into its job directory.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tidegate_daemon::ids::JobId;
use tidegate_daemon::said::{SAID_BYTES_MAX, Said, say};
use tidegate_protocol::{AskAnswer, AskRequest, ErrorCode, ReceivedRequest};

use super::message::{Answer, Tools};
use crate::client::{Client, Starting};
use crate::error::CliError;
use crate::home::Home;
use crate::inside::job_above;
use crate::read;

/// The tools of one job.
pub(super) struct Desk {
    home: Home,
    job: JobId,
}

impl Desk {
    /// Those of the job that this process is a part of.
    ///
    /// # Errors
    /// `forbidden_scope` outside of any.
    pub(super) fn of_job(home: &Home) -> Result<Self, CliError> {
        let job = job_above(home).and_then(|job| JobId::parse(&job).ok());
        let job = job.ok_or_else(|| {
            let message = format!("this is no job of {}", home.path().display());
            CliError::new(ErrorCode::ForbiddenScope, message)
                .hint("an agent that Tidegate starts runs it by itself, as its own tools")
        })?;
        Ok(Self { home: home.clone(), job })
    }

    fn report_progress(&self, arguments: &Value) -> Result<String, CliError> {
        let percent = arguments["percent"].as_u64().and_then(|value| u8::try_from(value).ok());
        self.say(&words(arguments, "message")?, percent.filter(|percent| *percent <= 100), false)
    }

    fn mark_done(&self, arguments: &Value) -> Result<String, CliError> {
        self.say(&words(arguments, "summary")?, None, true)?;
        Ok("Noted. End your turn now: what you left is checked, and that decides.".to_owned())
    }

    fn say(&self, text: &str, percent: Option<u8>, done: bool) -> Result<String, CliError> {
        let text = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        let mut text: String = text.collect();
        while text.len() > SAID_BYTES_MAX {
            text.pop();
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let said = Said { text, percent, done, at_ms };
        say(self.home.path(), &self.job, &said)
            .map_err(|source| CliError::io("write in", self.home.path(), &source))?;
        Ok("Noted.".to_owned())
    }

    fn ask_human(&self, arguments: &Value) -> Result<String, CliError> {
        let choices = arguments["choices"].as_array().cloned().unwrap_or_default();
        let choices = choices.iter().filter_map(|choice| choice.as_str().map(str::to_owned));
        let request = AskRequest {
            question: words(arguments, "question")?,
            choices: choices.collect(),
            waits: true,
        };
        let asked: AskAnswer =
            Client::new(&self.home)?.post("/questions", &request, Starting::Never)?;
        Ok(format!(
            "Asked, as {}. Nobody answers within this turn: end it now, without guessing the answer. \
             Your work so far is kept, and this conversation goes on as soon as somebody has answered.",
            asked.question_id
        ))
    }

    fn read_inbox(&self, arguments: &Value) -> Result<String, CliError> {
        let numbers = arguments["done"].as_array().cloned().unwrap_or_default();
        let number = |value: &Value| value.as_u64().and_then(|value| u32::try_from(value).ok());
        let done: Vec<u32> = numbers.iter().filter_map(number).collect();
        if !done.is_empty() {
            self.receive(done, true)?;
        }
        let inbox = read::inbox_of_job(&self.home, &self.job.to_string())?;
        let fetched: Vec<u32> = inbox.messages.iter().map(|message| message.message).collect();
        if !fetched.is_empty() {
            // Without a daemon nobody knows that they were fetched, and nothing is lost.
            let _ = self.receive(fetched, false);
        }
        let messages = inbox.messages.iter().map(
            |message| json!({"message": message.message, "from": message.by, "text": message.text}),
        );
        let questions = inbox.questions.iter().map(|question| {
            let answer = question.answer.as_ref().map(|answer| answer.text.as_str());
            json!({"question": question.question, "state": question.state, "answer": answer})
        });
        let (messages, questions): (Vec<_>, Vec<_>) = (messages.collect(), questions.collect());
        Ok(json!({"messages": messages, "questions": questions}).to_string())
    }

    fn receive(&self, messages: Vec<u32>, acted: bool) -> Result<Value, CliError> {
        let request = ReceivedRequest { messages, acted };
        Client::new(&self.home)?.post("/messages/received", &request, Starting::Never)
    }
}

fn words(arguments: &Value, key: &str) -> Result<String, CliError> {
    let text = arguments[key].as_str().map(str::trim).filter(|text| !text.is_empty());
    text.map(str::to_owned)
        .ok_or_else(|| CliError::usage(format!("`{key}` is a text that is not empty")))
}

impl Tools for Desk {
    fn list(&self) -> Value {
        json!([
            tool(
                "report_progress",
                "Tell the people who watch how far your work is. Say it at milestones, in a sentence.",
                &json!({
                    "message": {"type": "string", "description": "what was just done"},
                    "percent": {"type": "integer", "minimum": 0, "maximum": 100},
                }),
                &["message"],
            ),
            tool(
                "ask_human",
                "Ask a person something that you cannot decide. It answers at once with a ticket: end \
                 your turn then. This conversation is taken up again with the answer.",
                &json!({
                    "question": {"type": "string", "description": "all that is needed to answer it"},
                    "choices": {"type": "array", "items": {"type": "string"},
                        "description": "answers to choose from, if there are such"},
                }),
                &["question"],
            ),
            tool(
                "mark_done",
                "Say that the task is done, and what you did. It is a signal and no proof: your work is \
                 checked afterwards.",
                &json!({"summary": {"type": "string", "description": "what was done"}}),
                &["summary"],
            ),
            tool(
                "read_inbox",
                "Read what people told you, and their answers to what you asked.",
                &json!({
                    "done": {"type": "array", "items": {"type": "integer"},
                        "description": "numbers of messages that you have acted on"},
                }),
                &[],
            ),
        ])
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Option<Answer> {
        let outcome = match name {
            "report_progress" => self.report_progress(arguments),
            "ask_human" => self.ask_human(arguments),
            "mark_done" => self.mark_done(arguments),
            "read_inbox" => self.read_inbox(arguments),
            _ => return None,
        };
        Some(match outcome {
            Ok(text) => Answer { text, failed: false },
            Err(error) => Answer { text: format!("It did not work: {error}"), failed: true },
        })
    }
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    })
}
