//! Codex's app server: lines of JSON-RPC. The conversation is opened before anything is said, so its id
//! is known first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tidegate_core::manifest::Permissions;
use tidegate_core::run::{Conversed, ToSay};

use super::{Next, Opening, wants};

/// Numbers of our requests: the greeting, the conversation, the task.
const HELLO: u64 = 1;
const THREAD: u64 = 2;
const TASK: u64 = 3;
/// Beginnings of the numbers of further ones; the number of the message is added.
const MESSAGE: u64 = 1 << 33;
const INTERRUPT: u64 = 1 << 34;
const BEGUN: u64 = 1 << 35;

/// What was said in both directions.
#[derive(Debug, Default)]
pub(super) struct Codex {
    pub(super) facts: Vec<Conversed>,
    /// Our requests and notifications.
    asked: BTreeSet<u64>,
    greeted: bool,
    /// Answers to our requests: whether each was a result.
    answered: BTreeMap<u64, bool>,
    thread: Option<String>,
    /// The turn that is under way.
    turn: Option<String>,
    turns: u64,
    /// Messages that it has taken and not yet worked on to the end of a turn.
    taken: BTreeSet<u32>,
    /// Its open requests by the text of their id: the id, the kind, what it is about.
    open: BTreeMap<String, (Value, String, Value)>,
    replied: BTreeSet<String>,
}

impl Codex {
    /// A line of ours. One that is too long to be read is the task.
    pub(super) fn own(&mut self, line: &Value, oversized: bool) {
        if oversized {
            self.asked.insert(TASK);
            return;
        }
        if line.get("method").is_none() {
            let id = line["id"].to_string();
            self.open.remove(&id);
            self.replied.insert(id);
            return;
        }
        self.greeted |= line["method"] == "initialized";
        let Some(id) = line["id"].as_u64() else { return };
        if self.asked.insert(id)
            && let Some(number) = message_of(id)
        {
            self.facts.push(Conversed::Written(number));
        }
    }

    /// A line of the agent's.
    pub(super) fn heard(&mut self, line: &Value) {
        let (method, id) = (line["method"].as_str(), line.get("id"));
        match (method, id) {
            (Some(method), Some(id)) => self.requested(method, id, &line["params"]),
            (Some(method), None) => self.noted(method, &line["params"]),
            (None, Some(id)) => {
                let Some(id) = id.as_u64() else { return };
                let result = line.get("result");
                self.answered.insert(id, result.is_some());
                let thread = result.and_then(|result| result["thread"]["id"].as_str());
                if let (THREAD, Some(thread)) = (id, thread) {
                    self.thread = Some(thread.to_owned());
                }
                if let (Some(number), true) = (message_of(id), result.is_some()) {
                    self.taken.insert(number);
                    self.facts.push(Conversed::Accepted(number));
                }
            }
            (None, None) => {}
        }
    }

    fn requested(&mut self, method: &str, id: &Value, params: &Value) {
        let name = id.to_string();
        if self.replied.contains(&name) {
            return;
        }
        let about = params.get("command").or_else(|| params.get("reason")).unwrap_or(params);
        if let Some(what) = approval(method) {
            let request = named(&name);
            self.facts.push(Conversed::Asked { request, text: wants(what, about) });
        }
        self.open.insert(name, (id.clone(), method.to_owned(), params.clone()));
    }

    fn noted(&mut self, method: &str, params: &Value) {
        match method {
            "turn/started" => {
                self.turn = params["turn"]["id"].as_str().map(str::to_owned);
            }
            "turn/completed" => {
                self.turn = None;
                self.turns += 1;
                if params["turn"]["status"] == "completed" {
                    let done = std::mem::take(&mut self.taken);
                    self.facts.extend(done.into_iter().map(Conversed::Consumed));
                }
            }
            "serverRequest/resolved" => {
                let name = params["requestId"].to_string();
                if self.open.remove(&name).is_some() {
                    let request = named(&name);
                    self.facts.push(Conversed::Withdrawn { request });
                }
            }
            _ => {}
        }
    }

    pub(super) fn next(&self, opening: &Opening<'_>, to_say: &ToSay) -> Next {
        if let Some(said) = self.opens(opening) {
            return said;
        }
        let Some(thread) = &self.thread else { return Next::Wait };
        if !self.asked.contains(&TASK) {
            return Next::Say(turn(TASK, thread, opening.prompt));
        }
        if let Some(reply) = self.reply(opening, to_say) {
            return Next::Say(reply);
        }
        let number = |base: u64, message: u32| base + u64::from(message);
        let due = to_say.messages.iter().find(|one| {
            // What could not be put into a turn begins one.
            let (steered, begun) = (number(MESSAGE, one.message), number(BEGUN, one.message));
            let refused = self.answered.get(&steered) == Some(&false);
            !self.asked.contains(&steered) || refused && !self.asked.contains(&begun)
        });
        if let Some(saying) = due {
            return self.say(thread, saying.message, &saying.text, saying.interrupts);
        }
        if self.is_idle() { Next::Close } else { Next::Wait }
    }

    /// The greeting, and the conversation: begun, or taken up again.
    fn opens(&self, opening: &Opening<'_>) -> Option<Next> {
        if !self.asked.contains(&HELLO) {
            let client = json!({"name": "tidegate", "title": "Tidegate", "version": "1"});
            let params = json!({"clientInfo": client});
            return Some(Next::Say(request(HELLO, "initialize", &params)));
        }
        if !self.answered.contains_key(&HELLO) {
            return Some(Next::Wait);
        }
        if !self.greeted {
            return Some(Next::Say(json!({"method": "initialized"})));
        }
        if self.asked.contains(&THREAD) {
            // A conversation that cannot be had is told on its way out.
            let refused = self.answered.get(&THREAD) == Some(&false);
            return refused.then_some(Next::Close);
        }
        let (policy, sandbox) = match opening.permissions {
            Permissions::Given => ("never", "danger-full-access"),
            Permissions::Asked => ("untrusted", "workspace-write"),
        };
        let mut params = json!({"cwd": opening.cwd, "approvalPolicy": policy, "sandbox": sandbox});
        let method = match opening.session.filter(|_| opening.resumed) {
            Some(session) => {
                params["threadId"] = json!(session);
                "thread/resume"
            }
            None => "thread/start",
        };
        Some(Next::Say(request(THREAD, method, &params)))
    }

    fn say(&self, thread: &str, message: u32, text: &str, interrupts: bool) -> Next {
        let (steered, interrupt) = (MESSAGE + u64::from(message), INTERRUPT + u64::from(message));
        let begun = BEGUN + u64::from(message);
        match &self.turn {
            Some(turn) if interrupts && !self.asked.contains(&interrupt) => {
                let params = json!({"threadId": thread, "turnId": turn});
                Next::Say(request(interrupt, "turn/interrupt", &params))
            }
            // Until the turn has ended.
            Some(_) if interrupts => Next::Wait,
            Some(turn) if !self.asked.contains(&steered) => {
                let input = json!([{"type": "text", "text": text}]);
                let params = json!({"threadId": thread, "expectedTurnId": turn, "input": input});
                Next::Say(request(steered, "turn/steer", &params))
            }
            Some(_) => Next::Wait,
            None => {
                let id = if self.asked.contains(&steered) { begun } else { steered };
                Next::Say(turn(id, thread, text))
            }
        }
    }

    fn is_idle(&self) -> bool {
        let begun = self.answered.get(&TASK);
        begun == Some(&false)
            || self.turns > 0
                && self.turn.is_none()
                && self.asked.iter().all(|id| self.answered.contains_key(id))
    }

    fn reply(&self, opening: &Opening<'_>, to_say: &ToSay) -> Option<Value> {
        self.open.iter().find_map(|(name, (id, method, _))| {
            if approval(method).is_none() {
                let error = json!({"code": -32601, "message": "this is not supported"});
                return Some(json!({"id": id, "error": error}));
            }
            let allowed = match opening.permissions {
                Permissions::Given => true,
                Permissions::Asked => {
                    let named = named(name);
                    to_say.replies.iter().find(|reply| reply.request == named)?.allowed
                }
            };
            let decision = if allowed { "accept" } else { "decline" };
            Some(json!({"id": id, "result": {"decision": decision}}))
        })
    }
}

/// What a request of its is called: they are numbered anew in each process, and a job has one.
fn named(id: &str) -> String {
    id.trim_matches('"').to_owned()
}

/// What a request to allow something is about; `None` for other requests.
fn approval(method: &str) -> Option<&'static str> {
    match method {
        "item/commandExecution/requestApproval" => Some("a command"),
        "item/fileChange/requestApproval" => Some("a change of files"),
        _ => None,
    }
}

/// The message that a request of ours says.
fn message_of(id: u64) -> Option<u32> {
    let within = |base: u64| id.checked_sub(base).and_then(|number| u32::try_from(number).ok());
    within(MESSAGE).or_else(|| within(BEGUN))
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"id": id, "method": method, "params": params})
}

fn turn(id: u64, thread: &str, text: &str) -> Value {
    let input = json!([{"type": "text", "text": text}]);
    request(id, "turn/start", &json!({"threadId": thread, "input": input}))
}
