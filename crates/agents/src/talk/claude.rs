//! Claude Code's protocol: lines of JSON, messages of the user by an id of ours that tells how far each
//! has come, and control requests in both directions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidegate_core::manifest::Permissions;
use tidegate_core::run::{Conversed, Reply, ToSay};

use super::{Next, Opening, wants};

/// The first request.
const HELLO: &str = "tidegate-hello";
/// Beginning of the requests to break a turn off; the number of the message follows.
const INTERRUPT: &str = "tidegate-interrupt-";

/// What was said in both directions.
#[derive(Debug, Default)]
pub(super) struct Claude {
    pub(super) facts: Vec<Conversed>,
    greeted: bool,
    /// Numbers of the messages that were written; 0 is the task.
    said: BTreeSet<u32>,
    /// Those of them of which it told anything, and whether it is through with one.
    known: BTreeMap<u32, bool>,
    interrupted: BTreeSet<u32>,
    /// Its open requests, with what they are about.
    open: BTreeMap<String, Value>,
    replied: BTreeSet<String>,
    /// Turns that have ended.
    turns: u64,
    /// Whether something came after the end of the last turn.
    at_work: bool,
}

impl Claude {
    /// A line of ours. One that is too long to be read is the task.
    pub(super) fn own(&mut self, line: &Value, oversized: bool) {
        if oversized {
            self.said.insert(0);
            return;
        }
        match line["type"].as_str() {
            Some("user") => {
                let number = line["uuid"].as_str().and_then(number_of);
                let news = number.filter(|number| self.said.insert(*number) && *number > 0);
                self.facts.extend(news.map(Conversed::Written));
                self.at_work = true;
            }
            Some("control_request") => {
                let id = line["request_id"].as_str().unwrap_or_default();
                self.greeted |= id == HELLO;
                let number = id.strip_prefix(INTERRUPT);
                self.interrupted.extend(number.and_then(|number| number.parse::<u32>().ok()));
            }
            Some("control_response") => {
                let id = line["response"]["request_id"].as_str().unwrap_or_default();
                self.open.remove(id);
                self.replied.insert(id.to_owned());
            }
            Some(_) | None => {}
        }
    }

    /// A line of the agent's.
    pub(super) fn heard(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("control_request") => {
                let id = line["request_id"].as_str().unwrap_or_default().to_owned();
                if self.replied.contains(&id) {
                    return;
                }
                let request = &line["request"];
                if request["subtype"] == "can_use_tool" {
                    let tool = request["tool_name"].as_str().unwrap_or("a tool");
                    let text = wants(tool, &request["input"]);
                    self.facts.push(Conversed::Asked { request: id.clone(), text });
                }
                self.open.insert(id, request.clone());
            }
            Some("control_cancel_request") => {
                let id = line["request_id"].as_str().unwrap_or_default();
                if self.open.remove(id).is_some() {
                    self.facts.push(Conversed::Withdrawn { request: id.to_owned() });
                }
            }
            Some("command_lifecycle") => {
                let number = line["command_uuid"].as_str().and_then(number_of);
                if let (Some(number), Some(state)) = (number, line["state"].as_str()) {
                    self.came(number, state);
                }
            }
            Some("result") => {
                self.turns += 1;
                self.at_work = false;
            }
            Some("assistant") => self.at_work = true,
            Some(_) | None => {}
        }
    }

    fn came(&mut self, number: u32, state: &str) {
        let through = matches!(state, "completed" | "cancelled");
        if self.known.insert(number, through).is_none() && number > 0 {
            self.facts.push(Conversed::Accepted(number));
        }
        if state == "completed" && number > 0 {
            self.facts.push(Conversed::Consumed(number));
        }
    }

    pub(super) fn next(&self, opening: &Opening<'_>, to_say: &ToSay) -> Next {
        if !self.greeted {
            let request = json!({"subtype": "initialize", "hooks": {}});
            return Next::Say(control(HELLO, &request));
        }
        if !self.said.contains(&0) {
            return Next::Say(user(opening, 0, opening.prompt));
        }
        if let Some(reply) = self.reply(opening, to_say) {
            return Next::Say(reply);
        }
        let due = to_say.messages.iter().find(|one| !self.said.contains(&one.message));
        if let Some(saying) = due {
            let number = saying.message;
            if saying.interrupts && !self.is_idle() && !self.interrupted.contains(&number) {
                let request = json!({"subtype": "interrupt"});
                return Next::Say(control(&format!("{INTERRUPT}{number}"), &request));
            }
            return Next::Say(user(opening, number, &saying.text));
        }
        if self.is_idle() { Next::Close } else { Next::Wait }
    }

    /// Whether it has done all that it was told.
    fn is_idle(&self) -> bool {
        // Versions that do not tell how far a message has come are through after a turn.
        let through = |number| self.known.get(number).copied().unwrap_or(self.known.is_empty());
        self.turns > 0 && !self.at_work && self.said.iter().all(through)
    }

    fn reply(&self, opening: &Opening<'_>, to_say: &ToSay) -> Option<Value> {
        self.open.iter().find_map(|(id, request)| {
            if request["subtype"] != "can_use_tool" {
                let error = json!({"subtype": "error", "request_id": id,
                    "error": "this is not supported"});
                return Some(json!({"type": "control_response", "response": error}));
            }
            let given = match opening.permissions {
                Permissions::Given => Some(allow(request)),
                Permissions::Asked => {
                    let answer = to_say.replies.iter().find(|reply| reply.request == *id);
                    answer.map(|answer| judged(answer, request))
                }
            };
            let response = json!({"subtype": "success", "request_id": id, "response": given?});
            Some(json!({"type": "control_response", "response": response}))
        })
    }
}

fn judged(answer: &Reply, request: &Value) -> Value {
    if answer.allowed {
        return allow(request);
    }
    let message = match answer.words.as_str() {
        "deny" => "A person denied it.".to_owned(),
        words => format!("A person denied it: {words}"),
    };
    json!({"behavior": "deny", "message": message})
}

fn allow(request: &Value) -> Value {
    json!({"behavior": "allow", "updatedInput": request["input"]})
}

fn control(id: &str, request: &Value) -> Value {
    json!({"type": "control_request", "request_id": id, "request": request})
}

fn user(opening: &Opening<'_>, number: u32, text: &str) -> Value {
    json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "parent_tool_use_id": null,
        "session_id": "",
        "uuid": uuid(opening.job, number),
    })
}

/// The id of a message: in a conversation that several jobs go on with, none has that of another.
fn uuid(job: u32, number: u32) -> String {
    format!("{job:08x}-0000-4000-8000-{number:012x}")
}

fn number_of(uuid: &str) -> Option<u32> {
    let (_, number) = uuid.split_once("-0000-4000-8000-")?;
    u32::from_str_radix(number, 16).ok()
}
